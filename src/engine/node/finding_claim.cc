#include "engine/node/finding_claim.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kMostNotes = 20;
constexpr std::size_t kMostCallers = 16;
constexpr std::size_t kMostRaisedBytes = 400;

// emulator::name() of findings and of faults.
constexpr std::array<std::string_view, 27> kEmulatedKinds{"out_of_bounds",
                                                          "shared_race",
                                                          "global_race",
                                                          "warp_race",
                                                          "uninitialised_shared",
                                                          "uninitialised_global",
                                                          "uninitialised_local",
                                                          "divergent_barrier",
                                                          "mismatched_barrier",
                                                          "barrier_after_exit",
                                                          "inactive_shuffle",
                                                          "partial_mask",
                                                          "heap_misuse",
                                                          "division_by_zero",
                                                          "not_a_number",
                                                          "infinity",
                                                          "index_wrapped",
                                                          "misaligned",
                                                          "barrier_divergence",
                                                          "deadlock",
                                                          "invalid_barrier",
                                                          "trap",
                                                          "assertion",
                                                          "stack_overflow",
                                                          "invalid_call",
                                                          "invalid_shuffle",
                                                          "invalid_texture"};

// A number without a fraction; another is converted by nobody.
std::uint64_t count_claim(const json& value) {
  return value.get_ref<const json::number_unsigned_t&>();
}

std::uint32_t small_claim(const json& value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count_claim(value), std::numeric_limits<std::int32_t>::max()));
}

std::int64_t offset_claim(const json& value) {
  return value.get_ref<const json::number_integer_t&>();
}

json place_claim(const json& where) {
  return {{"file", text_claim(where, "file")},
          {"line", small_claim(where.at("line"))},
          {"column", small_claim(where.at("column"))}};
}

json triple_claim(const json& triple) {
  return json::array(
      {small_claim(triple.at(0)), small_claim(triple.at(1)), small_claim(triple.at(2))});
}

// A thread and its place, as far as they are told.
void take_side(const json& item, json& side) {
  side["where"] = place_claim(item.at("where"));
  for (const char* key : {"block", "thread"}) {
    if (item.contains(key)) side[key] = triple_claim(item.at(key));
  }
}

}  // namespace

std::string text_claim(const json& item, const char* key) {
  auto text = item.at(key).get<std::string>();
  return text.size() <= kMostFindingTextBytes ? text : "(too long)";
}

json finding_claim(const json& item, const char* by) {
  json finding = {{"kind", text_claim(item, "kind")},
                  {"severity", item.at("severity") == "error" ? "error" : "warning"},
                  {"message", text_claim(item, "message")},
                  {"by", by},
                  {"count", count_claim(item.at("count"))}};
  take_side(item, finding);
  if (item.contains("memory")) {
    finding["memory"] = text_claim(item, "memory");
    finding["offset_bytes"] = offset_claim(item.at("offset_bytes"));
  }
  for (const char* key : {"kernel", "instruction"}) {
    if (item.contains(key)) finding[key] = text_claim(item, key);
  }
  if (item.contains("element")) finding["element"] = offset_claim(item.at("element"));
  if (item.contains("other")) take_side(item.at("other"), finding["other"]);
  if (!item.contains("inlined_at")) return finding;
  for (const auto& caller : item.at("inlined_at")) {
    if (finding["inlined_at"].size() < kMostCallers) {
      finding["inlined_at"].push_back(place_claim(caller));
    }
  }
  return finding;
}

InspectedCall inspected_call_claim(const json& body) {
  InspectedCall call{.launches = count_claim(body.at("launches")),
                     .checked_blocks = count_claim(body.at("blocks").at("checked")),
                     .blocks = count_claim(body.at("blocks").at("of")),
                     .raised = text_claim(body, "raised")};
  if (call.raised.size() > kMostRaisedBytes) call.raised = "(too long)";
  for (const auto& item : body.at("findings")) {
    if (call.findings.size() == kMostFindings) break;
    json finding = finding_claim(item, "emulator");
    const auto& kind = finding.at("kind").get_ref<const std::string&>();
    if (std::find(kEmulatedKinds.begin(), kEmulatedKinds.end(), kind) == kEmulatedKinds.end()) {
      finding["kind"] = "unknown";
    }
    call.findings.push_back(std::move(finding));
  }
  for (const auto& note : body.at("notes")) {
    if (call.notes.size() == kMostNotes) break;
    const auto& text = note.get_ref<const std::string&>();
    call.notes.push_back(text.size() <= kMostFindingTextBytes ? text : "(too long)");
  }
  return call;
}

}  // namespace assay::node
