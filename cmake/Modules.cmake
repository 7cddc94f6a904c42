# How a module of src/ (and a test program) is compiled.
#
# Four things keep the first build short:
# - LibTorch's headers take ten seconds to parse. Everything that uses tensors shares one precompiled header, and
#   everything else a small one.
# - What a precompiled header instantiates is instantiated again in every source, so it must be small too: one header
#   of LibTorch that brings all of TorchScript with it is replaced (light/).
# - fmt is compiled once, not in every source that formats a text.
# - Sources are compiled several at a time ("unity build"), which parses what they include once and instantiates what
#   they use once; a batch is small enough that an edit of one source is compiled in seconds. Sources of one module
#   therefore share one namespace: names in anonymous namespaces must differ within a module.
#
# A precompiled header is used only where macros and code generation agree with those it was made with, so all users
# have the same definitions, -fPIC and OpenMP; the optimisation level may differ, but not be -O0 for some.
#
# CMake's own variables turn both off: -DCMAKE_UNITY_BUILD=OFF, -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON)
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()

# The fmt of LibTorch's headers. What uses no tensors has Debian's, headers and library.
add_library(synthesizer_fmt STATIC ${PROJECT_SOURCE_DIR}/src/base/fmt_library.cpp)
set_target_properties(synthesizer_fmt PROPERTIES EXPORT_NAME fmt)
target_include_directories(synthesizer_fmt SYSTEM PRIVATE ${TORCH_INCLUDE_DIRS})

# Whoever installs the library has no use for the JSON headers: nothing public includes them.
set(json_headers $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
set(synthesizer_tensor_libraries torch synthesizer::openmp synthesizer_fmt ${json_headers})
set(synthesizer_plain_libraries fmt::fmt ${json_headers})

# synthesizer_header(NAME HEADERS…): a precompiled header that targets with ${synthesizer_NAME_libraries} share.
function(synthesizer_header name)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}_header.cpp "// compiled for its precompiled header\n")
  add_library(synthesizer_${name}_header OBJECT ${CMAKE_BINARY_DIR}/${name}_header.cpp)
  target_link_libraries(synthesizer_${name}_header PRIVATE ${synthesizer_${name}_libraries})
  target_include_directories(synthesizer_${name}_header BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/cmake/light)
  target_precompile_headers(synthesizer_${name}_header PRIVATE ${ARGN}
    <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>
    <algorithm> <filesystem> <functional> <map> <memory> <numeric> <optional> <string> <vector>)
endfunction()
synthesizer_header(tensor <ATen/ATen.h> <ATen/Parallel.h> <torch/nn/module.h>)
synthesizer_header(plain)

# synthesizer_compile(TARGET [TENSORS] [OPTIMIZE LEVEL]): what the comment above says. TENSORS: it uses LibTorch.
# LEVEL: of a release build; 1 for code that only directs other code.
function(synthesizer_compile target)
  cmake_parse_arguments(arg "TENSORS" "OPTIMIZE" "" ${ARGN})
  synthesizer_warnings(${target})
  if(DEFINED arg_OPTIMIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${arg_OPTIMIZE}>)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  set(kind plain)
  if(arg_TENSORS)
    set(kind tensor)
  endif()
  target_link_libraries(${target} PRIVATE ${synthesizer_${kind}_libraries})
  target_include_directories(${target} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/cmake/light)
  target_precompile_headers(${target} REUSE_FROM synthesizer_${kind}_header)
endfunction()

# synthesizer_module(NAME SOURCES… [LINK TARGETS…] [PRIVATE_LINK TARGETS…] [TENSORS] [OPTIMIZE LEVEL]): the library
# synthesizer::NAME of the folder it is called in.
function(synthesizer_module name)
  cmake_parse_arguments(arg "TENSORS" "OPTIMIZE" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  set(target synthesizer_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(synthesizer::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include/synthesizer>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  set(options)
  if(arg_TENSORS)
    list(APPEND options TENSORS)
  endif()
  if(DEFINED arg_OPTIMIZE)
    list(APPEND options OPTIMIZE ${arg_OPTIMIZE})
  endif()
  synthesizer_compile(${target} ${options})
endfunction()
