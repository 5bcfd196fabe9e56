// Who is let in, row by row.
#include "mcp/http/access.h"

#include "tests/catch.h"

using namespace assay::mcp::http;

namespace {

int status(const Access& access, const Fields& fields) {
  const auto admitted = access.admit({.method = "POST", .path = "/mcp", .fields = fields});
  const auto* refusal = std::get_if<HttpAnswer>(&admitted);
  return refusal ? refusal->status : 200;
}

}  // namespace

TEST_CASE("the hosts this server answers to", "[http]") {
  const Access local({});
  const Access named({.hosts = {"box.example", "10.0.0.7"}});
  const Access open({.hosts = {"*"}});
  struct Row {
    const char* host;
    int local;
    int named;
  };
  for (const Row& row : std::vector<Row>{{"localhost", 200, 200},
                                         {"LOCALHOST:8000", 200, 200},
                                         {"127.0.0.1:8000", 200, 200},
                                         {"[::1]:8000", 200, 200},
                                         {"[::1]", 200, 200},
                                         {"box.example", 421, 200},
                                         {"box.example:80", 421, 200},
                                         {"10.0.0.7:80", 421, 200},
                                         {"evil.example", 421, 421},
                                         {"localhost.evil.example", 421, 421},
                                         {"evil.example:127.0.0.1", 421, 421},
                                         {"localhost:x", 421, 421},
                                         {"localhost:", 421, 421},
                                         {"127.0.0.1:123456", 421, 421},
                                         {"[::1", 421, 421},
                                         {"[::1]evil", 421, 421},
                                         {"", 421, 421}}) {
    INFO(row.host);
    CHECK(status(local, {{"Host", row.host}}) == row.local);
    CHECK(status(named, {{"Host", row.host}}) == row.named);
  }
  CHECK(status(open, {{"Host", "anything.example"}}) == 200);
  CHECK(status(local, {}) == 400);
  // Which one would count is anyone's guess.
  for (const Access* access : {&local, &open})
    CHECK(status(*access, {{"Host", "localhost"}, {"Host", "localhost"}}) == 400);
}

TEST_CASE("the origins that may speak", "[http]") {
  const Access access({.origins = {"https://tool.example"}});
  struct Row {
    const char* origin;
    int status;
  };
  for (const Row& row : std::vector<Row>{{"http://localhost", 200},
                                         {"http://localhost:6274", 200},
                                         {"https://127.0.0.1:1", 200},
                                         {"http://[::1]:5000", 200},
                                         {"https://tool.example", 200},
                                         {"https://tool.example:444", 403},
                                         {"http://tool.example", 403},
                                         {"http://evil.example", 403},
                                         {"http://localhost.evil.example", 403},
                                         {"http://evil.example/localhost", 403},
                                         {"http://localhost@evil.example", 403},
                                         {"ftp://localhost", 403},
                                         {"null", 403},
                                         {"", 403}}) {
    INFO(row.origin);
    CHECK(status(access, {{"Host", "localhost"}, {"Origin", row.origin}}) == row.status);
  }
}

TEST_CASE("bearer tokens say who asks", "[http]") {
  const Access access({.tokens = {"a-token-of-anna-0001", "a-token-of-bert-0002"}});
  const auto ask = [&](const std::string& authorization) {
    return access.admit(
        {.method = "POST", .fields = {{"Host", "localhost"}, {"Authorization", authorization}}});
  };
  const auto anna = ask("Bearer a-token-of-anna-0001");
  const auto bert = ask("bearer   a-token-of-bert-0002");
  REQUIRE(std::holds_alternative<std::string>(anna));
  REQUIRE(std::holds_alternative<std::string>(bert));
  CHECK(std::get<std::string>(anna) != std::get<std::string>(bert));
  CHECK(std::get<std::string>(anna) != "local");
  CHECK(std::get<std::string>(anna).find("anna") == std::string::npos);

  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer a-token-of-anna-000", "Bearer a-token-of-anna-00011",
        "Basic a-token-of-anna-0001", "a-token-of-anna-0001"}) {
    INFO(wrong);
    const auto refused = ask(wrong);
    const auto* answer = std::get_if<HttpAnswer>(&refused);
    REQUIRE(answer);
    CHECK(answer->status == 401);
    REQUIRE(answer->fields.size() == 1);
    CHECK(answer->fields[0].name == "WWW-Authenticate");
  }
  // Host and Origin come first: a page must not even learn whether its token is right.
  CHECK(status(access, {{"Host", "evil"}, {"Authorization", "Bearer a-token-of-anna-0001"}}) ==
        421);
}

TEST_CASE("pages of allowed origins hear that they are", "[http]") {
  const Access access({});
  HttpRequest request{.method = "POST", .fields = {{"Origin", "http://localhost:6274"}}};
  const Fields fields = access.cross_origin_fields(request);
  REQUIRE_FALSE(fields.empty());
  CHECK(fields[0].value == "http://localhost:6274");
  request.fields[0].value = "http://evil.example";
  CHECK(access.cross_origin_fields(request).empty());
  CHECK(access.cross_origin_fields({}).empty());
}

TEST_CASE("an open door lets in who shows nothing, as nobody; a wrong token is still wrong",
          "[http]") {
  const Access access({.tokens = {"a-token-of-this-test"}});
  const auto through = [&access](const Fields& fields) -> std::string {
    const auto admitted =
        access.admit({.method = "GET", .path = "/", .fields = fields}, Access::Door::open);
    const auto* refusal = std::get_if<HttpAnswer>(&admitted);
    return refusal ? std::to_string(refusal->status) : "as " + std::get<std::string>(admitted);
  };
  const Field host{"Host", "localhost"};
  CHECK(through({host}) == "as ");
  CHECK(
      through({host, {"Authorization", "Bearer a-token-of-this-test"}}).starts_with("as bearer:"));
  CHECK(through({host, {"Authorization", "Bearer another"}}) == "401");
  CHECK(through({{"Host", "evil.example"}}) == "421");
  CHECK(through({host, {"Origin", "https://evil.example"}}) == "403");
}
