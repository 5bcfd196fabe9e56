#include "tools/answer_cap.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "mcp/codec.h"
#include "mcp/place.h"
#include "mcp/utf8.h"

namespace assay::tools {
namespace {

using mcp::OrderedJson;

constexpr std::size_t kBytesPerToken = 3;
constexpr std::size_t kToldCuts = 8;
constexpr std::size_t kLinksShare = 8;       // of the cap
constexpr std::size_t kShortTextBytes = 60;  // a text is not cut below this
constexpr std::array kKept = {"job_id", "status", "state", "verdict", "trust", "truncated"};
// A contract or a source that is cut is another one.
constexpr std::array kWhole = {"io_contract", "io", "contract", "text", "reproduce", "metadata"};

// What a job was asked for, and what may be left out whole before that is cut: it stands in the
// full report.
constexpr std::array kFindings = {"validation", "timing", "speedup", "error"};
constexpr std::array kBeside = {"environment", "stages", "artifacts"};
// What a measurement is asked for: goes last of what stands beside it.
constexpr const char* kTimes = "/timing";
constexpr std::array kVital = {"cold", "per_call", "median_ns", "ratio", "low", "high", "verdict"};

template <std::size_t N>
bool is_one_of(const std::array<const char*, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::size_t bytes_of(const OrderedJson& value) { return mcp::encode(value).size(); }

struct Cut {
  std::size_t kept = 0;
  std::size_t of = 0;
};

// One structured answer being made smaller, a bit at a time.
class Cutting {
 public:
  explicit Cutting(OrderedJson& root) : root_(root) {}

  // False: nothing is left that may be cut.
  bool cut_heaviest() {
    OrderedJson::iterator top = heaviest_member();
    if (top == root_.end()) return false;
    if (is_one_of(kFindings, top.key())) {
      for (const char* name : kBeside) {
        if (!root_.contains(name)) continue;
        leave_out(root_, name, std::string("/") + name);
        return true;
      }
    }
    const std::string& name = top.key();
    const std::string pointer = "/" + mcp::pointer_segment(name);
    const bool is_in_parts = top->is_structured() || top->is_string();
    if (is_one_of(kWhole, name) || !is_in_parts || !shrink(*top, pointer)) {
      leave_out(root_, std::string(name), pointer);
    }
    return true;
  }

  [[nodiscard]] OrderedJson told() const {
    OrderedJson list = OrderedJson::array();
    for (const auto& [pointer, cut] : cuts_) {
      if (list.size() == kToldCuts) break;
      list.push_back({{"pointer", pointer}, {"kept", cut.kept}, {"of", cut.of}});
    }
    return list;
  }

 private:
  OrderedJson::iterator heaviest_member() {
    auto heaviest = root_.end();
    std::size_t most = 0;
    for (auto member = root_.begin(); member != root_.end(); ++member) {
      const std::size_t bytes = is_one_of(kKept, member.key()) ? 0 : bytes_of(*member);
      if (bytes > most) {
        most = bytes;
        heaviest = member;
      }
    }
    return heaviest;
  }

  static std::size_t size_of(const OrderedJson& value) {
    return value.is_array() ? value.size() : bytes_of(value);
  }

  // False: there is nothing in it that can be cut and still mean something.
  bool shrink(OrderedJson& value, const std::string& pointer) {
    if (value.is_string()) return shrink_text(value, pointer);
    if (!value.is_structured() || value.empty()) return false;
    if (value.is_object()) return shrink_object(value, pointer);
    const auto heaviest = std::max_element(
        value.begin(), value.end(),
        [](const auto& one, const auto& other) { return bytes_of(one) < bytes_of(other); });
    if (value.size() > 1 && bytes_of(*heaviest) * 2 < bytes_of(value)) return halve(value, pointer);
    const std::string step = std::to_string(std::distance(value.begin(), heaviest));
    if (shrink(*heaviest, pointer + "/" + step)) return true;
    return value.size() > 1 && halve(value, pointer);
  }

  // Its heaviest member made smaller; of times, which are all numbers, left out if that cannot be:
  // the vital ones come last, and are what stays.
  bool shrink_object(OrderedJson& value, const std::string& pointer) {
    for (const bool vital : {false, true}) {
      auto heaviest = value.end();
      std::size_t most = 0;
      for (auto member = value.begin(); member != value.end(); ++member) {
        const std::size_t bytes = bytes_of(*member);
        if (is_one_of(kVital, member.key()) != vital || bytes <= most) continue;
        most = bytes;
        heaviest = member;
      }
      if (heaviest == value.end()) continue;
      const std::string name = heaviest.key();
      const std::string step = pointer + "/" + mcp::pointer_segment(name);
      const bool is_whole = is_one_of(kWhole, name);
      if (!is_whole && shrink(*heaviest, step)) return true;
      if (!is_whole && (vital || !pointer.starts_with(kTimes))) continue;
      leave_out(value, name, step);
      return true;
    }
    return false;
  }

  void leave_out(OrderedJson& value, const std::string& name, const std::string& pointer) {
    drop_told_below(pointer);
    note(pointer, 0, size_of(value.at(name)));
    value.erase(name);
  }

  bool halve(OrderedJson& list, const std::string& pointer) {
    const std::size_t before = list.size();
    const std::size_t kept = before / 2;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
    for (std::size_t i = kept; i < before; ++i) drop_told_below(pointer + "/" + std::to_string(i));
    note(pointer, kept, before);
    return true;
  }

  bool shrink_text(OrderedJson& value, const std::string& pointer) {
    auto& text = value.get_ref<std::string&>();
    if (text.size() <= kShortTextBytes) return false;
    const std::size_t before = text.size();
    text = mcp::shortened(text, std::max(kShortTextBytes, before / 2));
    note(pointer, text.size(), before);
    return text.size() < before;
  }

  void note(const std::string& pointer, std::size_t kept, std::size_t of) {
    cuts_.try_emplace(pointer, Cut{.of = of}).first->second.kept = kept;
  }

  void drop_told_below(const std::string& pointer) {
    std::erase_if(cuts_, [&](const auto& one) { return one.first.starts_with(pointer + "/"); });
  }

  OrderedJson& root_;
  std::map<std::string, Cut> cuts_{};
};

std::size_t links_bytes(const mcp::ToolResult& result) {
  constexpr std::size_t kNamesOfMembers = 70;
  std::size_t bytes = 0;
  for (const auto& link : result.links)
    bytes += link.uri.size() + link.name.size() + link.title.size() + link.description.size() +
             link.mime_type.size() + kNamesOfMembers;
  return bytes;
}

}  // namespace

void cap(mcp::ToolResult& result, std::size_t max_tokens) {
  if (result.task || !result.structured.is_object()) return;
  const std::size_t limit = max_tokens * kBytesPerToken;
  const auto too_long = [&] {
    return result.text.size() + bytes_of(result.structured) + links_bytes(result) > limit;
  };
  if (!too_long()) return;
  // What is told twice gives way first: the text is a summary of the rest.
  result.text = mcp::shortened(result.text, limit / 4);
  result.text += " (cut; `truncated` says what)";
  while (!result.links.empty() && links_bytes(result) > limit / kLinksShare)
    result.links.pop_back();
  Cutting cutting(result.structured);
  do {
    if (!cutting.cut_heaviest()) break;
    result.structured["truncated"] = cutting.told();
  } while (too_long());
  // Of very few tokens even what tells the cuts takes too many.
  const auto told = result.structured.find("truncated");
  while (told != result.structured.end() && told->size() > 1 && too_long())
    told->erase(told->size() - 1);
}

mcp::Tool capped(mcp::Tool tool) {
  const auto properties = tool.input_schema.find("properties");
  if (properties == tool.input_schema.end() || !properties->contains("max_tokens")) return tool;
  tool.run = [run = std::move(tool.run)](const mcp::Json& arguments, mcp::CallContext& context) {
    mcp::ToolResult result = run(arguments, context);
    if (const auto most = arguments.find("max_tokens"); most != arguments.end())
      cap(result, most->get<std::size_t>());
    return result;
  };
  return tool;
}

}  // namespace assay::tools
