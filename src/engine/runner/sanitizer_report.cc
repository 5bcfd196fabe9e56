#include "engine/runner/sanitizer_report.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

namespace assay::runner {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxRecords = 2000;
constexpr std::size_t kMaxTextBytes = 2000;

// The texts of a record by their path: "who/threadIdx/x".
using Record = std::map<std::string, std::string>;

// Collects records from the parser's events.
struct Reader {
  XML_Parser parser = nullptr;
  std::vector<std::string> path{};
  std::vector<Record> records{};
  bool in_record = false;

  static Reader& of(void* self) { return *static_cast<Reader*>(self); }

  [[nodiscard]] std::string key() const {
    std::string joined;
    // Below the document and the record.
    for (std::size_t i = 2; i < path.size(); ++i) joined += (i > 2 ? "/" : "") + path[i];
    return joined;
  }

  static void open(void* self, const XML_Char* name, const XML_Char** /*attributes*/) {
    Reader& reader = of(self);
    reader.path.emplace_back(name);
    const bool begins = reader.path.size() == 2 && reader.path.back() == "record";
    if (reader.path.size() > kMaxDepth || (begins && reader.records.size() == kMaxRecords)) {
      XML_StopParser(reader.parser, XML_FALSE);
      return;
    }
    if (begins) reader.records.emplace_back();
    reader.in_record = reader.in_record || begins;
  }
  static void close(void* self, const XML_Char* /*name*/) {
    Reader& reader = of(self);
    reader.path.pop_back();
    if (reader.path.size() < 2) reader.in_record = false;
  }
  static void text(void* self, const XML_Char* bytes, int count) {
    Reader& reader = of(self);
    if (!reader.in_record || reader.path.size() < 3) return;
    std::string& value = reader.records.back()[reader.key()];
    // Whole or not at all: half a character would be no text any more.
    const auto length = static_cast<std::size_t>(count);
    if (value.size() + length <= kMaxTextBytes) value.append(bytes, length);
  }
};

std::vector<Record> records_of(std::string_view report) {
  if (report.size() > kMaxReportBytes) throw std::runtime_error("the report is too long");
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  Reader reader{.parser = parser.get()};
  XML_SetUserData(parser.get(), &reader);
  XML_SetElementHandler(parser.get(), Reader::open, Reader::close);
  XML_SetCharacterDataHandler(parser.get(), Reader::text);
  const auto parsed = XML_Parse(parser.get(), report.data(), static_cast<int>(report.size()), 1);
  // One that was broken off is worth what it has.
  if (parsed == XML_STATUS_ERROR && reader.records.empty()) {
    throw std::runtime_error(std::string("the report is none: ") +
                             XML_ErrorString(XML_GetErrorCode(parser.get())));
  }
  return std::move(reader.records);
}

std::string text_at(const Record& record, const std::string& key) {
  const auto found = record.find(key);
  return found == record.end() ? std::string() : found->second;
}

std::uint64_t number_at(const Record& record, const std::string& key) {
  std::string text = text_at(record, key);
  int base = 10;
  if (text.starts_with("0x")) {
    text.erase(0, 2);
    base = 16;
  }
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

json place_at(const Record& record, const std::string& key) {
  const std::string path = text_at(record, key + "/path");
  return {{"file", path.substr(path.rfind('/') + 1)},
          {"line", std::min<std::uint64_t>(number_at(record, key + "/line"), 1U << 30)},
          {"column", 0}};
}

json triple_at(const Record& record, const std::string& key) {
  json triple = json::array();
  for (const char* axis : {"/x", "/y", "/z"}) {
    const auto limit = std::numeric_limits<std::uint32_t>::max();
    triple.push_back(std::min<std::uint64_t>(number_at(record, key + axis), limit));
  }
  return triple;
}

// Nothing: of the driver's calls, which end as the launch does.
std::optional<std::string> kind_of(const Record& record) {
  if (text_at(record, "kind") == "Api") return std::nullopt;
  const std::string text = text_at(record, "what/text");
  const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
  const bool shared = has("__shared__");
  if (has("Race") || has("hazard")) return "shared_race";
  if (has("Uninitialized")) return shared ? "uninitialised_shared" : "uninitialised_global";
  if (has("ivergent thread")) return "divergent_barrier";
  if (has("arrier")) return "mismatched_barrier";
  if (has("isaligned")) return "misaligned";
  if (has("Invalid")) return "out_of_bounds";
  return "reported";
}

// The tensor that an address lies in, or next to.
void name_memory(json& finding, const Record& record, const std::vector<SanitizedTensor>& tensors) {
  const std::uint64_t address = number_at(record, "what/address");
  if (address == 0 || text_at(record, "what/space").find("global") == std::string::npos) return;
  const auto distance = [&](const SanitizedTensor& tensor) {
    if (address < tensor.address) return tensor.address - address;
    const std::uint64_t end = tensor.address + tensor.bytes;
    return address < end ? 0 : address - end + 1;
  };
  const auto nearest = std::min_element(
      tensors.begin(), tensors.end(),
      [&](const auto& one, const auto& other) { return distance(one) < distance(other); });
  if (nearest == tensors.end()) return;
  const auto offset = static_cast<std::int64_t>(address - nearest->address);
  finding["memory"] = nearest->name;
  finding["offset_bytes"] = offset;
  const auto size =
      static_cast<std::int64_t>(std::min<std::uint64_t>(number_at(record, "what/size"), 1U << 10));
  if (size > 0 && offset % size == 0) finding["element"] = offset / size;
}

// As the program calls it: of several launches it says in which one.
void name_kernel(json& finding, const std::string& kernel) {
  if (!kernel.empty()) finding["kernel"] = kernel;
}

json finding_of(const Record& record, const std::string& kind,
                const std::vector<SanitizedTensor>& tensors) {
  json finding = {{"kind", kind},
                  {"severity", text_at(record, "level") == "Error" ? "error" : "warning"},
                  {"message", text_at(record, "what/text")},
                  {"by", "compute-sanitizer"},
                  {"count", 1},
                  {"block", triple_at(record, "who/blockIdx")},
                  {"thread", triple_at(record, "who/threadIdx")}};
  if (kind == "shared_race") {
    // A race is told of two accesses, not of who made them.
    finding["where"] = place_at(record, "what/destination/where");
    finding["other"] = {{"where", place_at(record, "what/source/where")}};
    finding["count"] = std::max<std::uint64_t>(number_at(record, "what/destination/count"), 1);
    finding["message"] = "Race between a " + text_at(record, "what/source/direction") + " and a " +
                         text_at(record, "what/destination/direction");
    finding.erase("block");
    finding.erase("thread");
    name_kernel(finding, text_at(record, "what/destination/where/func"));
    return finding;
  }
  finding["where"] = place_at(record, "where");
  name_kernel(finding, text_at(record, "where/func"));
  name_memory(finding, record, tensors);
  return finding;
}

}  // namespace

json findings_of(std::string_view report, const std::vector<SanitizedTensor>& tensors) {
  json findings = json::array();
  for (const Record& record : records_of(report)) {
    const auto kind = kind_of(record);
    if (!kind) continue;
    json finding = finding_of(record, *kind, tensors);
    const auto same = std::find_if(findings.begin(), findings.end(), [&](const json& other) {
      return other.at("kind") == finding.at("kind") && other.at("where") == finding.at("where") &&
             other.value("kernel", json()) == finding.value("kernel", json());
    });
    if (same != findings.end()) {
      (*same)["count"] = same->at("count").get<std::uint64_t>() + 1;
    } else if (findings.size() < kMaxFindings) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace assay::runner
