// Says which GPUs the driver shows, once, and ends. The engine asks it at its start: it never calls
// the driver itself, which may block.
//
//   → {type: "list"}
//   ← {type: "devices", driver: "13.0", devices: [{index, name, uuid, pci, …}]}  or
//     {type: "no_devices", reason}
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/runner/cuda_driver.h"
#include "engine/runner/role.h"

namespace assay::runner {
namespace {

using nlohmann::json;

// An instance of a GPU that was divided (MIG) has an identifier of its own, spelled otherwise.
bool is_instance(std::string_view name) { return name.find(" MIG ") != std::string_view::npos; }

std::string uuid_text(const std::array<unsigned char, 16>& bytes, bool is_instance) {
  std::string text = is_instance ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += two.data();
  }
  return text;
}

json describe(const cuda::Driver& driver, int index) {
  int device = 0;
  driver.check(driver.DeviceGet(&device, index), "cuDeviceGet");
  const auto attribute = [&](cuda::Attribute which) {
    int value = 0;
    driver.check(driver.DeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  std::array<char, 128> name{};
  std::array<char, 32> pci{};
  std::array<unsigned char, 16> uuid{};
  std::size_t memory = 0;
  driver.check(driver.DeviceGetName(name.data(), name.size(), device), "cuDeviceGetName");
  driver.check(driver.DeviceGetPciBusId(pci.data(), pci.size(), device), "cuDeviceGetPCIBusId");
  driver.check(driver.DeviceGetUuid(uuid.data(), device), "cuDeviceGetUuid");
  driver.check(driver.DeviceTotalMem(&memory, device), "cuDeviceTotalMem");
  return {{"index", index},
          {"name", name.data()},
          {"uuid", uuid_text(uuid, is_instance(name.data()))},
          {"mig", is_instance(name.data())},
          {"pci", pci.data()},
          {"memory_bytes", memory},
          {"compute_major", attribute(cuda::kComputeMajor)},
          {"compute_minor", attribute(cuda::kComputeMinor)},
          {"multiprocessors", attribute(cuda::kMultiprocessors)},
          {"compute_mode", attribute(cuda::kComputeMode)},
          {"clock_khz", attribute(cuda::kClockRateKhz)},
          {"memory_clock_khz", attribute(cuda::kMemoryClockRateKhz)},
          {"memory_bus_bits", attribute(cuda::kMemoryBusBits)},
          {"l2_bytes", attribute(cuda::kL2Bytes)},
          {"shared_bytes_per_block", attribute(cuda::kMaxSharedPerBlockOptin)},
          {"pageable_memory_access", attribute(cuda::kPageableMemoryAccess) != 0}};
}

json list_devices() {
  try {
    const cuda::Driver driver;
    driver.check(driver.Init(0), "cuInit");
    int version = 0;
    int count = 0;
    driver.check(driver.DriverGetVersion(&version), "cuDriverGetVersion");
    driver.check(driver.DeviceGetCount(&count), "cuDeviceGetCount");
    json devices = json::array();
    for (int i = 0; i < count; ++i) devices.push_back(describe(driver, i));
    return {{"type", "devices"},
            {"driver", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10)},
            {"devices", std::move(devices)}};
  } catch (const std::runtime_error& error) {
    return {{"type", "no_devices"}, {"reason", error.what()}};
  }
}

}  // namespace

int serve_devices(frames::Channel& channel) {
  while (channel.receive()) {
    frames::Frame reply;
    reply.body = list_devices();
    channel.send(std::move(reply));
  }
  return 0;
}

}  // namespace assay::runner
