# include()d by the tests: the codec's fuzzer, with clang only.
#   codec_fuzz tests/fuzz/codec_corpus -max_total_time=60
if(ASSAY_FUZZERS)
  add_executable(codec_fuzz ${CMAKE_CURRENT_LIST_DIR}/codec_fuzz.cc
                 ${CMAKE_SOURCE_DIR}/src/mcp/codec.cc ${CMAKE_SOURCE_DIR}/src/mcp/message.cc)
  target_compile_options(codec_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_options(codec_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(codec_fuzz PRIVATE assay_options assay_json assay_simdjson)
endif()
