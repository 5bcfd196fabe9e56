#include "tools/old_arguments.h"

#include <array>
#include <string>
#include <utility>

namespace assay::tools {
namespace {

using mcp::Json;

// The old tools took their arguments from a member of this name; some clients send it as text.
Json without_request(Json arguments) {
  if (!arguments.is_object() || !arguments.contains("request")) return arguments;
  Json request = arguments["request"];
  if (request.is_string()) request = Json::parse(request.get<std::string>(), nullptr, false);
  if (!request.is_object()) return arguments;
  arguments.erase("request");
  for (auto& [key, value] : arguments.items()) request.emplace(key, std::move(value));
  return request;
}

// Moves `from` out of the arguments, if it is there, to `to` of a kernel.
void move(Json& arguments, const std::string& from, Json& kernel, const char* to) {
  const auto found = arguments.find(from);
  if (found == arguments.end()) return;
  if (!found->is_null()) kernel[to] = std::move(*found);
  arguments.erase(found);
}

// "ref_kernel_source", "ref_kernel_type" … → the kernel `name`. `type` where none is said.
void gather(Json& arguments, const std::string& prefix, const char* io, const char* name,
            const char* type) {
  if (!arguments.contains(prefix + "_source")) return;
  Json kernel = Json::object();
  move(arguments, prefix + "_source", kernel, "source_code");
  move(arguments, prefix + "_type", kernel, "kernel_type");
  move(arguments, prefix + "_metadata", kernel, "metadata");
  move(arguments, io, kernel, "io");
  if (type != nullptr) kernel.emplace("kernel_type", type);
  if (kernel.contains("source_code")) arguments[name] = std::move(kernel);
}

// Counters are asked for in another way now, and the old servers ignored this one.
void drop_ignored(Json& arguments) {
  for (const char* key : {"enable_device_metrics", "outputs"}) arguments.erase(key);
}

}  // namespace

Json from_old_evaluate(Json arguments) {
  arguments = without_request(std::move(arguments));
  if (!arguments.is_object()) return arguments;
  drop_ignored(arguments);
  const bool is_flat = arguments.contains("kernel_source");
  gather(arguments, "kernel", "io_contract", "kernel", nullptr);
  if (is_flat && arguments.contains("kernel") && arguments["kernel"].is_object())
    move(arguments, "metadata", arguments["kernel"], "metadata");
  gather(arguments, "reference_kernel", "reference_io_contract", "ref_kernel", "torch");
  return arguments;
}

Json from_old_validate(Json arguments) {
  arguments = from_old_evaluate(std::move(arguments));
  if (arguments.is_object()) arguments.emplace("until", "validated");
  return arguments;
}

Json from_old_compare(Json arguments) {
  arguments = without_request(std::move(arguments));
  if (!arguments.is_object()) return arguments;
  drop_ignored(arguments);
  gather(arguments, "ref_kernel", "ref_kernel_io", "ref_kernel", nullptr);
  gather(arguments, "custom_kernel", "custom_kernel_io", "custom_kernel", nullptr);
  static constexpr std::array<std::array<const char*, 3>, 2> kCodes{
      {{"ref_code", "ref_kernel", "torch"}, {"custom_code", "custom_kernel", "torch_cuda"}}};
  for (const auto& [code, name, type] : kCodes) {
    Json kernel = {{"kernel_type", type}};
    move(arguments, code, kernel, "source_code");
    if (kernel.contains("source_code")) arguments[name] = std::move(kernel);
  }
  return arguments;
}

}  // namespace assay::tools
