// The readers of a plan's parts. Each notes what is wrong and returns what could be read. Private
// to this room.
#pragma once

#include "plans/optest/plan.h"
#include "plans/optest/reading.h"

namespace assay::optest {

// `value`: the plan's generator with the case's laid onto it.
[[nodiscard]] Generator read_generator(Reading& reading, const Value& value,
                                       const std::string& where, std::size_t inputs,
                                       const std::filesystem::path& folder);

[[nodiscard]] Assertion read_assertion(Reading& reading, const Value& value,
                                       const std::string& where, const Case& owner,
                                       const std::filesystem::path& folder);

// Only what a backend says of itself; its tokens are checked against the cases afterwards.
struct BackendRead {
  Backend backend{};
  Place place{};
  // Every word that may hold tokens, with its place.
  std::vector<std::pair<std::string, Place>> words{};
};
[[nodiscard]] BackendRead read_backend(Reading& reading, const Value& value,
                                       const std::string& where,
                                       const std::filesystem::path& folder);

struct PlanDefaults {
  std::vector<std::string> inputs{};
  std::vector<std::string> outputs{};
  Value input_list{};  // the same, with their places
  Value output_list{};
  Value generator{};
  Value assertion{};
  std::vector<std::string> tags{};
  std::optional<std::int64_t> priority{};
};
struct CaseRead {
  Case one{};
  Place place{};
};
[[nodiscard]] CaseRead read_case(Reading& reading, const Value& value, const std::string& where,
                                 const PlanDefaults& defaults, const std::filesystem::path& folder);

[[nodiscard]] std::optional<contract::DType> read_dtype(Reading& reading, const std::string& text,
                                                        Place place, const std::string& where);

// Whether `file` can be read and defines the function `name`, seen by reading it alone. The
// complaint, or "".
[[nodiscard]] std::string missing_function(const std::filesystem::path& file,
                                           const std::string& name);

}  // namespace assay::optest
