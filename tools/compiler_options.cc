#include "tools/compiler_options.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::tools {
namespace {

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
};

}  // namespace

std::string allowed_options() {
  std::string list;
  for (const std::string_view option : kOptions) {
    // Of two spellings the one people write.
    const bool is_second = option.starts_with("--") && option != "--use_fast_math";
    if (!is_second && option != "-use_fast_math") list += " " + std::string(option);
  }
  return list;
}

bool is_allowed_option(const std::string& option) {
  return std::any_of(kOptions.begin(), kOptions.end(), [&](std::string_view allowed) {
    const bool takes_value = allowed.back() == '=' || allowed == "-D" || allowed == "-U";
    return takes_value ? option.size() > allowed.size() && option.rfind(allowed, 0) == 0
                       : option == allowed;
  });
}

}  // namespace assay::tools
