// What is known of GPUs before anything runs there: which the operator shows, which are closed to
// several processes, and the parts of a divided one.
#include "engine/node/gpus.h"

#include <unistd.h>

#include <fstream>
#include <map>

#include "engine/node/devices.h"
#include "tests/catch.h"
#include "tests/folder.h"

using namespace assay;
using node::Devices;
using node::Environment;
using node::Gpu;

namespace {

Environment choice_of(const std::map<std::string, std::string>& variables) {
  return node::operators_choice([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

Gpu with_mode(int index, int mode) {
  return {.index = index,
          .name = "A GPU",
          .uuid = "test-modes-" + std::to_string(::getpid()) + "-" + std::to_string(index),
          .compute_major = 9,
          .facts = {{"compute_mode", mode}, {"pci", "0000:0" + std::to_string(index) + ":00.0"}}};
}

std::string summary_of(const std::vector<Gpu>& list, const std::string& wanted) {
  const node::Runners runners{ASSAY_BINARY_FOLDER "/no-such-runner", {}, {}};
  const Devices devices(runners, "auto", {.list = list}, [](node::GpuPool&) {
    return [](const std::stop_token&) { return std::string(); };
  });
  auto chosen = devices.choose(wanted, Devices::Use::runs, "anna", {});
  if (const auto* ended = std::get_if<node::Ended>(&chosen)) {
    CHECK(ended->verdict == job::Verdict::unsupported);
    return ended->summary;
  }
  return std::get<Devices::Chosen>(chosen).pool->gpu().device();
}

}  // namespace

TEST_CASE("the driver is told what the operator's environment says of GPUs, and nothing else") {
  CHECK(choice_of({}).empty());
  CHECK(choice_of({{"PATH", "/bin"}, {"LD_PRELOAD", "x.so"}}).empty());
  CHECK(choice_of({{"CUDA_VISIBLE_DEVICES", "1,GPU-8932f937"}}) ==
        Environment{{"CUDA_VISIBLE_DEVICES", "1,GPU-8932f937"}});
  // Empty is a choice: no GPU.
  CHECK(choice_of({{"CUDA_VISIBLE_DEVICES", ""}}) == Environment{{"CUDA_VISIBLE_DEVICES", ""}});
  CHECK(choice_of({{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}) ==
        Environment{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}});
}

TEST_CASE("where the operator shows no GPU, what says that there is none names the variable") {
  CHECK(node::why_none("no device", {}) == "no device");
  CHECK(node::why_none("no device", {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}) == "no device");
  CHECK(node::why_none("no device", {{"CUDA_VISIBLE_DEVICES", "-1"}}) ==
        "no device (of those that CUDA_VISIBLE_DEVICES names: \"-1\")");
}

TEST_CASE("a GPU for one process at a time, or for none, says so and what changes that") {
  CHECK(with_mode(0, 0).unusable().empty());
  CHECK(Gpu{.facts = {{"name", "told by an older runner"}}}.unusable().empty());
  for (const int mode : {1, 2, 3}) {
    const std::string why = with_mode(1, mode).unusable();
    CAPTURE(mode, why);
    CHECK(why.find("gpu:1") == 0);
    CHECK(why.find("`nvidia-smi -i 0000:01:00.0 -c 0`") != std::string::npos);
  }
}

TEST_CASE("no job is sent to a GPU that is closed; another is used") {
  CHECK(summary_of({with_mode(0, 3)}, "auto").find("exclusive") != std::string::npos);
  CHECK(summary_of({with_mode(0, 3)}, "gpu").find("exclusive") != std::string::npos);
  CHECK(summary_of({with_mode(0, 3)}, "gpu:0").find("exclusive") != std::string::npos);
  CHECK(summary_of({with_mode(0, 2), with_mode(1, 0)}, "auto") == "gpu:1");
  CHECK(summary_of({with_mode(0, 2), with_mode(1, 0)}, "gpu:0").find("prohibited") !=
        std::string::npos);
}

TEST_CASE("the parts of a divided GPU are reached by the nodes that the driver lists for it") {
  const tests::Folder folder;
  const auto write = [&](const char* path, const char* text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
  };
  constexpr const char* kText = "DeviceFileMinor: 30\nDeviceFileMode: 292\nDeviceFileModify: 1\n";
  write("mig/config", "DeviceFileMinor: 1\n");
  write("gpu0/mig/gi3/access", "DeviceFileMinor: 12\nDeviceFileMode: 292\n");
  write("gpu0/mig/gi3/ci0/access", "DeviceFileMinor: 13\n");
  write("gpu0/mig/gi3/ci0/other", "DeviceFileMinor: 99\n");
  write("gpu1/mig/gi5/access", kText);
  write("gpu2/mig/gi1/access", "nothing of the kind\nDeviceFileMinor: x/../../etc\n");
  using Nodes = std::vector<std::string>;
  CHECK(node::instance_nodes(folder.path(), 0) ==
        Nodes{"/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"});
  CHECK(node::instance_nodes(folder.path(), 1) == Nodes{"/dev/nvidia-caps/nvidia-cap30"});
  CHECK(node::instance_nodes(folder.path(), 2).empty());
  CHECK(node::instance_nodes(folder.path(), 7).empty());
  CHECK(node::instance_nodes(folder.path() / "none", 0).empty());
}

TEST_CASE("a device whose kernels reach the host's pageable memory is known by what it told") {
  CHECK_FALSE(Gpu{}.reaches_host_memory());
  CHECK_FALSE(Gpu{.facts = {{"pageable_memory_access", false}}}.reaches_host_memory());
  CHECK(Gpu{.facts = {{"pageable_memory_access", true}}}.reaches_host_memory());
}
