#include "engine/node/finding_text.h"

namespace assay::node {
namespace {

using nlohmann::json;

std::string index_text(const json& index) {
  std::string text;
  for (const auto& part : index) text += (text.empty() ? "" : ", ") + part.dump();
  return "[" + text + "]";
}

}  // namespace

std::string mismatch_summary(const json& output) {
  const json& worst = output.at("worst");
  std::string text = "Wrong output '" + output.at("name").get<std::string>() +
                     "': " + output.at("mismatches").dump() + " of " +
                     output.at("elements").dump() + " elements differ; worst at " +
                     index_text(worst.at("index")) + ": got " + worst.at("got").get<std::string>() +
                     ", want " + worst.at("want").get<std::string>() + ".";
  if (output.contains("pattern"))
    text += " Pattern: " + output.at("pattern").get<std::string>() + ".";
  return text;
}

std::string finding_sentence(const json& item) {
  const std::string tensor = "'" + item.value("tensor", std::string()) + "'";
  if (item.at("check") == "unwritten") {
    return item.at("count").dump() + " of " + item.at("elements").dump() + " elements of " +
           tensor + " were never written, the first at " + item.at("first").dump();
  }
  if (item.at("check") == "repeat_differs") {
    return tensor + " differs from run to run on the same inputs: a race, or memory that is read " +
           "before it is written";
  }
  return item.at("check").get<std::string>() + " in " + tensor;
}

}  // namespace assay::node
