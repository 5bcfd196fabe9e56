#include "tools/kernel_argument.h"

#include <algorithm>
#include <array>

namespace assay::tools {
namespace {

using contract::Contract;
using contract::Violation;
using mcp::Json;

// NVRTC's user guide, "Supported Compile Options". A trailing '=' takes any value.
constexpr std::array kOptions{
    "-D",
    "--define-macro=",
    "-U",
    "--undefine-macro=",
    "-std=",
    "--std=",
    "-use_fast_math",
    "--use_fast_math",
    "-ftz=",
    "--ftz=",
    "-prec-sqrt=",
    "--prec-sqrt=",
    "-prec-div=",
    "--prec-div=",
    "-fmad=",
    "--fmad=",
    "-maxrregcount=",
    "--maxrregcount=",
    "-extra-device-vectorization",
    "--extra-device-vectorization",
    "-default-device",
    "--device-as-default-execution-space",
    "-restrict",
    "--restrict",
    "-w",
    "--disable-warnings",
    "-diag-suppress=",
    "--diag-suppress=",
    "-diag-warn=",
    "--diag-warn=",
    "-diag-error=",
    "--diag-error=",
    "-lineinfo",
    "--generate-line-info",
    "-G",
    "--device-debug",
    "-dopt=",
    "--dopt=",
    "--dopt",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
};

void read_contract(const Json& argument, const std::string& pointer, const Contract* fallback,
                   ContractNeed need, KernelArgument& out, std::vector<Violation>& violations) {
  const std::string at = pointer + "/io";
  const auto io = argument.find("io");
  if (io == argument.end() || io->is_null()) {
    if (fallback != nullptr) out.contract = *fallback;
  } else if (io->is_string()) {
    violations.push_back({at, "is neither a contract nor JSON text of one"});
    return;
  } else {
    auto parsed = contract::parse(*io, at);
    if (auto* refused = std::get_if<contract::Refused>(&parsed)) {
      violations.insert(violations.end(), refused->violations.begin(), refused->violations.end());
      return;
    }
    auto& good = std::get<contract::Parsed>(parsed);
    out.contract = std::move(good.contract);
    out.warnings = std::move(good.warnings);
  }
  if (need == ContractNeed::as_the_type_says) {
    const auto missing =
        contract::requirements(out.kernel_type, out.contract ? &*out.contract : nullptr, at);
    violations.insert(violations.end(), missing.begin(), missing.end());
  }
  if (out.contract) out.body["contract"] = contract::to_json(*out.contract);
}

// The compiler takes each as a line of its own.
bool is_one_line(std::string_view text) {
  return text.find_first_not_of(' ') != std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' '; });
}

void read_metadata(const Json& argument, const std::string& pointer, KernelArgument& out,
                   std::vector<Violation>& violations) {
  const auto metadata = argument.find("metadata");
  if (metadata == argument.end() || metadata->is_null()) return;
  if (metadata->contains("kernel_name")) out.body["kernel_name"] = metadata->at("kernel_name");
  if (metadata->contains("name_expressions")) {
    const Json& expressions = metadata->at("name_expressions");
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const auto& text = expressions[i].get_ref<const std::string&>();
      if (is_one_line(text)) continue;
      violations.push_back({pointer + "/metadata/name_expressions/" + std::to_string(i),
                            "is no expression on one line, for example \"scale<float>\""});
    }
    out.body["name_expressions"] = expressions;
  }
  // The old system's own documents spell it both ways.
  for (const char* key : {"compiler_options", "compile_options"}) {
    if (!metadata->contains(key)) continue;
    const Json& options = metadata->at(key);
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto& option = options[i].get_ref<const std::string&>();
      if (is_allowed_option(option) && is_one_line(option)) continue;
      violations.push_back({pointer + "/metadata/" + key + "/" + std::to_string(i),
                            "is not an option that may be given to the compiler here"});
    }
    out.body["compiler_options"] = options;
  }
}

}  // namespace

bool is_allowed_option(const std::string& option) {
  return std::any_of(kOptions.begin(), kOptions.end(), [&](std::string_view allowed) {
    const bool takes_value = allowed.back() == '=' || allowed == "-D" || allowed == "-U";
    return takes_value ? option.size() > allowed.size() && option.rfind(allowed, 0) == 0
                       : option == allowed;
  });
}

KernelArgument read_kernel(const Json& argument, const std::string& pointer,
                           const Contract* fallback, std::vector<Violation>& violations,
                           ContractNeed need) {
  KernelArgument out{.kernel_type = argument.at("kernel_type").get<std::string>()};
  out.body = {{"source", argument.at("source_code")}, {"kernel_type", out.kernel_type}};
  const auto& source = argument.at("source_code").get_ref<const std::string&>();
  if (source.find_first_not_of(" \t\r\n") == std::string::npos) {
    violations.push_back({pointer + "/source_code", "is empty"});
  }
  if (source.find('\0') != std::string::npos) {
    violations.push_back({pointer + "/source_code", "holds a NUL character"});
  }
  read_contract(argument, pointer, fallback, need, out, violations);
  read_metadata(argument, pointer, out, violations);
  return out;
}

}  // namespace assay::tools
