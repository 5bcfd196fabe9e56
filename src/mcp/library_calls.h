// resources/*, prompts/* and completion/complete: what is there to read besides the tools. What may
// block runs on the tools' pool; the rest is answered at once. Event thread only.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mcp/lifecycle.h"
#include "mcp/method_table.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/tool_calls.h"

namespace assay::mcp {

struct ReadParams {
  std::string uri{};
  void read(Reader& reader) { reader.required("uri", uri); }
};

struct PromptParams {
  std::string name{};
  Json arguments = Json::object();
  void read(Reader& reader) {
    reader.required("name", name);
    reader.optional("arguments", arguments);
  }
};

struct CompleteParams {
  Json ref = Json::object();
  Json argument = Json::object();
  Json context = Json::object();
  void read(Reader& reader) {
    reader.required("ref", ref);
    reader.required("argument", argument);
    reader.optional("context", context);
  }
};

class LibraryCalls {
 public:
  // `identity` must outlive this object.
  LibraryCalls(Resources resources, std::vector<Prompt> prompts, const Identity& identity);

  void list_resources(const Call& call, Reply reply, ToolCalls& pool) const;
  void list_templates(const Call& call, Reply reply) const;
  void read(const Call& call, ReadParams params, Reply reply, ToolCalls& pool) const;
  void list_prompts(const Call& call, Reply reply) const;
  void get_prompt(const Call& call, const PromptParams& params, Reply reply, ToolCalls& pool) const;
  void complete(const Call& call, const CompleteParams& params, Reply reply, ToolCalls& pool) const;

  [[nodiscard]] static Offers offers_of(const Resources& resources,
                                        const std::vector<Prompt>& prompts, bool logging);

 private:
  using Suggest = std::function<std::vector<std::string>(const CallContext&)>;

  [[nodiscard]] const Prompt* find_prompt(const std::string& name) const;
  // What completes the argument that `params` names; an empty function: nothing does.
  [[nodiscard]] std::variant<Suggest, RpcError> suggestion(const CompleteParams& params) const;

  const Resources resources_;
  const std::vector<Prompt> prompts_;
  const Identity& identity_;
};

}  // namespace assay::mcp
