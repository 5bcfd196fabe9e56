// Makes the input files of a run, or finds that they are there already. Beside each file that we
// made lies `<file>.optest.json` with the key of what made it and the digest of what was written:
// so that a file is used again only if everything that decides its bytes is the same, and a file
// that the user supplied or changed is told from ours. One per job, used by its thread.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "plans/optest/custom_functions.h"
#include "plans/optest/paths.h"

namespace assay::optest {

struct MadeInput {
  // hit: ours, and the same; generated; user: there already and not ours, never overwritten under
  // reuse.
  std::string cache{};
  std::string digest{};  // of its bytes as they are given to the command
  std::optional<std::uint64_t> seed{};
};

struct InputWish {
  CachePolicy policy = CachePolicy::reuse;
  std::optional<std::uint64_t> seed{};  // where the plan gives none
};

struct MadeInputs {
  std::vector<MadeInput> inputs{};
  std::string problem{};  // "": all are there, of the right size
  bool is_infrastructure = true;
};

[[nodiscard]] MadeInputs make_inputs(const Case& one, const ShapeEntry& shapes,
                                     const Resolved& resolved, const InputWish& wish,
                                     CustomFunctions& functions,
                                     const plans::ScratchFolder& scratch,
                                     const std::stop_token& stop);

// Whether a file is there that optest did not make.
[[nodiscard]] bool is_users_file(const std::filesystem::path& file);

// Noted beside our files while commands run, so that one that was changed by a run that was killed
// is not taken for the user's. Throws FileFault.
void mark_in_use(const MadeInputs& made, const Resolved& resolved, bool in_use);

// What has become of the inputs since they were made: "input0" for each that is gone or another. A
// changed file of ours is removed, so that the next run makes it anew; the user's is left alone.
[[nodiscard]] std::vector<std::string> changed_inputs(const MadeInputs& made,
                                                      const Resolved& resolved);

// The bytes of one input as the builtin generators make them: elements [first, first + count).
void fill_builtin(const Generator& generator, std::size_t index, std::uint64_t seed,
                  contract::DType dtype, std::uint64_t first, std::span<std::byte> out);

// What decides the bytes of an input; equal texts, equal bytes.
[[nodiscard]] std::string input_key(const Case& one, const ShapeEntry& shapes, std::size_t index);

}  // namespace assay::optest
