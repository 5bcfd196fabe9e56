// What memory holds that nobody has written: shared memory when a block begins, a thread's stack.
// On a device that is whatever ran before. Here it is chosen so that a kernel which forgets to
// initialise cannot come out right: zero never, but a NaN of every floating format, a huge number,
// a hugely negative one and a plain one in turn, so that no maximum, minimum, sum or flag survives
// them all. As integers they are far outside of any array.
//
// Pure: of the launch's number on its device and of the block, so that a run can be repeated. Two
// launches after each other never find the same. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::emulator {

[[nodiscard]] std::uint32_t garbage_word(std::uint64_t launch, std::uint64_t block);

void fill_with_garbage(std::byte* memory, std::size_t bytes, std::uint32_t word);

}  // namespace assay::emulator
