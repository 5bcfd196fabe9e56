// The kernel runner: device code only. It sees the program, input bytes and empty outputs; never a
// seed, an expected output or a clock that counts.
//
//   → {type: "load", kernel, arguments}  + PTX     kernel: wanted name or ""; arguments without
//   values ← {type: "loaded", kernels, kernel, misfits, unsupported}   or {type: "unloadable",
//   ptx_line, message} → {type: "run", grid, block, shared_bytes, arguments, budget, arena_bytes}
//   + arena descriptor ← {type: "ran", ending, message, fault, counters, printf, printf_truncated,
//   elapsed_ns}
#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>

#include "engine/emulator/emulator.h"
#include "engine/runner/arguments.h"
#include "engine/runner/device.h"
#include "engine/runner/kernel_choice.h"
#include "engine/runner/role.h"

namespace assay::runner {
namespace {

using nlohmann::json;
using posix::SharedMemory;

std::vector<Argument> decode_arguments(const json& list, std::uint64_t arena_address) {
  std::vector<Argument> arguments;
  for (const auto& item : list) {
    Argument argument{.name = item.at("name").get<std::string>(),
                      .type = item.at("type").get<std::string>(),
                      .c_type = contract::parse_dtype(item.value("c_type", std::string()))};
    if (argument.type == "tensor") {
      argument.address = arena_address + item.at("offset").get<std::uint64_t>();
    } else if (argument.type == "float") {
      // JSON has no NaN or infinity: the engine sends the bits.
      argument.real = std::bit_cast<double>(item.at("bits").get<std::uint64_t>());
    } else if (argument.type == "int" || argument.type == "bool") {
      argument.is_unsigned = item.value("unsigned", false);
      argument.integer = std::bit_cast<std::int64_t>(item.at("bits").get<std::uint64_t>());
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

json describe(const emulator::SourceLine& where) {
  // NVRTC puts its working folder before the name it was given; the user knows the name alone.
  const std::string file = where.file.substr(where.file.find_last_of('/') + 1);
  return {{"file", file}, {"line", where.line}, {"column", where.column}};
}

json describe(const emulator::Dim3& dim) { return json::array({dim.x, dim.y, dim.z}); }

json describe(const emulator::Fault& fault) {
  return {{"kind", emulator::name(fault.kind)},
          {"message", fault.message},
          {"instruction", fault.instruction},
          {"where", describe(fault.where)},
          {"block", describe(fault.block)},
          {"thread", describe(fault.thread)},
          {"address", fault.address},
          {"access_bytes", fault.access_bytes},
          {"tensor", fault.buffer},
          {"tensor_offset_bytes", fault.buffer_offset_bytes}};
}

json describe(const emulator::KernelInfo& kernel) {
  json parameters = json::array();
  for (const auto& parameter : kernel.parameters) {
    parameters.push_back({{"type", parameter.type}, {"bytes", parameter.size_bytes}});
  }
  return {{"name", kernel.name},
          {"display_name", display_name(kernel.name)},
          {"base_name", base_name(kernel.name)},
          {"parameters", std::move(parameters)},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"max_threads", kernel.max_threads}};
}

emulator::Dim3 decode_dim(const json& list) {
  return {.x = list.at(0), .y = list.at(1), .z = list.at(2)};
}

class Session {
 public:
  explicit Session(Device& device) : device_(device) {}

  json load(const frames::Frame& request) {
    kernel_ = nullptr;
    auto loaded = device_.load(request.blob);
    if (const auto* error = std::get_if<emulator::ParseError>(&loaded)) {
      return {{"type", "unloadable"}, {"ptx_line", error->ptx_line}, {"message", error->message}};
    }
    kernels_ = std::move(std::get<std::vector<emulator::KernelInfo>>(loaded));
    return describe_choice(request.body);
  }

  json run(frames::Frame request) {
    const json& body = request.body;
    const auto arena_bytes = body.at("arena_bytes").get<std::size_t>();
    if (kernel_ == nullptr) throw std::runtime_error("run without a loaded kernel");
    if (request.descriptors.empty()) throw std::runtime_error("run without an arena");
    const SharedMemory arena =
        SharedMemory::adopt(std::move(request.descriptors.front()), arena_bytes);
    const auto packed =
        pack(*kernel_, decode_arguments(body.at("arguments"), device_.arena_address()));
    const auto* block = std::get_if<std::vector<std::byte>>(&packed);
    if (block == nullptr) throw std::runtime_error("run with arguments that load() refused");

    const json& budget = body.at("budget");
    const emulator::Launch launch{.kernel = kernel_->name,
                                  .grid = decode_dim(body.at("grid")),
                                  .block = decode_dim(body.at("block")),
                                  .dynamic_shared_bytes = body.at("shared_bytes"),
                                  .parameters = *block};
    const emulator::Budget limits{
        .thread_instructions = budget.at("thread_instructions"),
        .wall = std::chrono::nanoseconds(budget.at("wall_ns").get<std::int64_t>()),
        .memory_bytes = budget.at("memory_bytes"),
        .threads = budget.at("threads")};
    if (body.value("fresh_module", false)) device_.reload();
    const auto buffers = tensors(body.at("arguments"), arena);
    const auto outcome = device_.launch(launch, buffers, limits);
    return describe_outcome(outcome);
  }

 private:
  json describe_choice(const json& body) {
    json reply = {{"type", "loaded"}, {"kernels", json::array()}, {"misfits", json::array()}};
    for (const auto& kernel : kernels_) reply["kernels"].push_back(describe(kernel));
    kernel_ = choose_kernel(kernels_, body.at("kernel").get<std::string>());
    if (kernel_ == nullptr) return reply;
    reply["kernel"] = kernel_->name;
    if (!kernel_->unsupported_instruction.empty()) {
      reply["unsupported"] = {{"instruction", kernel_->unsupported_instruction},
                              {"ptx_line", kernel_->unsupported_ptx_line},
                              {"where", describe(kernel_->unsupported_where)}};
    }
    const auto packed =
        pack(*kernel_, decode_arguments(body.at("arguments"), device_.arena_address()));
    if (const auto* misfits = std::get_if<std::vector<Misfit>>(&packed)) {
      for (const auto& misfit : *misfits) {
        reply["misfits"].push_back({{"argument", misfit.argument}, {"message", misfit.message}});
      }
    }
    return reply;
  }

  std::vector<emulator::Buffer> tensors(const json& arguments, const SharedMemory& arena) const {
    std::vector<emulator::Buffer> buffers;
    for (const auto& item : arguments) {
      if (item.at("type") != "tensor") continue;
      const auto offset = item.at("offset").get<std::size_t>();
      const auto bytes = item.at("bytes").get<std::size_t>();
      if (offset > arena.bytes().size() || bytes > arena.bytes().size() - offset) {
        throw std::runtime_error("tensor outside the arena");
      }
      buffers.push_back({.address = device_.arena_address() + offset,
                         .bytes = arena.bytes().subspan(offset, bytes),
                         .name = item.at("name").get<std::string>()});
    }
    return buffers;
  }

  static json describe_outcome(const emulator::Outcome& outcome) {
    json reply = {{"type", "ran"},
                  {"ending", emulator::name(outcome.ending)},
                  {"message", outcome.message},
                  {"counters",
                   {{"warp_instructions", outcome.counters.warp_instructions},
                    {"thread_instructions", outcome.counters.thread_instructions},
                    {"blocks", outcome.counters.blocks}}},
                  {"printf", outcome.printf_output},
                  {"printf_truncated", outcome.printf_truncated},
                  {"elapsed_ns", outcome.wall.count()}};
    if (outcome.ending != emulator::Ending::completed) reply["fault"] = describe(outcome.fault);
    return reply;
  }

  Device& device_;
  std::vector<emulator::KernelInfo> kernels_{};
  const emulator::KernelInfo* kernel_ = nullptr;
};

}  // namespace

int serve_kernel_on(Device& device, frames::Channel& channel) {
  Session session(device);
  while (auto request = channel.receive()) {
    frames::Frame reply;
    if (request->type() == "load") {
      reply.body = session.load(*request);
    } else if (request->type() == "run") {
      reply.body = session.run(std::move(*request));
    } else {
      return 2;
    }
    channel.send(std::move(reply));
  }
  return 0;
}

int serve_kernel(frames::Channel& channel) {
  return serve_kernel_on(*make_emulator_device(), channel);
}

}  // namespace assay::runner
