// What a kernel's body does with each of its parameters, by reading alone: which pointers are read
// and written, how they are indexed, which thread coordinates make the indexes and what bounds
// them. A proposal for a contract, never a proof: what cannot be seen is said to be unknown.
//
// Values own their text. Pure; any thread; bounded.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/source/signature.h"

namespace assay::source {

struct PointerUse {
  bool is_read = false;
  bool is_written = false;
  bool is_accumulated = false;  // by an atomic: what stood there counts, zeros are meant
  bool is_passed_on = false;    // to a function that this room does not know
  // The extents of the first access whose index is bounded: {"m", "k"} of a[row * k + col]; empty
  // if none is. Expressions over scalar parameters and numbers.
  std::vector<std::string> shape{};
  bool has_running_index = false;   // else the shape is of a constant index: x[0]
  std::set<std::string> indexes{};  // as they are spelled: "i", "i + 1"
};

// blockIdx.x * blockDim.x + threadIdx.x, or with a constant for blockDim.x.
struct ThreadIndex {
  char axis = 'x';
  bool uses_block = false;
  bool uses_thread = false;
  char thread_axis = 'x';   // of threadIdx or blockDim in it, where that is another
  bool is_stepped = false;  // a loop: i += blockDim.x
  std::optional<std::string> block_extent{};  // a constant written for blockDim
  std::string bound{};                        // "n" of `if (i < n)`; "" if none was seen
};

struct Usage {
  std::vector<PointerUse> parameters{};  // one per parameter; scalars: is_read
  std::vector<ThreadIndex> indexes{};    // in the body's order
  std::set<std::string> coordinates{};   // "threadIdx.y" …, every one that is named
  bool has_dynamic_shared = false;       // extern __shared__
  std::set<char> lone_blocks{};          // axes whose blockIdx counts no threads: a block a row
  std::map<char, std::string> counted_blocks{};  // of those, the scalar that says how many
  std::set<std::string> loop_sizes{};            // scalars that bound a loop
};

[[nodiscard]] Usage usage(const Unit& unit, const Kernel& kernel);

}  // namespace assay::source
