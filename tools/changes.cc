#include "tools/changes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace assay::tools {
namespace {

using job::JobRecord;
using mcp::OrderedJson;
using nlohmann::json;

constexpr std::size_t kMost = 24;        // changes told one by one
constexpr std::size_t kMostText = 6;     // of them in the text
constexpr std::size_t kMostBytes = 200;  // of one value; longer ones are named only

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

json brief(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= kMostBytes ? value
                                   : json("(" + std::to_string(text.size()) + " bytes of JSON)");
}

class Comparison {
 public:
  OrderedJson run(const JobRecord& then, const JobRecord& now) {
    for (const char* role : {"kernel", "ref_kernel"}) {
      const json names = now.request.value("names", json::object());
      const bool judged = role == std::string_view("kernel");
      const std::string name = names.value(judged ? "judged" : "reference", std::string(role));
      kernel(member(then.request, role), member(now.request, role), judged ? "" : "reference ",
             "/" + name);
    }
    const json options = member(now.request, "options");
    for (const auto& [key, value] : options.items()) {
      // What follows from another option, or speaks of another job.
      if (key == "baseline" || key == "may_add_trials") continue;
      leaf("option", "/" + key, member(member(then.request, "options"), key.c_str()), value);
    }
    const json machine_then = member(then.conclusion, "environment");
    const json machine_now = member(now.conclusion, "environment");
    if (!machine_then.is_null() && !machine_now.is_null()) {
      for (const char* key : {"device", "device_name", "toolkit"}) {
        const json before = member(machine_then, key);
        const json after = member(machine_now, key);
        // A job that never came to its compiler or device says nothing of them.
        if (!before.is_null() && !after.is_null()) leaf("environment", "", before, after, key);
      }
    }
    if (list_.size() > kMost) {
      const std::size_t more = list_.size() - kMost;
      list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(kMost), list_.end());
      list_.push_back({{"what", "more"}, {"count", more}});
    }
    return std::move(list_);
  }

 private:
  static json member(const json& object, const char* key) {
    return object.is_object() && object.contains(key) ? object.at(key) : json();
  }

  void leaf(const std::string& what, const std::string& pointer, const json& then, const json& now,
            const char* name = nullptr) {
    if (then == now) return;
    OrderedJson one = {{"what", what}, {"then", brief(then)}, {"now", brief(now)}};
    if (!pointer.empty()) one["pointer"] = pointer;
    if (name != nullptr) one["name"] = name;
    list_.push_back(std::move(one));
  }

  void kernel(const json& then, const json& now, const std::string& whose,
              const std::string& pointer) {
    if (then.is_null() || now.is_null()) {
      if (then.is_null() == now.is_null()) return;
      list_.push_back({{"what", whose + "kernel"},
                       {"pointer", pointer},
                       {"then", then.is_null() ? "none" : "given"},
                       {"now", now.is_null() ? "none" : "given"}});
      return;
    }
    source(then.value("source", ""), now.value("source", ""), whose + "source", pointer);
    for (const char* key : {"kernel_name", "compiler_options", "name_expressions", "kernel_type"}) {
      leaf(whose + "metadata", pointer + "/metadata/" + key, member(then, key), member(now, key));
    }
    json contract_then = member(then, "contract");
    json contract_now = member(now, "contract");
    walk(whose + "launch", pointer + "/io/launch", member(contract_then, "launch"),
         member(contract_now, "launch"));
    if (contract_then.is_object()) contract_then.erase("launch");
    if (contract_now.is_object()) contract_now.erase("launch");
    walk(whose + "contract", pointer + "/io", contract_then, contract_now);
  }

  // Down to the members that differ; an array whose length differs is one change.
  void walk(const std::string& what, const std::string& pointer, const json& then,
            const json& now) {
    if (then == now) return;
    if (then.is_object() && now.is_object()) {
      for (const auto& [key, value] : then.items()) {
        walk(what, pointer + "/" + key, value, member(now, key.c_str()));
      }
      for (const auto& [key, value] : now.items()) {
        if (!then.contains(key)) leaf(what, pointer + "/" + key, json(), value);
      }
      return;
    }
    if (then.is_array() && now.is_array() && then.size() == now.size()) {
      for (std::size_t i = 0; i < then.size(); ++i) {
        walk(what, pointer + "/" + std::to_string(i), then[i], now[i]);
      }
      return;
    }
    leaf(what, pointer, then, now);
  }

  // Lines that only one of the two has, and the first that differs.
  void source(const std::string& then, const std::string& now, const std::string& what,
              const std::string& pointer) {
    if (then == now) return;
    const auto before = lines_of(then);
    const auto after = lines_of(now);
    const auto differ = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    std::map<std::string_view, std::ptrdiff_t> surplus;
    for (const auto line : before) --surplus[line];
    for (const auto line : after) ++surplus[line];
    std::ptrdiff_t added = 0;
    std::ptrdiff_t removed = 0;
    for (const auto& [line, count] : surplus) (count > 0 ? added : removed) += std::abs(count);
    list_.push_back({{"what", what},
                     {"pointer", pointer + "/source_code"},
                     {"lines_added", added},
                     {"lines_removed", removed},
                     {"first_line", differ.second - after.begin() + 1}});
  }

  OrderedJson list_ = OrderedJson::array();
};

std::string text_of(const OrderedJson& change) {
  const auto what = change.at("what").get<std::string>();
  if (change.contains("first_line")) {
    return what + " (" + change.at("lines_added").dump() + " lines added, " +
           change.at("lines_removed").dump() + " removed, from line " +
           change.at("first_line").dump() + ")";
  }
  if (change.contains("count")) return change.at("count").dump() + " more";
  const std::string place = change.value("pointer", change.value("name", std::string()));
  return what + " " + place + " " + change.at("then").dump() + " → " + change.at("now").dump();
}

}  // namespace

OrderedJson changes_between(const JobRecord& then, const JobRecord& now) {
  return Comparison().run(then, now);
}

std::string changes_text(const OrderedJson& changes) {
  if (changes.empty()) return "nothing";
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), kMostText); ++i) {
    text += (text.empty() ? "" : ", ") + text_of(changes[i]);
  }
  if (changes.size() > kMostText) {
    text += ", and " + std::to_string(changes.size() - kMostText) + " more";
  }
  return text;
}

}  // namespace assay::tools
