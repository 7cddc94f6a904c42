# `cmake --install` gives others `find_package(Synthesizer)` and the target synthesizer::attention.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
if(SKBUILD)
  return()  # a Python wheel holds the extension only
endif()

# What people may include; the rest of the headers is ours to change.
set(public_headers
  attention/added_logits.h attention/attention.h attention/declared_module.h attention/multi_head_attention.h attention/layer_weights.h attention/logits.h
  attention/matrix_form.h attention/mixer.h attention/mixture.h attention/options.h attention/packed_rows.h attention/parameter.h
  attention/registry.h attention/baselines.h attention/slots.h attention/spec.h attention/state.h attention/synthesis.h
  attention/kernel/attend.h attention/kernel/convolve.h
  base/error.h
  runtime/core_sharing.h runtime/processor.h runtime/threads.h)
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/synthesizer/${folder} COMPONENT library)
endforeach()

install(TARGETS synthesizer_fmt synthesizer_base synthesizer_runtime synthesizer_attention EXPORT SynthesizerTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Synthesizer)
install(EXPORT SynthesizerTargets NAMESPACE synthesizer:: DESTINATION ${config_folder} COMPONENT library)
file(WRITE ${CMAKE_BINARY_DIR}/SynthesizerConfig.cmake [[
include(CMakeFindDependencyMacro)
find_dependency(Torch)
find_dependency(fmt)
find_dependency(hwy)
include(${CMAKE_CURRENT_LIST_DIR}/TorchOpenMP.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/SynthesizerTargets.cmake)
]])
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SynthesizerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SynthesizerConfig.cmake ${CMAKE_BINARY_DIR}/SynthesizerConfigVersion.cmake
        cmake/TorchOpenMP.cmake DESTINATION ${config_folder} COMPONENT library)
