#include "engine/runner/sanitized_launch.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/runner/gpu_launch.h"
#include "engine/runner/gpu_sequence.h"
#include "engine/runner/kernel_choice.h"
#include "engine/runner/launch_frame.h"
#include "engine/runner/pieces.h"

namespace assay::runner {
namespace {

using nlohmann::json;

constexpr int kNotMade = 70;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Tensors on the device, one allocation each.
class Tensors {
 public:
  Tensors(const GpuContext& context, const json& arguments, const std::string& arena)
      : context_(context) {
    const auto& driver = context_.driver();
    for (const auto& item : arguments) {
      if (item.at("type") != "tensor") continue;
      const auto offset = item.value("from", item.at("offset").get<std::size_t>());
      const auto bytes = item.at("bytes").get<std::size_t>();
      if (offset > arena.size() || bytes > arena.size() - offset) {
        throw std::runtime_error("a tensor outside the arena");
      }
      cuda::Address at = 0;
      if (bytes > 0) driver.check(driver.MemAlloc(&at, bytes), "cuMemAlloc");
      // What nobody has written yet stays so.
      if (bytes > 0 && !item.value("uninitialised", false)) {
        driver.check(driver.MemcpyHtoDAsync(at, arena.data() + offset, bytes, context_.stream()),
                     "cuMemcpyHtoD");
      }
      places_.push_back({{"name", item.at("name")}, {"address", at}, {"bytes", bytes}});
    }
    driver.check(driver.CtxSynchronize(), "inputs");
  }
  // They live as long as the process does.

  [[nodiscard]] const json& places() const { return places_; }
  void put_into(std::vector<Argument>& arguments) const {
    std::size_t next = 0;
    for (Argument& argument : arguments) {
      if (argument.type == "tensor") argument.address = places_.at(next++).at("address");
    }
  }

 private:
  const GpuContext& context_;
  json places_ = json::array();
};

emulator::Launch launch_of(const json& body, const emulator::KernelInfo& kernel,
                           const Tensors& tensors, std::string_view ptx) {
  auto arguments = decode_arguments(body.at("arguments"), 0);
  tensors.put_into(arguments);
  const auto packed = pack(kernel, arguments);
  const auto* block = std::get_if<std::vector<std::byte>>(&packed);
  if (block == nullptr) throw std::runtime_error("arguments that the kernel does not take");
  return {.kernel = kernel.name,
          .grid = decode_dim(body.at("grid")),
          .block = decode_dim(body.at("block")),
          .dynamic_shared_bytes = body.at("shared_bytes"),
          .parameters = *block,
          .cooperative = is_cooperative(ptx)};
}

// Buffers that are neither input nor output begin with zeros, as where a sequence is judged.
void add_scratch(const GpuContext& context, const json& scratch, std::vector<Piece>& pieces,
                 json& places) {
  const auto& driver = context.driver();
  std::size_t number = 0;
  for (const auto& item : scratch) {
    Piece piece{.begin = item.at(0), .bytes = item.at(1)};
    const std::size_t bytes = std::max<std::size_t>(piece.bytes, 1);
    driver.check(driver.MemAlloc(&piece.address, bytes), "cuMemAlloc");
    driver.check(driver.MemsetD8Async(piece.address, 0, bytes, context.stream()), "scratch");
    places.push_back({{"name", "scratch buffer " + std::to_string(++number)},
                      {"address", piece.address},
                      {"bytes", piece.bytes}});
    pieces.push_back(piece);
  }
  driver.check(driver.CtxSynchronize(), "scratch");
}

void launch_sequence(const std::string& folder, const json& body) {
  GpuContext context;
  const Tensors tensors(context, body.at("arguments"), content(folder + "/arena"));
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < tensors.places().size(); ++i) {
    pieces.push_back({.begin = body.at("arguments").at(i).at("offset"),
                      .bytes = tensors.places()[i].at("bytes"),
                      .address = tensors.places()[i].at("address")});
  }
  json places = tensors.places();
  add_scratch(context, body.at("scratch"), pieces, places);
  std::ofstream(folder + "/places.json") << places;
  const std::string blob = content(folder + "/program");
  GpuSequence work(context, in_pieces(decode_sequence(body, blob), std::move(pieces)));
  if (const std::string failure = work.load(); !failure.empty()) throw std::runtime_error(failure);
  // Addresses stand where offsets did.
  const auto& driver = context.driver();
  // A launch behind one that faulted is refused, and the fault is what is being looked at.
  const int queued = work.queue(0);
  const int result = driver.CtxSynchronize();
  if (result == cuda::kSuccess) driver.check(queued, "the launches");
  std::fprintf(stderr, "launched: %d\n", result);
}

void launch_kernel(const std::string& folder, const json& body) {
  const std::string program = content(folder + "/program");
  const std::string_view ptx =
      std::string_view(program).substr(0, body.at("ptx_bytes").get<std::size_t>());
  const auto parsed = emulator::Module::parse(ptx);
  const auto* module = std::get_if<std::shared_ptr<const emulator::Module>>(&parsed);
  if (module == nullptr) throw std::runtime_error("the program is none");
  const auto kernels = (*module)->kernels();
  const emulator::KernelInfo* kernel = choose_kernel(kernels, body.at("kernel").get<std::string>());
  if (kernel == nullptr) throw std::runtime_error("the kernel is not in the program");

  const GpuContext context;
  const auto& driver = context.driver();
  cuda::Handle loaded = nullptr;
  cuda::Handle function = nullptr;
  driver.check(driver.ModuleLoadData(&loaded, program.data() + ptx.size()), "cuModuleLoadData");
  driver.check(driver.ModuleGetFunction(&function, loaded, kernel->name.c_str()),
               "cuModuleGetFunction");
  const Tensors tensors(context, body.at("arguments"), content(folder + "/arena"));
  std::ofstream(folder + "/places.json") << tensors.places();
  const emulator::Launch wanted = launch_of(body, *kernel, tensors, ptx);
  driver.check(driver.FuncSetAttribute(function, cuda::kFunctionMaxDynamicShared,
                                       static_cast<int>(wanted.dynamic_shared_bytes)),
               "dynamic shared memory");
  driver.check(queue_launch(context, function, wanted, wanted.parameters), "the launch");
  // However it ends: that is what is being looked at.
  const int result = driver.CtxSynchronize();
  std::fprintf(stderr, "launched: %d\n", result);
}

void launch(const std::string& folder) {
  const json body = json::parse(content(folder + "/launch.json"));
  if (body.contains("steps")) {
    launch_sequence(folder, body);
  } else {
    launch_kernel(folder, body);
  }
}

}  // namespace

int launch_sanitized(const char* folder) {
  try {
    launch(folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nothing was started: %s\n", error.what());
    return kNotMade;
  }
  return 0;
}

}  // namespace assay::runner
