#include "plans/optest/paths.h"

#include "plans/optest/tokens.h"
#include "plans/optest/told_types.h"

namespace assay::optest {
namespace {

using nlohmann::json;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::vector<std::string> absolute(const std::filesystem::path& workdir,
                                  const std::vector<std::string>& files,
                                  std::vector<std::filesystem::path>& into) {
  std::vector<std::string> texts;
  for (const auto& file : files) {
    into.push_back((workdir / file).lexically_normal());
    texts.push_back(into.back().string());
  }
  return texts;
}

void add_files(std::map<std::string, std::string>& tokens, const std::string& stem,
               const std::vector<std::string>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) tokens[stem + std::to_string(i)] = files[i];
  tokens[stem + "s"] = joined(files);
}

}  // namespace

Resolved resolve(const Plan& plan, const Run& run, const std::filesystem::path& files) {
  const Backend& backend = plan.backends[run.backend];
  const Case& one = plan.cases[run.which];
  const ShapeEntry& shapes = one.shapes[run.shape];
  Resolved result{.workdir = (plan.folder / backend.workdir).lexically_normal()};
  auto& tokens = result.tokens;
  const auto& place = files.empty() ? result.workdir : files;
  add_files(tokens, "input", absolute(place, one.inputs, result.inputs));
  add_files(tokens, "output", absolute(place, one.outputs, result.outputs));
  std::vector<std::string> dtypes;
  for (const auto dtype : one.dtypes) dtypes.emplace_back(contract::name(dtype));
  tokens["chip"] = backend.chip;
  tokens["backend"] = backend.type;
  tokens["case"] = one.name;
  tokens["dtype"] = dtypes.empty() ? "" : dtypes.front();
  tokens["dtypes"] = joined(dtypes);
  tokens["shape"] = shapes.inputs.empty() ? "" : shapes.inputs.front().text();
  tokens["shapes"] = "{\"inputs\": " + told_shapes(shapes.inputs).dump() +
                     ", \"outputs\": " + told_shapes(shapes.outputs).dump() + "}";
  tokens["workdir"] = result.workdir.string();
  const auto render = [&](const Command& command) {
    Command words;
    for (const auto& word : command) words.push_back(substitute(word, tokens));
    return words;
  };
  for (const auto& command : backend.prepare) result.prepare.push_back(render(command));
  for (const auto& command : backend.cleanup) result.cleanup.push_back(render(command));
  result.command = render(backend.command);
  for (const auto& [key, value] : backend.env) {
    result.environment[substitute(key, tokens)] = substitute(value, tokens);
  }
  return result;
}

}  // namespace assay::optest
