# LibTorch, from the first of: Torch_DIR or CMAKE_PREFIX_PATH; the `torch` of the python on PATH; the .venv of this
# repository (not under pip, which builds for one python and no other). The wheel carries headers, libraries and
# CMake files; a site-packages folder is looked into directly, since pip's isolated builds hide installed packages
# from `import`.
if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
  set(Torch_DIR $ENV{Torch_DIR} CACHE PATH "")
endif()
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  find_package(Python 3.9 COMPONENTS Interpreter QUIET)
  set(candidates "")
  set(pythons ${Python_EXECUTABLE})
  if(NOT SKBUILD)
    list(APPEND pythons ${CMAKE_CURRENT_LIST_DIR}/../.venv/bin/python)
  endif()
  foreach(python ${pythons})
    execute_process(
      COMMAND ${python} -c
              "import sysconfig, site; print(';'.join([sysconfig.get_path('purelib'), *site.getsitepackages()]))"
      OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND candidates ${folders})
  endforeach()
  list(REMOVE_DUPLICATES candidates)
  foreach(folder ${candidates})
    if(EXISTS ${folder}/torch/share/cmake/Torch/TorchConfig.cmake)
      find_package(Torch QUIET PATHS ${folder}/torch/share/cmake NO_DEFAULT_PATH)
      break()
    endif()
  endforeach()
endif()
if(NOT Torch_FOUND)
  message(FATAL_ERROR "LibTorch was not found. Run './run setup', or install it (pip install torch==2.13.0), or set "
                      "Torch_DIR to the folder of its TorchConfig.cmake.")
endif()
list(GET TORCH_INCLUDE_DIRS 0 TORCH_ROOT)
get_filename_component(TORCH_ROOT ${TORCH_ROOT} DIRECTORY)
message(STATUS "LibTorch ${Torch_VERSION} in ${TORCH_ROOT}")
