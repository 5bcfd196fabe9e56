#include "plans/scenarios/audit.h"
#include "plans/scenarios/jsonc.h"

namespace assay::scenarios {
namespace {

using nlohmann::json;

// The text of a value for a message.
std::string short_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class DevcontainerAudit {
 public:
  DevcontainerAudit(const Jsonc& parsed, const std::string& file, const Subject& subject)
      : parsed_(parsed), file_(file), subject_(subject) {}

  std::vector<Finding> run() {
    const json& document = parsed_.document;
    if (!document.is_object()) {
      findings_.push_back({"unreadable", file_, 1, "", "is no object"});
      return std::move(findings_);
    }
    look(document, "/image", "prebuilt_image", "a finished image is taken instead of being built");
    look(document, "/cacheFrom", "cache_from", "layers come from a cache");
    look(document, "/cacheTo", "cache_to", "layers go into a cache");
    look(document, "/build/cacheFrom", "cache_from", "layers come from a cache");
    look(document, "/build/cacheTo", "cache_to", "layers go into a cache");
    look_for_options(document);
    walk(document, "");
    return std::move(findings_);
  }

 private:
  [[nodiscard]] int line_of(const std::string& pointer) const {
    const auto found = parsed_.lines.find(pointer);
    return found == parsed_.lines.end() ? 1 : found->second;
  }

  void note(const char* kind, const std::string& pointer, const std::string& text,
            std::string message) {
    findings_.push_back({kind, file_, line_of(pointer), text, std::move(message)});
  }

  void look(const json& document, const std::string& pointer, const char* kind,
            const char* message) {
    const json::json_pointer at(pointer);
    if (!document.contains(at) || document.at(at).is_null()) return;
    note(kind, pointer, pointer.substr(1) + ": " + short_text(document.at(at)), message);
  }

  void look_for_options(const json& document) {
    const json::json_pointer at("/build/options");
    if (!document.contains(at) || !document.at(at).is_array()) return;
    for (std::size_t i = 0; i < document.at(at).size(); ++i) {
      const std::string option = short_text(document.at(at)[i]);
      if (option.starts_with("--cache-from"))
        note("cache_from", "/build/options/" + std::to_string(i), option,
             "layers come from a cache");
    }
  }

  // Every text of the file: a builder image may be named anywhere, a command compiles.
  void walk(const json& value, const std::string& pointer) {
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) walk(member, pointer + "/" + key);
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i)
        walk(value[i], pointer + "/" + std::to_string(i));
    } else if (value.is_string()) {
      const std::string text = value.get<std::string>();
      for (const auto& name : subject_.forbidden) {
        if (text.find(name) != std::string::npos)
          note("builder_image", pointer, text, "names the image '" + name + "'");
      }
      if (pointer.find("Command") != std::string::npos &&
          matches_any(subject_.compile_commands, text)) {
        note("compile", pointer, text, "compiles what the scenario counts");
      }
    }
  }

  const Jsonc& parsed_;
  const std::string& file_;
  const Subject& subject_;
  std::vector<Finding> findings_{};
};

}  // namespace

std::vector<Finding> audit_devcontainer(const std::string& text, const std::string& file,
                                        const Subject& subject) {
  const auto parsed = parse_jsonc(text);
  if (const auto* fault = std::get_if<JsoncFault>(&parsed)) {
    return {{"unreadable", file, fault->line, "", "is no JSON with comments: " + fault->message}};
  }
  return DevcontainerAudit(std::get<Jsonc>(parsed), file, subject).run();
}

}  // namespace assay::scenarios
