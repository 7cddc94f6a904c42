# SentencePiece, as synthesizer::sentencepiece. A program that has it and LibTorch must load it first: both export a
# variable FLAGS_minloglevel, 32 bytes in one and 4 in the other, and the first of them is the one that all use. With
# LibTorch's, SentencePiece writes over what lies behind it (tests/task/library_conflict_test.cpp). So it is named by link
# options, which stand before all libraries. Nothing else that matters has the same name in both.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SENTENCEPIECE REQUIRED sentencepiece)
add_library(synthesizer_sentencepiece INTERFACE)
target_include_directories(synthesizer_sentencepiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE_DIRS})
target_link_options(synthesizer_sentencepiece INTERFACE
  "LINKER:--push-state,--no-as-needed,-lsentencepiece,-lsentencepiece_train,--pop-state")
add_library(synthesizer::sentencepiece ALIAS synthesizer_sentencepiece)
