#include "plans/optest/plan.h"

#include <algorithm>
#include <set>

#include "plans/optest/plan_parts.h"
#include "plans/optest/tokens.h"

namespace assay::optest {
namespace {

const std::vector<std::string> kPlanKeys{"operator",  "description", "inputs",   "outputs",
                                         "generator", "assertion",   "backends", "cases",
                                         "cache",     "tags",        "priority"};

class PlanReader {
 public:
  PlanReader(Problems& problems, const std::filesystem::path& folder)
      : reading_(problems), folder_(folder) {}

  Plan read(const Value& document) {
    Plan plan{.folder = folder_};
    if (!reading_.is_mapping(document, "", kPlanKeys)) return plan;
    plan.operator_name = reading_.required_text(document, "", "operator");
    plan.description = reading_.text(document, "", "description").value_or("");
    read_cache(document, plan);
    read_cases(document, plan);
    read_backends(document, plan);
    check_backends(plan, document.find("backends"));
    return plan;
  }

 private:
  void read_cache(const Value& document, Plan& plan) {
    const auto policy = reading_.text(document, "", "cache").value_or("reuse");
    if (policy != "reuse" && policy != "regen") {
      reading_.problems().error(document.find("cache")->place, "cache", "must be reuse or regen");
    }
    plan.cache = policy == "regen" ? CachePolicy::regen : CachePolicy::reuse;
  }

  PlanDefaults defaults_of(const Value& document) {
    PlanDefaults defaults{
        .inputs = reading_.texts(document, "", "inputs"),
        .outputs = reading_.texts(document, "", "outputs"),
        .tags = reading_.texts(document, "", "tags"),
        .priority = reading_.integer(document, "", "priority", INT32_MIN, INT32_MAX)};
    if (const Value* inputs = document.find("inputs")) defaults.input_list = *inputs;
    if (const Value* outputs = document.find("outputs")) defaults.output_list = *outputs;
    if (document.find("inputs") == nullptr) {
      reading_.problems().error(document.place, "inputs", "is required");
    }
    if (document.find("outputs") == nullptr || defaults.outputs.empty()) {
      reading_.problems().error(document.place, "outputs", "at least one output is required");
    }
    if (const Value* generator = document.find("generator")) defaults.generator = *generator;
    if (const Value* assertion = document.find("assertion")) defaults.assertion = *assertion;
    return defaults;
  }

  const Value* list(const Value& document, const std::string& key) {
    const Value* value = document.find(key);
    if (value != nullptr && value->is_sequence() && !value->items.empty()) return value;
    reading_.problems().error(value != nullptr ? value->place : document.place, key,
                              "must be a list with at least one entry");
    return nullptr;
  }

  void read_cases(const Value& document, Plan& plan) {
    const PlanDefaults defaults = defaults_of(document);
    const Value* cases = list(document, "cases");
    if (cases == nullptr) return;
    std::set<std::string> names;
    for (std::size_t i = 0; i < cases->items.size(); ++i) {
      CaseRead read = read_case(reading_, cases->items[i], at("cases", i), defaults, folder_);
      if (!read.one.name.empty() && !names.insert(read.one.name).second) {
        reading_.problems().error(read.place, at("cases", i) + ".name",
                                  "there is another case named '" + read.one.name + "'");
      }
      plan.cases.push_back(std::move(read.one));
    }
  }

  void read_backends(const Value& document, Plan& plan) {
    const Value* backends = list(document, "backends");
    if (backends == nullptr) return;
    std::set<std::string> labels;
    for (std::size_t i = 0; i < backends->items.size(); ++i) {
      const std::string where = at("backends", i);
      BackendRead read = read_backend(reading_, backends->items[i], where, folder_);
      if (!labels.insert(read.backend.type + ":" + read.backend.chip).second) {
        reading_.problems().error(
            read.place, where,
            "there is another backend " + read.backend.type + ":" + read.backend.chip);
      }
      check_words(read, where, plan);
      plan.backends.push_back(std::move(read.backend));
    }
  }

  // Against every case, as they may have different numbers of files.
  void check_words(const BackendRead& read, const std::string& where, const Plan& plan) {
    for (const auto& [word, place] : read.words) {
      std::set<std::size_t> told;
      for (const auto& one : plan.cases) {
        for (const auto& fault : check_tokens(word, one.inputs.size(), one.outputs.size())) {
          if (!told.insert(fault.offset).second) continue;
          const Place there{place.line, place.column + static_cast<int>(fault.offset)};
          reading_.problems().error(there, where, fault.message);
        }
      }
    }
  }

  static Place place_of_word(const Value& mapping, const char* key, const std::string& word) {
    const Value* value = mapping.find(key);
    if (value == nullptr) return mapping.place;
    for (const auto& item : value->items) {
      if (item.text == word) return item.place;
    }
    return value->place;
  }

  // What a backend says of cases, and what cases say of backends.
  void check_backends(const Plan& plan, const Value* values) {
    std::vector<std::string> names;
    for (const auto& one : plan.cases) names.push_back(one.name);
    for (std::size_t i = 0; i < plan.backends.size(); ++i) {
      const Backend& backend = plan.backends[i];
      const auto place = [&](const char* key, const std::string& name) {
        return place_of_word(values->items[i], key, name);
      };
      const std::pair<const char*, const std::vector<std::string>*> lists[] = {
          {"only_cases", &backend.only_cases},
          {"skip_cases", &backend.skip_cases},
          {"xfail_cases", &backend.xfail_cases}};
      for (const auto& [key, list] : lists) {
        for (const auto& name : *list) {
          if (std::find(names.begin(), names.end(), name) != names.end()) continue;
          const std::string near = closest(name, names);
          reading_.problems().warn(place(key, name), at("backends", i),
                                   "names the case '" + name + "', which does not exist" +
                                       (near.empty() ? "" : "; did you mean '" + near + "'?"));
        }
      }
      for (const auto& name : backend.only_cases) {
        if (std::count(backend.skip_cases.begin(), backend.skip_cases.end(), name) > 0) {
          reading_.problems().error(place("skip_cases", name), at("backends", i),
                                    "the case '" + name + "' is in only_cases and in skip_cases");
        }
      }
    }
  }

  Reading reading_;
  const std::filesystem::path& folder_;
};

}  // namespace

std::uint64_t Shape::elements() const {
  std::uint64_t product = 1;
  for (const auto extent : extents) product *= static_cast<std::uint64_t>(extent);
  return product;
}

std::string Shape::text() const {
  if (extents.empty()) return "scalar";
  std::string text;
  for (const auto extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

Loaded load_plan(const std::string& text, const std::filesystem::path& folder) {
  Problems problems;
  const Value document = parse_yaml(text, problems);
  Plan plan;
  if (!problems.fatal()) plan = PlanReader(problems, folder).read(document);
  problems.sort();
  Loaded loaded{.problems = problems.list()};
  if (!problems.fatal()) loaded.plan = std::move(plan);
  return loaded;
}

}  // namespace assay::optest
