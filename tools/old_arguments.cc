#include "tools/old_arguments.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>

namespace assay::tools {
namespace {

using mcp::Json;

constexpr std::array kOldNames = {"evaluate_kernel", "validate_kernel", "compare_kernels",
                                  "get_job_status"};

// Moves `from` out of the arguments, if it is there, to `to` of a kernel.
void move(Json& arguments, const std::string& from, Json& kernel, const char* to) {
  const auto found = arguments.find(from);
  if (found == arguments.end()) return;
  if (!found->is_null()) kernel[to] = std::move(*found);
  arguments.erase(found);
}

bool has_value(const Json& arguments, const std::string& name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && !found->is_null();
}

// "ref_kernel_source", "ref_kernel_type" … → the kernel `name`. `type` where none is said. Of two
// kernels none is preferred: the flat one stays where it is, for the schema to refuse.
bool gather(Json& arguments, const std::string& prefix, const char* io, const char* name,
            const char* type) {
  if (!arguments.contains(prefix + "_source")) return false;
  if (has_value(arguments, name) && has_value(arguments, prefix + "_source")) return false;
  Json kernel = Json::object();
  move(arguments, prefix + "_source", kernel, "source_code");
  move(arguments, prefix + "_type", kernel, "kernel_type");
  move(arguments, prefix + "_metadata", kernel, "metadata");
  move(arguments, io, kernel, "io");
  if (type != nullptr) kernel.emplace("kernel_type", type);
  const bool is_whole = kernel.contains("source_code");
  if (is_whole) arguments[name] = std::move(kernel);
  return is_whole;
}

// Counters are asked for in another way now; "no" was the default, and is left to the operator's.
void adapt_common(Json& arguments) {
  if (const auto wanted = arguments.find("enable_device_metrics"); wanted != arguments.end()) {
    if (*wanted == Json(true) || *wanted == Json("true")) arguments.emplace("device_metrics", "on");
    arguments.erase("enable_device_metrics");
  }
  arguments.erase("outputs");
}

// "kernel_source" where today's name is "source_code", in a kernel that is not flat.
void rename_source(Json& arguments, const char* name) {
  const auto kernel = arguments.find(name);
  if (kernel == arguments.end() || !kernel->is_object() || has_value(*kernel, "source_code"))
    return;
  move(*kernel, "kernel_source", *kernel, "source_code");
}

// Options of the compiler that stand beside the kernel.
void move_options(Json& arguments) {
  const auto kernel = arguments.find("kernel");
  if (kernel == arguments.end() || !kernel->is_object()) return;
  Json& metadata = (*kernel)["metadata"];
  if (metadata.is_string()) {
    Json read = Json::parse(metadata.get<std::string>(), nullptr, false);
    if (read.is_object()) metadata = std::move(read);
  }
  for (const char* name : {"compile_options", "compiler_options"})
    if (metadata.is_null() || metadata.is_object()) move(arguments, name, metadata, name);
  if (metadata.is_null()) kernel->erase("metadata");
}

bool says_any(const Json& arguments, std::initializer_list<const char*> names) {
  return arguments.is_object() && std::any_of(names.begin(), names.end(), [&](const char* name) {
           return arguments.contains(name);
         });
}

// A kernel of an older form inside one of today's members.
bool holds_old_kernel(const Json& arguments, const char* name) {
  const auto kernel = arguments.find(name);
  return kernel != arguments.end() && says_any(*kernel, {"kernel_source"});
}

}  // namespace

bool is_old_name(std::string_view name) {
  return std::find(kOldNames.begin(), kOldNames.end(), name) != kOldNames.end();
}

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

Json from_old_evaluate(Json arguments) {
  arguments = without_request(std::move(arguments));
  if (!arguments.is_object()) return arguments;
  adapt_common(arguments);
  if (gather(arguments, "kernel", "io_contract", "kernel", nullptr))
    move(arguments, "metadata", arguments["kernel"], "metadata");
  rename_source(arguments, "kernel");
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
  adapt_common(arguments);
  gather(arguments, "ref_kernel", "ref_kernel_io", "ref_kernel", nullptr);
  gather(arguments, "custom_kernel", "custom_kernel_io", "custom_kernel", nullptr);
  static constexpr std::array<std::array<const char*, 3>, 2> kCodes{
      {{"ref_code", "ref_kernel", "torch"}, {"custom_code", "custom_kernel", "torch_cuda"}}};
  for (const auto& [code, name, type] : kCodes) {
    if (has_value(arguments, name)) continue;
    Json kernel = {{"kernel_type", type}};
    move(arguments, code, kernel, "source_code");
    if (kernel.contains("source_code")) arguments[name] = std::move(kernel);
  }
  for (const char* name : {"ref_kernel", "custom_kernel"}) rename_source(arguments, name);
  return arguments;
}

Json from_old_compile(Json arguments) {
  arguments = without_request(std::move(arguments));
  if (!arguments.is_object()) return arguments;
  if (gather(arguments, "kernel", "io_contract", "kernel", nullptr))
    move(arguments, "metadata", arguments["kernel"], "metadata");
  rename_source(arguments, "kernel");
  move_options(arguments);
  return arguments;
}

Json from_any_evaluate(Json arguments) {
  if (!says_any(arguments, {"request", "kernel_source"}) && !holds_old_kernel(arguments, "kernel"))
    return arguments;
  return from_old_evaluate(std::move(arguments));
}

Json from_any_compare(Json arguments) {
  if (!says_any(arguments, {"request", "ref_kernel_source", "custom_kernel_source", "ref_code",
                            "custom_code"}) &&
      !holds_old_kernel(arguments, "ref_kernel") && !holds_old_kernel(arguments, "custom_kernel"))
    return arguments;
  return from_old_compare(std::move(arguments));
}

}  // namespace assay::tools
