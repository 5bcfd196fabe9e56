// An engine for tests of the server's side: a real node on descriptor 3 whose jobs pass at once.
#include "engine/node/link.h"
#include "engine/node/node.h"

int main() {
  using namespace assay;
  node::NodeConfig config{.slots = 2};
  config.kinds["test"] = [](const node::Order&, node::Reporter&, const std::stop_token&) {
    return node::Conclusion{.verdict = job::Verdict::passed};
  };
  config.capabilities = [] { return nlohmann::json::object(); };
  frames::Channel channel(posix::Descriptor(3), node::link::kCaps, false);
  node::Node(config).serve(channel);
  return 0;
}
