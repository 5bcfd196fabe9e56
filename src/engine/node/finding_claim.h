// Findings that a process told which has met the user's program: claims, read member by member, so
// that what stands in a report has the form of a finding and its size whatever was said. They
// change no verdict.
//
// Values; any thread. json exceptions leave for decode_claim() or for whoever asked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::node {

inline constexpr std::size_t kMostFindings = 100;
inline constexpr std::size_t kMostFindingTextBytes = 2000;

// A text of a claim; "(too long)" in the place of one that is.
[[nodiscard]] std::string text_claim(const nlohmann::json& item, const char* key);

// {kind, severity, message, by, count, where, …} of one that `by` is said to have found.
[[nodiscard]] nlohmann::json finding_claim(const nlohmann::json& item, const char* by);

// What a Python source's own process told of the launches it made while they were looked at
// (assay_runner/worker.py, `inspected`).
struct InspectedCall {
  nlohmann::json findings = nlohmann::json::array();
  nlohmann::json notes = nlohmann::json::array();
  std::uint64_t launches = 0;
  std::uint64_t checked_blocks = 0;
  std::uint64_t blocks = 0;
  std::string raised{};  // by the call, but for what a launch had found
};
// Of findings only kinds that the emulator has.
[[nodiscard]] InspectedCall inspected_call_claim(const nlohmann::json& body);

}  // namespace assay::node
