#include "engine/inspection/launch_findings.h"

#include <algorithm>

#include "engine/inspection/inspection.h"

namespace assay::inspection {

using nlohmann::json;

namespace {

// A fault in the members of a finding.
json fault_finding(const emulator::Fault& fault) {
  json item = {{"kind", emulator::name(fault.kind)},
               {"severity", "error"},
               {"message", fault.message},
               {"instruction", fault.instruction},
               {"where", describe_place(fault.where)},
               {"block", describe_triple(fault.block)},
               {"thread", describe_triple(fault.thread)},
               {"count", 1}};
  if (fault.buffer.empty()) return item;
  item["memory"] = fault.buffer;
  item["offset_bytes"] = fault.buffer_offset_bytes;
  const auto size = static_cast<std::int64_t>(fault.access_bytes);
  if (size != 0 && fault.buffer_offset_bytes % size == 0) {
    item["element"] = fault.buffer_offset_bytes / size;
  }
  return item;
}

// Names come out of a user's program, and may be as long as it likes.
void shorten(json& item) {
  for (auto& [key, value] : item.items()) {
    if (value.is_string()) {
      value = beginning_of(value.get_ref<const std::string&>(), LaunchFindings::kMostTextBytes);
    } else if (value.is_structured()) {
      shorten(value);
    }
  }
}

}  // namespace

std::string beginning_of(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (bytes > 0 && continues(bytes)) --bytes;
  return text.substr(0, bytes);
}

void LaunchFindings::add(const std::string& kernel, const emulator::Outcome& outcome) {
  ++launches_;
  blocks_ += outcome.grid_blocks;
  checked_blocks_ += outcome.checked_blocks;
  for (json& finding : describe_findings(outcome.findings)) take(kernel, std::move(finding));
  for (const std::string& text : outcome.inspection_notes) note(text);
  if (outcome.ending == emulator::Ending::completed) return;
  const bool faulted = outcome.ending == emulator::Ending::faulted;
  if (faulted) take(kernel, fault_finding(outcome.fault));
  const std::string why = faulted || outcome.message.empty() ? "" : ": " + outcome.message;
  note("A launch of " + kernel + " ended early (" + std::string(emulator::name(outcome.ending)) +
       ")" + why + ". Findings are those until then.");
}

void LaunchFindings::take(const std::string& kernel, json finding) {
  shorten(finding);
  if (json& callers = finding["inlined_at"]; callers.size() > kMostCallers) {
    callers.erase(callers.begin() + kMostCallers, callers.end());
  } else if (callers.empty()) {
    finding.erase("inlined_at");
  }
  finding["kernel"] = beginning_of(kernel, kMostTextBytes);
  const json other = finding.value("other", json::object()).value("where", json::object());
  const std::string place =
      json::array({finding.at("kind"), finding.at("kernel"), finding.at("where"), other})
          .dump(-1, ' ', true, json::error_handler_t::replace);
  const auto [known, is_new] = places_.try_emplace(place, findings_.size());
  if (!is_new) {
    json& count = findings_[known->second]["count"];
    count = count.get<std::uint64_t>() + finding.at("count").get<std::uint64_t>();
    return;
  }
  if (findings_.size() == kMostFindings) {
    places_.erase(known);
    ++left_out_;
    return;
  }
  findings_.push_back(std::move(finding));
}

void LaunchFindings::note(std::string text) {
  text = beginning_of(text, kMostTextBytes);
  const bool is_known = std::find(notes_.begin(), notes_.end(), text) != notes_.end();
  if (!is_known && notes_.size() < kMostNotes) notes_.push_back(std::move(text));
}

json LaunchFindings::told() const {
  json notes = notes_;
  if (left_out_ > 0) {
    notes.push_back("More than " + std::to_string(kMostFindings) +
                    " different findings: the rest is left out.");
  }
  // Errors first, as one launch tells them.
  std::vector<json> ordered = findings_;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const json& one) { return one.at("severity") == "error"; });
  return {{"findings", std::move(ordered)},
          {"notes", std::move(notes)},
          {"launches", launches_},
          {"blocks", {{"checked", checked_blocks_}, {"of", blocks_}}}};
}

}  // namespace assay::inspection
