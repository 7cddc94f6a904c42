# How everything is compiled and linked.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the libraries go into a Python extension too
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is part of what a result depends on; ccache has to be told so. It may not be told to pass over
  # the times of headers: one that is edited while a source that includes it is being compiled would leave an object in
  # the cache that fits neither text, and a later build would take it.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# GCC looks for garbage among all that a precompiled header holds, again and again; there is little to be found.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=2000000)
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

function(synthesizer_warnings target)
  # A precompiled header that does not fit is passed over with a warning and costs half a minute a file.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter
                         $<$<CXX_COMPILER_ID:GNU>:-Werror=invalid-pch>)
endfunction()

if(SYNTHESIZER_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(SYNTHESIZER_SANITIZE STREQUAL "fuzz")
  # clang. Line numbers only, and no check of virtual tables, which LibTorch's uninstrumented classes do not pass.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize=vptr
                      -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only)
  add_link_options(-fsanitize=address,undefined)
elseif(SYNTHESIZER_SANITIZE)
  # LibTorch itself is not instrumented: container checks across its border would be false alarms.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
