// What a Python runner says one call of its source made the device do
// (engine/python/capture.cc, assay_runner/capture.py). The process has run the user's code: all of
// it is a claim, read member by member, every size bounded and every range checked; json exceptions
// leave for decode_claim().
//
// Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::node {

// Addresses of the process that told them.
struct CapturedRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  [[nodiscard]] bool holds(std::uint64_t at) const { return at >= address && at - address < bytes; }
};

// A tensor that was returned: where it was, and which part of the arena it is to be.
struct CapturedOutput {
  CapturedRange range{};
  std::uint64_t place = 0;
};

struct CapturedStep {
  std::string what{};  // launch, copy or fill
  // A launch.
  std::size_t program = 0;
  std::string entry{};
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::string parameters{};
  std::vector<std::array<int, 4>> traits{};  // launch attributes: id and three numbers
  // A copy or fill.
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
  unsigned width = 1;
};

struct CapturedCall {
  std::string refused{};  // what cannot be repeated; the rest means nothing then
  CapturedRange arena{};
  std::vector<CapturedRange> regions{};  // of device memory, in order, none over another
  std::vector<CapturedOutput> outputs{};
  std::vector<CapturedStep> steps{};
};

// The call, or what is wrong with the claim.
[[nodiscard]] std::variant<CapturedCall, std::string> captured_call(const nlohmann::json& body,
                                                                    std::string_view parameters,
                                                                    std::uint64_t arena_bytes);

}  // namespace assay::node
