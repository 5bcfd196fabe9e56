// From the compact text to a contract's document: statements, then each statement's words.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/contract/compact.h"
#include "engine/contract/compact_texture.h"
#include "engine/contract/compact_words.h"
#include "engine/contract/expression.h"

namespace assay::contract {
namespace {

using namespace compact;
using nlohmann::json;

constexpr std::size_t kMaxErrors = 20;
constexpr std::size_t kMaxTextBytes = 64U << 20;  // literal data included

// A JSON number or literal as it stands, else the text.
json value_of(std::string_view text) {
  const json read = json::parse(text, nullptr, false);
  if (!read.is_discarded() && read.is_primitive()) return read;
  if (text == "True") return true;
  if (text == "False") return false;
  return std::string(text);
}

// Where a call's parenthesis ends, and its last '/' that stands in no other; npos where there is
// none.
struct CallEnd {
  std::size_t close = std::string_view::npos;
  std::size_t slash = std::string_view::npos;
};

CallEnd end_of_call(std::string_view text, std::size_t open) {
  CallEnd end;
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == '/' && depth == 1) end.slash = i;
    if (text[i] != ')' || --depth != 0) continue;
    end.close = i;
    break;
  }
  return end;
}

// ceil(a/b) and cdiv(a, b) as ceildiv(a, b); everything else as it stands.
std::string expression(std::string_view text) {
  if (text.size() > kMaxExpressionLength) return std::string(text);  // refused later, in words
  for (const std::string_view name : {"ceil(", "cdiv(", "triton.cdiv("}) {
    const auto at = text.find(name);
    if (at == std::string_view::npos) continue;
    if (at > 0 && (is_name(text.substr(at - 1, 1)) || text[at - 1] == '.')) continue;
    const std::size_t open = at + name.size() - 1;
    const auto [close, slash] = end_of_call(text, open);
    const bool divides = name == "ceil(";
    if (close == std::string_view::npos || (divides && slash == std::string_view::npos)) continue;
    const std::string inside = divides
                                   ? expression(text.substr(open + 1, slash - open - 1)) + ", " +
                                         expression(text.substr(slash + 1, close - slash - 1))
                                   : expression(text.substr(open + 1, close - open - 1));
    return std::string(text.substr(0, at)) + "ceildiv(" + inside + ")" +
           expression(text.substr(close + 1));
  }
  return std::string(text);
}

json size_of(std::string_view text) {
  json value = value_of(text);
  if (value.is_string()) return expression(text);
  return value;
}

json sizes_of(std::string_view list) {
  json sizes = json::array();
  for (const auto part : comma_parts(list)) sizes.push_back(size_of(part));
  return sizes;
}

// The parameters of each kind, in the order in which they may be given without a name.
std::vector<std::string_view> parameters_of(InitKind kind) {
  switch (kind) {
    case InitKind::randn:
      return {"seed", "mean", "std"};
    case InitKind::uniform:
      return {"low", "high", "seed"};
    case InitKind::full:
      return {"fill_value", "seed"};
    case InitKind::arange:
      return {"start", "step", "seed"};
    case InitKind::zeros:
    case InitKind::ones:
      return {"seed"};
  }
  return {};
}

// Of any kind: which of them means something is for the document's own reader.
bool is_init_key(std::string_view key) {
  static constexpr std::array<std::string_view, 8> kKeys{"seed", "mean",       "std",   "low",
                                                         "high", "fill_value", "start", "step"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

class Reading {
 public:
  std::variant<json, std::vector<CompactError>> run(std::string_view text) {
    if (text.size() > kMaxTextBytes) return std::vector<CompactError>{{1, "the text is too long"}};
    document_ = {{"args", json::array()}};
    std::string clean = without_comments(text);
    split(
        clean,
        // A bracket may span lines, a quote too; a statement otherwise ends with its line.
        [](std::string_view all, std::size_t i, std::size_t depth) {
          return all[i] == ';' || (all[i] == '\n' && depth == 0);
        },
        [&](std::size_t begin, std::size_t end) {
          line_ += static_cast<std::size_t>(
              std::count(clean.begin() + static_cast<std::ptrdiff_t>(counted_),
                         clean.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
          counted_ = begin;
          if (errors_.size() < kMaxErrors)
            statement(trim(std::string_view(clean).substr(begin, end - begin)));
        });
    if (errors_.empty() && document_["args"].empty() && document_.size() == 1) {
      complain("the text says nothing; an argument reads `in a: float32[1024]` or `n: int = 4`");
    }
    if (!errors_.empty()) return std::move(errors_);
    return std::move(document_);
  }

 private:
  // Elsewhere // divides, as in Python.
  static bool begins_statement(std::string_view before) {
    const auto last = before.find_last_not_of(" \t\r");
    return last == std::string_view::npos || before[last] == '\n' || before[last] == ';';
  }

  static std::string without_comments(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"') {
        const std::size_t end = end_of_string(text, i);
        out += text.substr(i, end - i);
        i = end - 1;
      } else if (text[i] == '#' || (text.substr(i, 2) == "//" && begins_statement(out))) {
        i = std::min(text.find('\n', i), text.size()) - 1;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  void complain(std::string message) { errors_.push_back({line_, std::move(message)}); }

  // Of two values neither is the one that is meant.
  bool is_twice(const json& object, std::string_view key) {
    if (!object.is_object() || !object.contains(key)) return false;
    complain(std::string(key) + " is given twice");
    return true;
  }

  void statement(std::string_view text) {
    if (text.empty()) return;
    const auto space = std::find_if(text.begin(), text.end(), is_blank);
    const std::string_view head(text.data(), static_cast<std::size_t>(space - text.begin()));
    const std::string_view rest = trim(text.substr(head.size()));
    const bool declares = !rest.empty() && rest.front() == ':';  // a parameter may be called "grid"
    if (!declares && launch_statement(head, rest)) return;
    if (!declares && head == "size") return size_statement(rest);
    std::string role;
    if (!declares) {
      if (head == "in" || head == "input") role = "input";
      if (head == "out" || head == "output") role = "output";
      if (head == "inout") role = "inout";
    }
    const bool meta = !declares && head == "meta";
    argument(role.empty() && !meta ? text : rest, role, meta);
  }

  bool launch_statement(std::string_view head, std::string_view rest) {
    static constexpr std::array<std::pair<std::string_view, const char*>, 8> kNames{
        {{"shared", "shared_mem_bytes"},
         {"shared_mem_bytes", "shared_mem_bytes"},
         {"warps", "num_warps"},
         {"num_warps", "num_warps"},
         {"stages", "num_stages"},
         {"num_stages", "num_stages"},
         {"grid", "grid"},
         {"block", "block"}}};
    const auto known = std::find_if(kNames.begin(), kNames.end(),
                                    [&](const auto& entry) { return entry.first == head; });
    if (head == "launch") {
      if (!rest.empty()) complain("launch takes nothing; write grid …; block …");
      document_["launch"] = document_.value("launch", json::object());
      return true;
    }
    if (known == kNames.end()) return false;
    if (rest.empty()) {
      complain(std::string(head) + " needs a value, as in: " + std::string(head) + " 256");
      return true;
    }
    if (is_twice(document_["launch"], known->second)) return true;
    json value = size_of(rest);
    if (head == "grid" || head == "block") {
      const bool bracketed =
          (rest.front() == '(' && rest.back() == ')' && comma_parts(rest).size() == 1 &&
           comma_parts(rest.substr(1, rest.size() - 2)).size() > 1) ||
          rest.front() == '[';
      value = sizes_of(bracketed ? rest.substr(1, rest.size() - 2) : rest);
      if (value.size() > 3) complain(std::string(head) + " has at most three dimensions");
    }
    document_["launch"][known->second] = std::move(value);
    return true;
  }

  void size_statement(std::string_view rest) {
    const auto at = assignment(rest);
    if (!at) return complain("size needs a name and a value, as in: size n = 4096");
    const std::string name(trim(rest.substr(0, *at)));
    if (is_twice(document_["sizes"], name)) return;
    document_["sizes"][name] = size_of(trim(rest.substr(*at + 1)));
  }

  // The name and what stands behind its colon.
  std::optional<std::pair<std::string, std::string_view>> name_of(std::string_view text) {
    if (text.empty() || text.front() != '"') {
      const auto colon = text.find(':');
      const auto name = trim(text.substr(0, colon));
      if (colon == std::string_view::npos || !is_name(name)) return std::nullopt;
      return std::pair{std::string(name), trim(text.substr(colon + 1))};
    }
    const std::size_t end = end_of_string(text, 0);
    const json name = json::parse(text.substr(0, end), nullptr, false);
    const auto behind = trim(text.substr(end));
    if (!name.is_string() || behind.empty() || behind.front() != ':') return std::nullopt;
    return std::pair{name.get<std::string>(), trim(behind.substr(1))};
  }

  void argument(std::string_view text, const std::string& role, bool meta) {
    const auto named = name_of(text);
    if (!named) {
      return complain(
          "cannot read \"" + std::string(text.substr(0, 60)) +
          "\"; an argument reads `in a: float32[1024]` or `n: int = 4`, the launch `grid "
          "4` and `block 256`");
    }
    const auto& [name, rest] = *named;
    json arg = {{"name", name}};
    const auto bracket = rest.find('[');
    const auto equals = rest.find('=');
    const bool is_tensor =
        bracket != std::string_view::npos && (equals == std::string_view::npos || bracket < equals);
    if (is_tensor) {
      tensor(rest, bracket, arg);
      arg["role"] = role.empty() ? "input" : role;
    } else {
      if (!role.empty()) {
        return complain("'" + name + "' is a tensor (" + role +
                        ") and needs a shape, as in: float32[1024]; a scalar has no role");
      }
      scalar(name, rest, arg);
    }
    if (meta) arg["is_meta"] = true;
    document_["args"].push_back(std::move(arg));
  }

  void scalar(const std::string& name, std::string_view rest, json& arg) {
    const auto equals = rest.find('=');
    if (equals == std::string_view::npos) {
      return complain("'" + name + "' needs a value (`" + name + ": int = 4`) or a shape (`in " +
                      name + ": float32[1024]`)");
    }
    std::string_view type = trim(rest.substr(0, equals));
    std::string_view c_type;
    if (const auto as = type.find(" as "); as != std::string_view::npos) {
      c_type = trim(type.substr(as + 4));
      type = trim(type.substr(0, as));
    } else if (!parse_arg_type(type)) {
      c_type = type;
      const auto dtype = parse_c_type(type);
      if (!dtype) return complain("'" + name + "': unknown type \"" + std::string(type) + "\"");
      type = is_integer(*dtype) ? "int" : is_floating(*dtype) ? "float" : "bool";
    }
    arg["type"] = std::string(type);
    if (!c_type.empty()) arg["c_type"] = std::string(c_type);
    const std::string_view value = trim(rest.substr(equals + 1));
    if (value.empty()) return complain("'" + name + "' needs a value behind '='");
    if (type == "str") {
      const json text = json::parse(value, nullptr, false);
      arg["value"] = text.is_string() ? text : json(std::string(value));
    } else {
      arg["value"] = type == "bool" ? value_of(value) : size_of(value);
    }
  }

  void tensor(std::string_view rest, std::size_t bracket, json& arg) {
    arg["type"] = "tensor";
    const auto close = rest.find(']', bracket);
    if (close == std::string_view::npos) return complain("a shape has no ']'");
    json& spec = arg["tensor_spec"];
    spec["dtype"] = std::string(trim(rest.substr(0, bracket)));
    if (!parse_dtype(spec["dtype"].get_ref<const std::string&>())) {
      complain("unknown dtype \"" + spec["dtype"].get<std::string>() + "\"");
    }
    spec["shape"] = sizes_of(rest.substr(bracket + 1, close - bracket - 1));
    for (const auto word : words(rest.substr(close + 1))) {
      const auto call = read_call(word);
      if (call && call->name == "texture") {
        if (!is_twice(arg, "texture")) texture(*call, arg["texture"]);
      } else {
        tensor_word(word, spec);
      }
    }
  }

  void texture(const Call& call, json& texture) {
    auto read = texture_of(call);
    for (auto& complaint : read.complaints) complain(std::move(complaint));
    texture = std::move(read.document);
  }

  void tensor_word(std::string_view word, json& spec) {
    if (const auto at = assignment(word)) {
      const std::string key(word.substr(0, *at));
      const std::string_view value = word.substr(*at + 1);
      if (key == "atol" || key == "rtol") {
        if (!is_twice(spec.value("tolerance", json()), key))
          spec["tolerance"][key] = value_of(value);
      } else if (key == "strides" && value.size() > 1 && value.front() == '[' &&
                 value.back() == ']') {
        if (!is_twice(spec, key)) spec["strides"] = sizes_of(value.substr(1, value.size() - 2));
      } else {
        complain("unknown \"" + key + "\"; known are atol=, rtol= and strides=[…]");
      }
      return;
    }
    const auto call = read_call(word);
    if (!call) return complain("cannot read \"" + std::string(word.substr(0, 60)) + "\"");
    // Data beside an init wins over it, and is written so.
    if (spec.contains(call->name == "data" ? "data" : "init")) {
      return complain("\"" + std::string(call->name) + "\": the contents are given twice");
    }
    if (call->name == "data") return data(*call, spec);
    const auto kind = parse_init_kind(call->name);
    if (!kind) {
      return complain("unknown contents \"" + std::string(call->name) +
                      "\"; known are randn, zeros, ones, uniform, full, arange, data");
    }
    init(*call, *kind, spec["init"]);
  }

  void init(const Call& call, InitKind kind, json& init) {
    init = {{"kind", std::string(name(kind))}};
    const auto order = parameters_of(kind);
    if (call.positional.size() > order.size()) {
      return complain(std::string(call.name) + " takes at most " + std::to_string(order.size()) +
                      " values");
    }
    for (std::size_t i = 0; i < call.positional.size(); ++i) {
      init[std::string(order[i])] = value_of(call.positional[i]);
    }
    for (const auto& [word, value] : call.named) {
      const std::string key(word == "value" ? "fill_value" : word);
      if (!is_init_key(key)) {
        std::string known;
        for (const auto each : order) known += (known.empty() ? "" : ", ") + std::string(each);
        return complain(std::string(call.name) + " has no \"" + key + "\"; known are " + known);
      }
      if (!is_twice(init, key)) init[key] = value_of(value);
    }
  }

  void data(const Call& call, json& spec) {
    const json base64 =
        call.positional.empty() ? json() : json::parse(call.positional[0], nullptr, false);
    if (!base64.is_string()) return complain("data needs its base64 in quotes: data(\"AAAA\")");
    spec["data"] = {{"data_b64", base64}};
    if (call.positional.size() > 1) spec["data"]["compress"] = std::string(call.positional[1]);
  }

  json document_ = json::object();
  std::vector<CompactError> errors_{};
  std::size_t line_ = 1;
  std::size_t counted_ = 0;
};

}  // namespace

std::variant<json, std::vector<CompactError>> from_compact(std::string_view text) {
  return Reading().run(text);
}

}  // namespace assay::contract
