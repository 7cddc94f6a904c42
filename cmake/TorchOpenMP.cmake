# OpenMP for at::parallel_for, which is a header: without it loops run on one thread. Linked to the runtime that
# LibTorch brings along where it does, since a program must not have two. Needs Torch to be found; also installed.
if(NOT TARGET synthesizer::openmp)
  add_library(synthesizer::openmp INTERFACE IMPORTED)
  list(GET TORCH_INCLUDE_DIRS 0 torch_include)
  file(GLOB torch_openmp ${torch_include}/../lib/libgomp*.so*)
  if(torch_openmp AND CMAKE_CXX_COMPILER_ID MATCHES Clang)  # whose code calls another runtime: loops run on one thread
    list(GET torch_openmp 0 torch_openmp)
    set_target_properties(synthesizer::openmp PROPERTIES INTERFACE_LINK_LIBRARIES ${torch_openmp})
  elseif(torch_openmp)
    list(GET torch_openmp 0 torch_openmp)
    set_target_properties(synthesizer::openmp PROPERTIES
      INTERFACE_COMPILE_OPTIONS -fopenmp INTERFACE_LINK_LIBRARIES ${torch_openmp})
  else()
    find_package(OpenMP REQUIRED)
    set_target_properties(synthesizer::openmp PROPERTIES INTERFACE_LINK_LIBRARIES OpenMP::OpenMP_CXX)
  endif()
endif()
