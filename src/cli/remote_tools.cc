#include "cli/remote_tools.h"

#include <memory>
#include <stdexcept>
#include <utility>

#include "mcp/codec.h"
#include "mcp/http/http_client.h"
#include "mcp/revision.h"
#include "tools/old_arguments.h"

namespace assay::cli {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

constexpr std::chrono::seconds kListPatience{60};
// A wait of an hour, what the job still does when it is over, and the way.
constexpr std::chrono::seconds kCallPatience{2 * 3600};

class Remote {
 public:
  Remote(const std::string& url, std::string token, std::string ca_file)
      : url_(mcp::http::parse_url(url)), token_(std::move(token)) {
    url_.ca_file = std::move(ca_file);
    if (url_.path == "/") url_.path = "/mcp";
  }

  // The result of a request; throws if there is none.
  [[nodiscard]] OrderedJson ask(const std::string& method, OrderedJson params,
                                const std::string& name, std::chrono::seconds patience,
                                const std::stop_token& stop) const {
    const std::string revision(mcp::text(mcp::Revision::v2026_07_28));
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", revision},
                       {"io.modelcontextprotocol/clientCapabilities", OrderedJson::object()},
                       {"io.modelcontextprotocol/clientInfo",
                        {{"name", "assay call"}, {"version", ASSAY_VERSION}}}};
    const OrderedJson message = {
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
    mcp::http::Fields fields{
        {"Accept", "application/json"}, {"MCP-Protocol-Version", revision}, {"Mcp-Method", method}};
    if (!name.empty()) fields.push_back({"Mcp-Name", name});
    if (!token_.empty()) fields.push_back({"Authorization", "Bearer " + token_});
    const auto answer = mcp::http::post(url_, fields, mcp::encode(message), patience, stop);
    const OrderedJson body = OrderedJson::parse(answer.body, nullptr, false);
    if (body.is_object() && body.contains("result")) return body.at("result");
    if (body.is_object() && body.contains("error") && body.at("error").is_object())
      throw std::runtime_error("the server answers " + std::to_string(answer.status) + ": " +
                               body.at("error").value("message", "no reason"));
    throw std::runtime_error("the server answers " + std::to_string(answer.status) +
                             ", and no MCP: is this the URL of an Assay?");
  }

 private:
  mcp::http::Url url_;
  const std::string token_;
};

std::string text_of(const OrderedJson& result) {
  std::string text;
  for (const auto& block : result.value("content", OrderedJson::array()))
    if (block.value("type", "") == "text") text += block.value("text", "");
  return text;
}

ToolResult call(const Remote& remote, const std::string& name, const Json& arguments,
                const CallContext& context) {
  const OrderedJson params = {{"name", name}, {"arguments", arguments}};
  try {
    const OrderedJson result = remote.ask("tools/call", params, name, kCallPatience, context.stop);
    return {.structured = result.value("structuredContent", OrderedJson::object()),
            .text = text_of(result),
            .is_error = result.value("isError", false)};
  } catch (const mcp::http::Unreachable&) {
    if (!context.stop.stop_requested()) throw;
    return {.structured = {{"status", "error"}, {"summary", "Given up, which cancels it there."}},
            .is_error = true};
  }
}

// The server judges the arguments: it takes older forms of them too, which its list does not show.
mcp::Tool tool(const std::shared_ptr<const Remote>& remote, const std::string& name) {
  return {.name = name,
          .input_schema = {{"type", "object"}},
          .run = [remote, name](const Json& arguments, CallContext& context) {
            return call(*remote, name, arguments, context);
          }};
}

}  // namespace

std::vector<mcp::Tool> remote_tools(const std::string& url, const std::string& token,
                                    const std::string& ca_file, const std::string& asked) {
  const auto remote = std::make_shared<const Remote>(url, token, ca_file);
  const OrderedJson listed =
      remote->ask("tools/list", OrderedJson::object(), {}, kListPatience, std::stop_token());
  std::vector<mcp::Tool> tools;
  for (const auto& one : listed.at("tools")) tools.push_back(tool(remote, one.at("name")));
  // Accepted there, and not listed.
  if (tools::is_old_name(asked)) tools.push_back(tool(remote, asked));
  return tools;
}

}  // namespace assay::cli
