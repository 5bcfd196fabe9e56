#include "tools/hidden_tasks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/contract/fixed_contents.h"
#include "engine/contract/index_bounds.h"
#include "engine/source/token.h"
#include "tools/same_task.h"

namespace assay::tools {
namespace {

using contract::Violation;
using mcp::Json;
using Sizes = std::map<std::string, std::int64_t>;
using Names = std::set<std::string, std::less<>>;

constexpr std::int64_t kMostAdded = 31;
constexpr int kDraws = 4;
// A size that the contract does not allow, as 1 where indices would have nothing to choose from, is
// drawn again.
constexpr int kAttempts = 16;

// A key whose value is null counts as absent, as where contracts are read.
void drop_nulls(Json& value) {
  for (auto member = value.begin(); value.is_structured() && member != value.end();) {
    if (value.is_object() && member->is_null()) {
      member = value.erase(member);
    } else {
      drop_nulls(*member++);
    }
  }
}

// The names in a size's expression; none in a number.
void take_names(const Json& size, Names& names) {
  if (!size.is_string()) return;
  for (const auto& token : source::lex(size.get_ref<const std::string&>())) {
    if (token.kind == source::TokenKind::identifier) names.insert(std::string(token.text));
  }
}

void take_all_names(const Json& value, Names& names) {
  if (value.is_structured()) {
    for (const Json& member : value) take_all_names(member, names);
  } else {
    take_names(value, names);
  }
}

// A contract's document, and where its names are defined.
class Document {
 public:
  // `is_compiled_for`: metas are what the kernel is compiled for, and no sizes to vary.
  explicit Document(Json json, bool is_compiled_for = false)
      : json_(std::move(json)), is_compiled_for_(is_compiled_for) {}

  [[nodiscard]] const Json& json() const { return json_; }

  // What a name is defined as, a number or an expression; null if it is not.
  [[nodiscard]] Json* definition(const std::string& name) {
    if (json_.contains("sizes") && json_["sizes"].is_object() && json_["sizes"].contains(name))
      return &json_["sizes"][name];
    for (Json& arg : json_["args"]) {
      const bool is_it = arg.is_object() && arg.value("name", "") == name &&
                         arg.value("type", "") == "int" && arg.contains("value");
      if (is_it) return &arg["value"];
    }
    return nullptr;
  }

  // Numbers that decide shapes, and neither a block's size nor its shared memory: those a kernel is
  // written for.
  [[nodiscard]] Sizes free_sizes() {
    Names in_shapes;
    for (const Json& arg : json_["args"]) {
      const auto spec = arg.is_object() ? arg.find("tensor_spec") : arg.end();
      if (spec != arg.end() && spec->is_object() && spec->contains("shape"))
        take_all_names(spec->at("shape"), in_shapes);
    }
    Names fixed;
    const Json launch = json_.value("launch", Json::object());
    for (const char* key : {"block", "shared_mem_bytes"}) {
      if (launch.is_object() && launch.contains(key)) take_all_names(launch.at(key), fixed);
    }
    follow(in_shapes);
    follow(fixed);
    if (is_compiled_for_) take_metas(fixed);
    Sizes sizes;
    for (const std::string& name : in_shapes) {
      const Json* value = definition(name);
      const bool varies = value != nullptr && value->is_number_integer() && !fixed.contains(name);
      if (varies && value->get<std::int64_t>() > 1) sizes.emplace(name, value->get<std::int64_t>());
    }
    return sizes;
  }

  // Whether every one of these is defined here by the same number.
  [[nodiscard]] bool has(const Sizes& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [&](const auto& size) {
      const Json* value = definition(size.first);
      return value != nullptr && *value == size.second;
    });
  }

  void set(const Sizes& sizes) {
    for (const auto& [name, value] : sizes) *definition(name) = value;
  }

  // Contents of the inputs, each another way; false if there is nothing that may vary.
  bool redraw(int way);

  // Seeds are the engine's to choose, and nobody's to know.
  void forget_seeds() {
    for (Json& arg : json_["args"]) {
      if (Json* init = init_of(arg)) init->erase("seed");
    }
  }

 private:
  void take_metas(Names& names) {
    for (const Json& arg : json_["args"]) {
      const bool is_meta = arg.is_object() && arg.value("is_meta", Json(false)) == true;
      if (is_meta && arg.contains("name")) take_names(arg.at("name"), names);
    }
  }

  void follow(Names& names) {
    for (bool grows = true; grows;) {
      const std::size_t before = names.size();
      for (const std::string& name : Names(names)) {
        if (const Json* value = definition(name)) take_names(*value, names);
      }
      grows = names.size() != before;
    }
  }

  // Of a tensor that is read and made by a generator.
  [[nodiscard]] static Json* init_of(Json& arg) {
    if (!arg.is_object() || arg.value("role", "input") == "output") return nullptr;
    const auto spec = arg.find("tensor_spec");
    if (spec == arg.end() || !spec->is_object() || spec->contains("data")) return nullptr;
    const auto init = spec->find("init");
    return init == spec->end() || !init->is_object() ? nullptr : &*init;
  }

  Json json_;
  bool is_compiled_for_;
};

// Of numbers around a mean: narrow, wide, shifted, one-sided.
Json other_normal(const Json& init, int way) {
  const double mean = init.value("mean", 0.0);
  const double deviation = init.value("std", 1.0);
  switch (way) {
    case 0:
      return {{"kind", "uniform"}, {"low", mean - deviation}, {"high", mean + deviation}};
    case 1:
      return {{"kind", "randn"}, {"mean", mean}, {"std", 16 * deviation}};
    case 2:
      return {{"kind", "randn"}, {"mean", mean + 4 * deviation}, {"std", deviation / 4}};
    default:
      return {{"kind", "uniform"}, {"low", mean}, {"high", mean + deviation / 1024}};
  }
}

// Of numbers between two bounds, which may mean something: parts of the range.
Json other_uniform(const Json& init, int way) {
  Json out = init;
  const bool is_whole = init.value("low", Json(0.0)).is_number_integer() &&
                        init.value("high", Json(1.0)).is_number_integer();
  if (is_whole) {
    const auto low = init.at("low").get<std::int64_t>();
    const auto high = init.at("high").get<std::int64_t>();
    const std::int64_t middle = low / 2 + high / 2;
    if (middle <= low || middle >= high) return out;
    if (way == 0) out["high"] = middle;
    if (way == 1) out["low"] = middle;
    if (way == 2) out["high"] = low + 1;
    return out;
  }
  const double low = init.value("low", 0.0);
  const double high = init.value("high", 1.0);
  const double middle = low / 2 + high / 2;
  if (way == 0) out["high"] = middle;
  if (way == 1) out["low"] = middle;
  if (way == 2) {
    out["low"] = middle;
    out["high"] = middle + (high - low) / 1024;
  }
  return out;
}

bool Document::redraw(int way) {
  bool any = false;
  for (Json& arg : json_["args"]) {
    Json* init = init_of(arg);
    if (init == nullptr) continue;
    const std::string kind = init->value("kind", "randn");
    if (kind == "randn") *init = other_normal(*init, way);
    if (kind == "uniform") *init = other_uniform(*init, way);
    any = any || kind == "randn" || kind == "uniform";
  }
  return any;
}

Sizes drawn(const Sizes& sizes, int way, std::mt19937_64& draw) {
  Sizes out;
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, std::max(low, high))(draw);
  };
  for (const auto& [name, value] : sizes) {
    const std::array<std::int64_t, kDraws> ways{value - 1, value + between(1, kMostAdded),
                                                between(value / 2, value - 1),
                                                between(1, value / 2)};
    out[name] = std::max<std::int64_t>(1, ways[static_cast<std::size_t>(way)]);
  }
  return out;
}

constexpr std::array<const char*, kDraws> kContents{
    "evenly spread, or the lower half of its range", "sixteen times as wide, or the upper half",
    "around another value", "nearly constant, or as asked with other seeds"};

// Both sides of one task, with documents of their own.
class Drafts {
 public:
  Drafts(const Json& kernel, const Json& reference, const contract::ToleranceRequest& asked,
         const References& references)
      : kernel_(kernel), reference_(reference), asked_(asked), references_(references) {}

  [[nodiscard]] bool read() {
    own_ = document(kernel_);
    if (!own_) return false;
    if (reference_.contains("io") && !reference_.at("io").is_null()) {
      theirs_ = document(reference_);
      return theirs_.has_value();
    }
    return true;
  }

  [[nodiscard]] Sizes sizes() const {
    const bool is_triton = kernel_.value("kernel_type", "") == "triton";
    Sizes sizes = Document(*own_, is_triton).free_sizes();
    if (theirs_ && !Document(*theirs_).has(sizes)) sizes.clear();
    return sizes;
  }

  void add(nlohmann::json changed, const Sizes& sizes, std::optional<int> way,
           nlohmann::json& list) const {
    Document own(*own_);
    own.set(sizes);
    own.forget_seeds();
    if (way && !own.redraw(*way)) return;
    auto mine = contract_of(own.json());
    if (!mine) return;  // a size that this contract does not allow
    const auto shown = contract_of(*own_);
    if (shown && !contract::keep_indices_inside(*mine, *shown)) return;
    add_task(std::move(changed), std::move(*mine), sizes, list);
  }

  // What the contract fixes of its inputs holds other numbers; nothing where nothing could.
  void add_fixed(nlohmann::json& list) const {
    Document own(*own_);
    own.forget_seeds();
    auto other = contract_of(own.json());
    if (!other) return;
    const auto fixed = contract::fixed_inputs(*other);
    if (fixed.empty()) return;
    std::string changed = "other numbers in " + contract::fixed_in_words(*other, fixed);
    for (const std::size_t i : fixed) {
      other->args[i].tensor_spec = contract::other_contents(other->args[i]);
    }
    add_task({{"inputs", std::move(changed)}}, std::move(*other), {}, list);
  }

 private:
  void add_task(nlohmann::json changed, contract::Contract mine, const Sizes& sizes,
                nlohmann::json& list) const {
    nlohmann::json task = {{"changed", std::move(changed)}};
    if (theirs_) {
      Document theirs(*theirs_);
      theirs.set(sizes);
      const auto other = contract_of(theirs.json());
      if (!other) return;
      (void)hold_to_reference(mine, "", *other, asked_);  // said of the task that was asked
      task["reference_contract"] = contract::to_json(*other);
    }
    task["contract"] = contract::to_json(mine);
    if (!theirs_) task["reference_contract"] = task["contract"];
    list.push_back(std::move(task));
  }

  [[nodiscard]] std::optional<Json> document(const Json& argument) const {
    if (!argument.contains("io") || argument.at("io").is_null()) return std::nullopt;
    std::vector<Violation> violations;
    auto found = contract_document(argument.at("io"), "", references_, violations);
    const bool is_one = found && found->contains("args") && found->at("args").is_array();
    if (!is_one) return std::nullopt;
    drop_nulls(*found);
    return found;
  }

  [[nodiscard]] static std::optional<contract::Contract> contract_of(const Json& document) {
    auto parsed = contract::parse(document, "", {.open_grid = true});
    if (std::holds_alternative<contract::Refused>(parsed)) return std::nullopt;
    return std::move(std::get<contract::Parsed>(parsed).contract);
  }

  const Json& kernel_;
  const Json& reference_;
  contract::ToleranceRequest asked_;
  const References& references_;
  std::optional<Json> own_{};
  std::optional<Json> theirs_{};
};

}  // namespace

HiddenTasks hidden_tasks(const Json& kernel, const Json& reference,
                         const contract::ToleranceRequest& asked, const References& references,
                         std::mt19937_64& draw) {
  HiddenTasks out;
  Drafts drafts(kernel, reference, asked, references);
  if (!drafts.read()) {
    out.note = "The contract was not given with this call, so nothing of it could be varied.";
    return out;
  }
  const Sizes sizes = drafts.sizes();
  for (int way = 0; way < kDraws && !sizes.empty(); ++way) {
    const std::size_t before = out.list.size();
    for (int attempt = 0; attempt < kAttempts && out.list.size() == before; ++attempt) {
      const Sizes other = drawn(sizes, way, draw);
      drafts.add({{"sizes", other}}, other, std::nullopt, out.list);
    }
  }
  if (sizes.empty()) {
    out.note =
        "No other sizes were tried: shapes written with named sizes ([\"n\"], with n in `sizes` or "
        "an int argument) can be varied.";
  }
  drafts.add_fixed(out.list);
  for (int way = 0; way < kDraws; ++way) {
    drafts.add({{"inputs", kContents[static_cast<std::size_t>(way)]}}, {}, way, out.list);
  }
  return out;
}

}  // namespace assay::tools
