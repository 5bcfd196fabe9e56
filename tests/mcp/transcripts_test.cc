#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/catch.h"
#include "tests/mcp/fake_tools.h"
#include "tests/transcripts/http_endpoint.h"
#include "tests/transcripts/pipe_endpoint.h"
#include "tests/transcripts/replay.h"

namespace {

using namespace assay;

mcp::ServerConfig config() {
  return {.version = "1.2.3", .instructions = "Try echo first.", .tools = mcp::fake_tools()};
}

std::vector<std::filesystem::path> protocol_transcripts() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator("tests/transcripts/protocol"))
    files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string replayed(const std::string& text) {
  transcripts::PipeEndpoint server(config());
  return transcripts::replay(transcripts::parse_transcript(text), server);
}

}  // namespace

TEST_CASE("the server says what the transcripts say", "[transcripts]") {
  const auto files = protocol_transcripts();
  REQUIRE(files.size() >= 14);
  for (const auto& file : files) {
    INFO(file.string());
    transcripts::PipeEndpoint server(config());
    CHECK(transcripts::replay(transcripts::read_transcript(file), server) == "");
  }
}

TEST_CASE("over HTTP it says the same", "[transcripts][http]") {
  // What these pin is the pipe's: lines, the end of input, requests before there is a session, one
  // line for each answer of a batch.
  const std::set<std::string> of_the_pipe = {"batches", "before_initialize", "end_of_input",
                                             "end_with_cancelled", "lines"};
  std::size_t replayed_files = 0;
  for (const auto& file : protocol_transcripts()) {
    if (of_the_pipe.contains(file.stem().string())) continue;
    INFO(file.string());
    transcripts::HttpEndpoint server(config());
    CHECK(transcripts::replay(transcripts::read_transcript(file), server) == "");
    ++replayed_files;
  }
  CHECK(replayed_files >= 12);
}

TEST_CASE("a replay notices every way in which a server may differ", "[transcripts]") {
  const std::string ping = "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
  CHECK(replayed(ping + "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n") == "");
  CHECK(replayed(ping + "< {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n").find("/id") !=
        std::string::npos);
  CHECK(
      replayed(ping + "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n").find("missing") !=
      std::string::npos);
  CHECK(replayed(ping + "< {\"jsonrpc\":\"2.0\",\"id\":1}\n").find("not expected") !=
        std::string::npos);
  CHECK(replayed(ping).find("more than was expected") != std::string::npos);
  CHECK(replayed(ping + "= silence 2000ms\n").find("expected silence") != std::string::npos);
  CHECK(replayed(ping + "<~ {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n").find("none of the") !=
        std::string::npos);
}

TEST_CASE("a rewritten transcript holds", "[transcripts]") {
  const std::string stale =
      "# A stale answer.\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n< "
      "{\"jsonrpc\":\"1.0\"}\n";
  transcripts::PipeEndpoint first(config());
  const std::string fresh = transcripts::rewrite(transcripts::parse_transcript(stale), first);
  CHECK(fresh ==
        "# A stale answer.\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
        "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
  CHECK(replayed(fresh) == "");
}

TEST_CASE("placeholders stand for what changes, and only for that", "[transcripts]") {
  using mcp::OrderedJson;
  const auto differs = [](const char* expected, const char* actual) {
    return !transcripts::difference(OrderedJson::parse(expected), OrderedJson::parse(actual))
                .empty();
  };
  CHECK_FALSE(differs(R"({"a":"<any>"})", R"({"a":[1]})"));
  CHECK(differs(R"({"a":"<any>"})", R"({})"));
  CHECK_FALSE(differs(R"("<uuid>")", R"("123e4567-e89b-12d3-a456-426614174000")"));
  CHECK(differs(R"("<uuid>")", R"("123e4567")"));
  CHECK(differs(R"("<string>")", "7"));
  CHECK(differs(R"("<number>")", R"("7")"));
  CHECK_FALSE(differs(R"({"a":1,"...":"<any>"})", R"({"b":2,"a":1})"));
  CHECK_FALSE(differs(R"([1,"..."])", "[1,2,3]"));
  CHECK(differs("[1]", "[1,2]"));
  CHECK(differs("1", "true"));
}

TEST_CASE("a line that is none of a transcript's is refused by its number", "[transcripts]") {
  CHECK_THROWS_WITH(transcripts::parse_transcript("# ok\n>> no\n"), Catch::Contains("line 2"));
  CHECK_THROWS_WITH(transcripts::parse_transcript("= silence 3\n"), Catch::Contains("line 1"));
}
