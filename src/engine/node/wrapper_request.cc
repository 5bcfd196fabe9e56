#include "engine/node/wrapper_request.h"

#include <algorithm>

namespace assay::node {

using nlohmann::json;

namespace {

// "-D", "N=3" is one option, as it is for any compiler.
std::vector<std::string> whole_options(const json& flags) {
  std::vector<std::string> options;
  for (const auto& flag : flags) {
    const bool is_second = !options.empty() && (options.back() == "-D" || options.back() == "-U");
    if (is_second) {
      options.back() += flag.get<std::string>();
    } else {
      options.push_back(flag.get<std::string>());
    }
  }
  return options;
}

}  // namespace

std::string joined(const json& parts, const std::string& file, const char* otherwise) {
  std::string text;
  for (const auto& part : parts) {
    const auto line = part.at("line").get<std::size_t>();
    text += "#line " + std::to_string(line > 0 ? line : 1) + " \"" + (line > 0 ? file : otherwise) +
            "\"\n" + part.at("text").get<std::string>() + "\n";
  }
  return text;
}

bool has_no_text(const json& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [](const json& part) { return part.at("text") == ""; });
}

bool is_name(const std::string& text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() < 200 && std::all_of(text.begin(), text.end(), is_word);
}

std::string bindings(const json& functions) {
  if (functions.is_null()) return {};
  std::string text = "#line 1 \"functions\"\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {\n";
  for (const auto& function : functions) {
    const auto name = function.get<std::string>();
    if (is_name(name)) text += "module.def(\"" + name + "\", &" + name + ");\n";
  }
  return text + "}\n";
}

std::vector<std::string> device_options(const json& flags) {
  std::vector<std::string> options;
  for (std::string text : whole_options(flags)) {
    if (text == "-use_fast_math") text = "--use_fast_math";
    for (const char* known : {"-D", "-U", "--use_fast_math", "-std=", "--std=", "--maxrregcount=",
                              "-maxrregcount=", "--fmad=", "-fmad=", "--ftz=", "--prec-"}) {
      if (text.starts_with(known)) {
        options.push_back(text);
        break;
      }
    }
  }
  return options;
}

json defines_of(const json& flags) {
  json defines = json::array();
  for (const std::string& text : whole_options(flags)) {
    if (text.starts_with("-D") || text.starts_with("-U")) defines.push_back(text);
  }
  return defines;
}

}  // namespace assay::node
