// Generators and assertions as a plan declares them: builtin ones by name, custom ones by file and
// function.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "plans/lower_case.h"
#include "plans/optest/builtins.h"
#include "plans/optest/plan_parts.h"

namespace assay::optest {
namespace {

const std::vector<std::string> kGenerators{"builtin.random", "builtin.uniform", "builtin.ones"};

std::optional<std::uint64_t> read_seed(Reading& reading, const Value& value,
                                       const std::string& where) {
  const auto seed = reading.integer(value, where, "seed", INT64_MIN, INT64_MAX);
  if (!seed) return std::nullopt;
  return static_cast<std::uint64_t>(*seed);
}

// What a builtin is called whole; other names as they are.
std::string generator_name(const std::string& text) {
  const std::string lower = plans::lower_case(text);
  for (const auto& known : kGenerators) {
    if (lower == known || "builtin." + lower == known) return known;
  }
  return text;
}

// Its parameters are numbers that the plan's reader can judge already.
void check_params(Reading& reading, const Filling& filling, Place place, const std::string& where) {
  for (const auto& [key, value] : filling.params.items()) {
    const bool known = (filling.name == "builtin.uniform" && (key == "low" || key == "high")) ||
                       (filling.name == "builtin.random" && (key == "scale" || key == "shift"));
    if (!known) {
      reading.problems().warn(place, where + ".params." + key,
                              filling.name + " has no such parameter, ignored");
    } else if (!value.is_number()) {
      reading.problems().error(place, where + ".params." + key, "must be a number");
    }
  }
}

void check_filling(Reading& reading, const Filling& filling, bool is_custom, Place place,
                   const std::string& where) {
  if (is_custom) return;
  if (std::find(kGenerators.begin(), kGenerators.end(), filling.name) == kGenerators.end()) {
    const std::string near = closest(filling.name, kGenerators);
    reading.problems().error(place, where + ".name",
                             "'" + filling.name + "' is no builtin generator, and there is no " +
                                 "source" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
    return;
  }
  check_params(reading, filling, place, where);
}

void read_per_input(Reading& reading, const Value& value, const std::string& where,
                    std::size_t inputs, Generator& generator) {
  const Value* list = value.find("per_input");
  if (list == nullptr || list->is_null()) return;
  if (!list->is_mapping()) {
    reading.problems().error(list->place, where + ".per_input", "must be a mapping by index");
    return;
  }
  for (const auto& entry : list->entries) {
    const std::string there = where + ".per_input." + entry.key;
    const auto index = as_integer({.kind = Value::Kind::scalar, .text = entry.key, .entries = {}});
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= inputs) {
      reading.problems().error(entry.place, there,
                               "is no input; there are " + std::to_string(inputs));
      continue;
    }
    if (!reading.is_mapping(entry.value, there, {"name", "seed", "params"})) continue;
    Filling filling{.name = generator.is_custom() ? "builtin.random" : generator.all.name,
                    .seed = read_seed(reading, entry.value, there)};
    if (const auto name = reading.text(entry.value, there, "name"))
      filling.name = generator_name(*name);
    const bool same = filling.name == generator.all.name;
    filling.params = entry.value.find("params") == nullptr && same
                         ? generator.all.params
                         : reading.object(entry.value, there, "params");
    check_filling(reading, filling, false, entry.place, there);
    generator.per_input[static_cast<std::size_t>(*index)] = std::move(filling);
  }
}

void read_output_dtypes(Reading& reading, const Value& value, const std::string& where,
                        const Case& owner, Assertion& assertion) {
  const auto names = reading.texts(value, where, "output_dtypes");
  const Value* list = value.find("output_dtypes");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto dtype =
        read_dtype(reading, names[i], list->items[i].place, at(where + ".output_dtypes", i));
    assertion.output_dtypes.push_back(dtype.value_or(contract::DType::float32));
  }
  if (!names.empty() && names.size() != owner.outputs.size()) {
    reading.problems().error(list->place, where + ".output_dtypes",
                             std::to_string(names.size()) + " dtypes, but there are " +
                                 std::to_string(owner.outputs.size()) + " outputs");
  }
  // Inferred: the input's at the same place, else the first one.
  while (assertion.output_dtypes.size() < owner.outputs.size()) {
    const std::size_t i = assertion.output_dtypes.size();
    const auto first = owner.dtypes.empty() ? contract::DType::float32 : owner.dtypes.front();
    assertion.output_dtypes.push_back(i < owner.dtypes.size() ? owner.dtypes[i] : first);
  }
}

std::string absolute_source(const std::filesystem::path& folder, const std::string& source) {
  return (folder / source).lexically_normal().string();
}

}  // namespace

std::string missing_function(const std::filesystem::path& file, const std::string& name) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || !stream) {
    return "there is no file " + file.string();
  }
  static const std::regex python_name("[A-Za-z_][A-Za-z0-9_]*");
  if (!std::regex_match(name, python_name)) return "'" + name + "' is no name of a Python function";
  for (std::string line; std::getline(stream, line);) {
    for (const std::string& prefix : {std::string("def "), std::string("async def ")}) {
      if (line.starts_with(prefix + name)) return {};
    }
    const bool begins = line.starts_with(name) && line.find('=') != std::string::npos;
    const bool imports = line.find("import") != std::string::npos &&
                         line.find(name) != std::string::npos && line.front() != '#';
    if (begins || imports) return {};
  }
  return file.string() + " defines no function '" + name + "'";
}

Generator read_generator(Reading& reading, const Value& value, const std::string& where,
                         std::size_t inputs, const std::filesystem::path& folder) {
  Generator generator{.place = value.place};
  if (value.is_null()) return generator;
  if (!reading.is_mapping(value, where,
                          {"name", "source", "seed", "params", "per_input", "constants"})) {
    return generator;
  }
  generator.all.name =
      generator_name(reading.text(value, where, "name").value_or("builtin.random"));
  generator.all.seed = read_seed(reading, value, where);
  generator.all.params = reading.object(value, where, "params");
  generator.constants = reading.object(value, where, "constants");
  if (const auto source = reading.text(value, where, "source")) {
    generator.source = absolute_source(folder, *source);
    const std::string missing = missing_function(generator.source, generator.all.name);
    if (!missing.empty()) reading.problems().error(value.place, where, missing);
  }
  check_filling(reading, generator.all, generator.is_custom(), value.place, where);
  read_per_input(reading, value, where, inputs, generator);
  return generator;
}

Assertion read_assertion(Reading& reading, const Value& value, const std::string& where,
                         const Case& owner, const std::filesystem::path& folder) {
  Assertion assertion{.place = value.place};
  if (value.is_mapping()) {
    assertion.name = reading.text(value, where, "name").value_or(assertion.name);
    if (const auto source = reading.text(value, where, "source")) {
      assertion.source = absolute_source(folder, *source);
      const std::string missing = missing_function(assertion.source, assertion.name);
      if (!missing.empty()) reading.problems().error(value.place, where, missing);
    }
    assertion.params = reading.object(value, where, "params");
    assertion.metric = reading.text(value, where, "metric").value_or(assertion.metric);
  } else if (!value.is_null()) {
    reading.problems().error(value.place, where, "must be a mapping");
  }
  if (value.is_mapping()) {
    (void)reading.is_mapping(
        value, where, {"name", "source", "rtol", "atol", "metric", "output_dtypes", "params"});
  }
  if (!assertion.is_custom()) {
    const auto builtin = builtin_named(assertion.name);
    if (builtin) {
      assertion.name = "builtin." + *builtin;
    } else {
      const std::string near = closest(assertion.name, builtin_names());
      reading.problems().error(value.place, where + ".name",
                               "'" + assertion.name +
                                   "' is no builtin assertion, and there is no "
                                   "source" +
                                   (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }
  const bool is_convolution = assertion.name == "builtin.conv2d";
  assertion.rtol = reading.amount(value, where, "rtol").value_or(is_convolution ? 1e-3 : 1e-5);
  assertion.atol = reading.amount(value, where, "atol").value_or(is_convolution ? 1e-3 : 1e-4);
  const bool known = assertion.metric == "max_abs" || assertion.metric == "mean_abs" ||
                     assertion.metric == "cosine" ||
                     (assertion.metric == "custom" && assertion.is_custom());
  if (!known && !assertion.is_custom()) {
    reading.problems().error(value.place, where + ".metric",
                             "must be max_abs, mean_abs or cosine; custom needs a source");
  }
  read_output_dtypes(reading, value, where, owner, assertion);
  return assertion;
}

}  // namespace assay::optest
