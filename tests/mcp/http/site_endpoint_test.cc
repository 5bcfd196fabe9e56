#include "mcp/http/site_endpoint.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "mcp/event_queue.h"
#include "tests/catch.h"
#include "tests/mcp/http/stage.h"

using namespace assay::mcp;
using namespace assay::mcp::http;

namespace {

// "/wait" waits for its stop, "/throw" throws, everything else says who asked.
struct Served {
  std::atomic<int> waiting{0};
  std::atomic<int> stopped{0};
  EventQueue queue{};
  SiteEndpoint site{
      {.serves = [](const HttpRequest& request) { return request.path != "/no"; },
       .is_public = [](const HttpRequest& request) { return request.path == "/open"; },
       .answer = [this](const Visit& visit) { return answer(visit); },
       .refusal =
           [](int status, const std::string& why) {
             return HttpAnswer{.status = status, .content_type = "text/plain", .body = why};
           }},
      20'000,
      queue,
      {}};

  ~Served() {
    site.stop_all();
    (void)site.drain(std::chrono::seconds(20), nullptr);
  }

  HttpAnswer answer(const Visit& visit) {
    if (visit.request.path == "/throw") throw std::runtime_error("it broke");
    if (visit.request.path == "/wait") {
      ++waiting;
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock(mutex);
      never.wait(lock, visit.stop, [] { return false; });
      ++stopped;
    }
    return {.content_type = "text/plain", .body = visit.principal};
  }
  std::shared_ptr<FakeResponder> start(const std::string& method, const std::string& path,
                                       const std::string& body = {}) {
    auto responder = std::make_shared<FakeResponder>();
    site.handle({.method = method, .path = path, .body = body}, "ada", responder);
    return responder;
  }
  bool until(const std::function<bool()>& happened) {
    for (int i = 0; i < 20'000; ++i) {
      queue.run_tasks();
      if (happened()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
};

}  // namespace

TEST_CASE("a site answers for the principal that asked", "[site]") {
  Served served;
  const auto one = served.start("GET", "/");
  REQUIRE(served.until([&] { return one->complete(); }));
  CHECK(one->status() == 200);
  CHECK(one->answered->body == "ada");
  CHECK(served.site.pending() == 0);
}

TEST_CASE("what a site throws is a fault, and the next one is answered", "[site]") {
  Served served;
  const auto one = served.start("POST", "/throw");
  REQUIRE(served.until([&] { return one->complete(); }));
  CHECK(one->status() == 500);
  CHECK(one->answered->body == "internal error: it broke");
  const auto two = served.start("POST", "/");
  REQUIRE(served.until([&] { return two->complete(); }));
  CHECK(two->status() == 200);
}

TEST_CASE("a visitor who goes away stops what was asked, and nobody is answered", "[site]") {
  Served served;
  const auto one = served.start("POST", "/wait");
  REQUIRE(served.until([&] { return served.waiting == 1; }));
  one->go_away();
  CHECK(served.site.pending() == 0);
  REQUIRE(served.until([&] { return served.stopped == 1; }));
  CHECK_FALSE(one->complete());
}

TEST_CASE("those that wait do not make those that only look wait", "[site]") {
  Served served;
  std::vector<std::shared_ptr<FakeResponder>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(served.start("POST", "/wait"));
  const auto look = served.start("GET", "/");
  REQUIRE(served.until([&] { return look->complete(); }));
  for (const auto& one : waiting) CHECK_FALSE(one->complete());
}

TEST_CASE("more than the server can hold is refused, and held no longer once answered", "[site]") {
  Served served;
  const auto large = served.start("POST", "/wait", std::string(10'000, 'x'));
  REQUIRE(served.until([&] { return served.waiting == 1; }));
  const auto refused = served.start("POST", "/", std::string(10'000, 'x'));
  REQUIRE(refused->complete());
  CHECK(refused->status() == 503);
  CHECK(refused->field("Retry-After") == "1");
  large->go_away();
  const auto taken = served.start("POST", "/", std::string(10'000, 'x'));
  REQUIRE(served.until([&] { return taken->complete(); }));
  CHECK(taken->status() == 200);
}

TEST_CASE("a server that ends answers everybody", "[site]") {
  Served served;
  const auto one = served.start("POST", "/wait");
  REQUIRE(served.until([&] { return served.waiting == 1; }));
  served.site.stop_all();
  CHECK(one->status() == 503);
  REQUIRE(served.until([&] { return served.stopped == 1; }));
}

TEST_CASE("no site serves nothing", "[site]") {
  EventQueue queue;
  const SiteEndpoint none({}, 1, queue, {});
  CHECK_FALSE(none.serves({.path = "/"}));
  CHECK_FALSE(none.is_public({.path = "/"}));
}
