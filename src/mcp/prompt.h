// A message that people start a conversation with: named, with arguments that are strings. Plain
// values, handed over by the owner of the server; `get` is called on a pool thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mcp/json.h"
#include "mcp/tool.h"

namespace assay::mcp {

struct PromptArgument {
  std::string name{};
  std::string description{};
  bool required = false;
  // Values that begin with `prefix`, best first. Empty: there is nothing to suggest.
  std::function<std::vector<std::string>(const std::string& prefix, const CallContext& context)>
      complete{};
};

struct PromptMessage {
  std::string role = "user";
  OrderedJson content = nullptr;  // one content block
};

struct PromptResult {
  std::vector<PromptMessage> messages{};
  // As of a tool's result.
  OrderedJson input_requests = nullptr;
  std::string request_state{};
};

using PromptArguments = std::map<std::string, std::string>;

struct Prompt {
  std::string name{};
  std::string title{};
  std::string description{};
  std::vector<PromptArgument> arguments{};
  // `arguments` holds every required one and nothing that was not declared.
  std::function<PromptResult(const PromptArguments& arguments, const CallContext& context)> get{};
};

[[nodiscard]] OrderedJson text_content(std::string text);

}  // namespace assay::mcp
