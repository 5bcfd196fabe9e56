#include "mcp/reply.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace {

using namespace assay::mcp;

struct RecordingPeer final : Peer {
  Session own{};
  std::vector<std::string> answers{};
  std::vector<std::string> notifications{};
  Session& session() override { return own; }
  void notify(std::string message) override { notifications.push_back(std::move(message)); }
  void answer(std::string message, std::optional<ErrorCode>) override {
    answers.push_back(std::move(message));
  }
};

struct World {
  std::shared_ptr<RecordingPeer> peer = std::make_shared<RecordingPeer>();
  std::shared_ptr<Exchange> exchange =
      std::make_shared<Exchange>(Exchange{.peer = peer, .id = {std::int64_t{7}}});
  int logged = 0;
  Reply reply() {
    return {exchange, [this](Level, std::string_view) { ++logged; }};
  }
};

}  // namespace

TEST_CASE("a reply answers exactly once", "[reply]") {
  World world;
  int closed = 0;
  world.exchange->closed = [&closed] { ++closed; };
  {
    Reply reply = world.reply();
    Reply moved = std::move(reply);
    moved.notify("n");
    moved.result("{}");
    moved.result("{}");
    moved.error({});
    moved.notify("too late");
  }
  CHECK(world.peer->answers == std::vector<std::string>{R"({"jsonrpc":"2.0","id":7,"result":{}})"});
  CHECK(world.peer->notifications == std::vector<std::string>{"n"});
  CHECK(closed == 1);
  CHECK(world.logged == 0);
}

TEST_CASE("a reply that is dropped answers with an internal error and is logged", "[reply]") {
  World world;
  { const Reply reply = world.reply(); }
  REQUIRE(world.peer->answers.size() == 1);
  CHECK_THAT(world.peer->answers[0], Catch::Contains("-32603") && Catch::Contains("\"id\":7"));
  CHECK(world.logged == 1);
}

TEST_CASE("a cancelled reply says nothing, whatever it is given", "[reply]") {
  World world;
  {
    Reply reply = world.reply();
    world.exchange->open = false;
    reply.notify("n");
    reply.result("{}");
  }
  CHECK(world.peer->answers.empty());
  CHECK(world.peer->notifications.empty());
  CHECK(world.logged == 0);
}
