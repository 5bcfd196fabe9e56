// The claim's fuzzer (lift_fuzz.cc), for the tests that replay it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
