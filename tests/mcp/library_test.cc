// resources/*, prompts/* and completion through a whole server, in both eras.
#include "tests/catch.h"
#include "tests/mcp/fake_tools.h"
#include "tests/transcripts/pipe_endpoint.h"

using namespace assay::mcp;
using assay::transcripts::PipeEndpoint;

namespace {

ServerConfig config() {
  ServerConfig config{.version = "1", .tools = fake_tools()};
  config.resources = {
      .list =
          [](const CallContext& context) {
            return std::vector<Resource>{{.uri = "fake://" + context.principal,
                                          .name = "own",
                                          .title = "Own",
                                          .mime_type = "text/plain",
                                          .size_bytes = 3}};
          },
      .templates = {{.uri_template = "fake://{who}",
                     .name = "who",
                     .complete =
                         [](const std::string& variable, const std::string& prefix,
                            const Json& given, const CallContext&) {
                           return std::vector<std::string>(
                               variable == "who" ? 150 : 0,
                               prefix + (given.contains("what") ? "y" : "x"));
                         }}},
      .read = [](const std::string& uri, const CallContext&) -> std::optional<ResourceContents> {
        if (uri == "fake://text")
          return ResourceContents{.mime_type = "text/plain", .bytes = "said"};
        if (uri == "fake://bytes")
          return ResourceContents{.bytes = std::string("\0\xff\x10", 3), .binary = true};
        if (uri == "fake://broken") throw std::runtime_error("the shelf fell");
        return {};
      }};
  config.prompts = {{.name = "greet",
                     .title = "Greet",
                     .description = "Says hello.",
                     .arguments = {{.name = "name",
                                    .required = true,
                                    .complete =
                                        [](const std::string& prefix, const CallContext&) {
                                          return std::vector<std::string>{prefix + "nna"};
                                        }},
                                   {.name = "mood"}},
                     .get = [](const PromptArguments& arguments, const CallContext&) {
                       return PromptResult{.messages = {{.content = text_content(
                                                             "hello " + arguments.at("name"))}}};
                     }}};
  return config;
}

class Conversation {
 public:
  explicit Conversation(bool modern, const std::string& revision = "2025-11-25")
      : server_(config()), modern_(modern) {
    if (!modern) ask("initialize", {{"protocolVersion", revision}});
  }
  Json ask(const std::string& method, Json params) {
    if (modern_)
      params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                         {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
    server_.send(
        Json({{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}).dump() +
        "\n");
    const auto line = server_.receive(std::chrono::seconds(20));
    REQUIRE(line);
    return Json::parse(*line);
  }

 private:
  PipeEndpoint server_;
  bool modern_;
};

}  // namespace

TEST_CASE("what is offered is advertised, what is not is unknown", "[library]") {
  Conversation modern(true);
  const Json capabilities = modern.ask("server/discover", Json::object())["result"]["capabilities"];
  CHECK(capabilities.contains("resources"));
  CHECK(capabilities.contains("prompts"));
  CHECK(capabilities.contains("completions"));
}

TEST_CASE("resources are listed and read", "[library]") {
  Conversation modern(true);
  const Json list = modern.ask("resources/list", Json::object())["result"];
  CHECK(list["resources"] == Json::array({{{"uri", "fake://local"},
                                           {"name", "own"},
                                           {"title", "Own"},
                                           {"mimeType", "text/plain"},
                                           {"size", 3}}}));
  CHECK(list["cacheScope"] == "private");
  CHECK(list["ttlMs"] == 0);
  CHECK(list["resultType"] == "complete");

  const Json text = modern.ask("resources/read", {{"uri", "fake://text"}})["result"];
  CHECK(text["contents"] ==
        Json::array({{{"uri", "fake://text"}, {"mimeType", "text/plain"}, {"text", "said"}}}));
  CHECK(text.contains("ttlMs"));
  const Json bytes = modern.ask("resources/read", {{"uri", "fake://bytes"}})["result"];
  CHECK(bytes["contents"][0]["blob"] == "AP8Q");

  const Json templates = modern.ask("resources/templates/list", Json::object())["result"];
  CHECK(templates["resourceTemplates"][0]["uriTemplate"] == "fake://{who}");
  CHECK(templates["cacheScope"] == "public");
}

TEST_CASE("a resource that is not there has each era's code", "[library]") {
  const Json modern = Conversation(true).ask("resources/read", {{"uri", "fake://no"}})["error"];
  CHECK(modern["code"] == -32602);
  CHECK(modern["data"]["uri"] == "fake://no");
  const Json legacy = Conversation(false).ask("resources/read", {{"uri", "fake://no"}})["error"];
  CHECK(legacy["code"] == -32002);
  CHECK(Conversation(true).ask("resources/read", {{"uri", "fake://broken"}})["error"]["code"] ==
        -32603);
  CHECK(Conversation(true).ask("resources/read", Json::object())["error"]["code"] == -32602);
  CHECK(Conversation(true).ask("resources/list", {{"cursor", "x"}})["error"]["code"] == -32602);
}

TEST_CASE("prompts are listed, filled in, and refused what they lack", "[library]") {
  Conversation modern(true);
  const Json list = modern.ask("prompts/list", Json::object())["result"];
  CHECK(list["prompts"][0]["arguments"][0] == Json({{"name", "name"}, {"required", true}}));
  CHECK(list.contains("ttlMs"));
  const Json got =
      modern.ask("prompts/get", {{"name", "greet"}, {"arguments", {{"name", "Anna"}}}})["result"];
  CHECK(got["messages"] ==
        Json::array({{{"role", "user"}, {"content", {{"type", "text"}, {"text", "hello Anna"}}}}}));
  CHECK_FALSE(got.contains("ttlMs"));
  for (const Json& params : std::vector<Json>{{{"name", "no"}},
                                              {{"name", "greet"}},
                                              {{"name", "greet"}, {"arguments", {{"name", 7}}}},
                                              {{"name", "greet"}, {"arguments", 7}},
                                              {{"arguments", Json::object()}}}) {
    INFO(params.dump());
    CHECK(modern.ask("prompts/get", params)["error"]["code"] == -32602);
  }
}

TEST_CASE("completion suggests at most a hundred values and says how many there are", "[library]") {
  Conversation modern(true);
  const auto complete = [&](const Json& ref, const char* name) {
    return modern.ask("completion/complete",
                      {{"ref", ref}, {"argument", {{"name", name}, {"value", "A"}}}});
  };
  const Json prompt = {{"type", "ref/prompt"}, {"name", "greet"}};
  CHECK(complete(prompt, "name")["result"]["completion"] ==
        Json({{"values", {"Anna"}}, {"total", 1}, {"hasMore", false}}));
  CHECK(complete(prompt, "mood")["result"]["completion"]["values"] == Json::array());
  const Json family = {{"type", "ref/resource"}, {"uri", "fake://{who}"}};
  const Json many = complete(family, "who")["result"]["completion"];
  CHECK(many["values"].size() == 100);
  CHECK(many["total"] == 150);
  CHECK(many["hasMore"] == true);
  CHECK(many["values"][0] == "Ax");
  const auto knowing = [&](const Json& context) {
    return modern.ask("completion/complete", {{"ref", family},
                                              {"argument", {{"name", "who"}, {"value", "A"}}},
                                              {"context", context}})["result"];
  };
  CHECK(knowing({{"arguments", {{"what", "b"}}}})["completion"]["values"][0] == "Ay");
  for (const Json& none : {Json::object(), Json{{"arguments", 5}}, Json{{"arguments", nullptr}}})
    CHECK(knowing(none)["completion"]["values"][0] == "Ax");
  for (const Json& argument : std::vector<Json>{5,
                                                nullptr,
                                                {{"name", "who"}, {"value", 5}},
                                                {{"name", 5}, {"value", ""}},
                                                {{"name", "who"}},
                                                {{"value", ""}}}) {
    INFO(argument.dump());
    CHECK(modern.ask("completion/complete",
                     {{"ref", prompt}, {"argument", argument}})["error"]["code"] == -32602);
  }
  for (const Json& ref : std::vector<Json>{{{"type", "ref/prompt"}, {"name", "no"}},
                                           {{"type", "ref/resource"}, {"uri", "fake://no"}},
                                           {{"type", "ref/other"}},
                                           Json::object()})
    CHECK(complete(ref, "name")["error"]["code"] == -32602);
}

TEST_CASE("older revisions hear no title", "[library]") {
  Conversation old(false, "2025-03-26");
  CHECK_FALSE(
      old.ask("resources/list", Json::object())["result"]["resources"][0].contains("title"));
  const Json prompts = old.ask("prompts/list", Json::object())["result"];
  CHECK_FALSE(prompts["prompts"][0].contains("title"));
  CHECK_FALSE(prompts.contains("ttlMs"));
}
