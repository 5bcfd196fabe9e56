// devcontainer.json: what it takes instead of building it, what it mounts, what its commands do.
#include <algorithm>
#include <array>

#include "plans/scenarios/audit.h"
#include "plans/scenarios/command_audit.h"
#include "plans/scenarios/jsonc.h"

namespace assay::scenarios {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 6> kCommands{"initializeCommand",    "onCreateCommand",
                                               "updateContentCommand", "postCreateCommand",
                                               "postStartCommand",     "postAttachCommand"};

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
    look(document, "/dockerComposeFile", "not_audited",
         "what it builds and mounts is told by a compose file, which is not read");
    look_for_options(document);
    look_for_mounts(document);
    look_for_features(document);
    for (const char* key : {"/containerEnv", "/remoteEnv", "/build/args"})
      look_for_settings(document, key);
    for (const char* key : kCommands) look_at_command(document, key);
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

  // Null if it is not there.
  static const json* given(const json& document, const std::string& pointer) {
    const json::json_pointer at(pointer);
    if (!document.contains(at) || document.at(at).is_null()) return nullptr;
    return &document.at(at);
  }

  void look(const json& document, const std::string& pointer, const char* kind,
            const char* message) {
    if (const json* value = given(document, pointer))
      note(kind, pointer, pointer.substr(1) + ": " + short_text(*value), message);
  }

  void look_for_options(const json& document) {
    const json* options = given(document, "/build/options");
    if (options == nullptr || !options->is_array()) return;
    for (std::size_t i = 0; i < options->size(); ++i) {
      const std::string option = short_text((*options)[i]);
      const std::string pointer = "/build/options/" + std::to_string(i);
      if (option.starts_with("--cache-from"))
        note("cache_from", pointer, option, "layers come from a cache");
      if (option.starts_with("--cache-to"))
        note("cache_to", pointer, option, "layers go into a cache");
      for (auto& remark : remarks_on_settings(option))
        note(remark.kind, pointer, option, std::move(remark.message));
    }
  }

  // Volumes and folders that were filled before: {source, target}, "source=…,target=…", and what
  // runArgs mount by -v, --volume and --mount.
  void look_for_mounts(const json& document) {
    if (const json* mounts = given(document, "/mounts"); mounts != nullptr && mounts->is_array()) {
      for (std::size_t i = 0; i < mounts->size(); ++i)
        look_at_mount((*mounts)[i], "/mounts/" + std::to_string(i));
    }
    const json* options = given(document, "/runArgs");
    if (options == nullptr || !options->is_array()) return;
    for (std::size_t i = 0; i < options->size(); ++i) {
      const std::string option = short_text((*options)[i]);
      const bool is_apart = option == "-v" || option == "--volume" || option == "--mount";
      const bool is_joined = option.starts_with("-v") || option.starts_with("--volume=") ||
                             option.starts_with("--mount=");
      const std::size_t at = is_apart ? i + 1 : i;
      if ((is_apart || is_joined) && at < options->size())
        look_at_mount((*options)[at], "/runArgs/" + std::to_string(at));
    }
  }

  void look_at_mount(const json& mount, const std::string& pointer) {
    const std::string text = short_text(mount);
    if (is_cache_volume(text))
      note("cache_mount", pointer, text, "mounts a cache that was filled before");
  }

  void look_for_features(const json& document) {
    const json* features = given(document, "/features");
    if (features == nullptr || !features->is_object()) return;
    for (const auto& [name, options] : features->items()) {
      std::string key;
      for (const char letter : name)
        key += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
      if (is_cache_volume(name) || is_cache_volume(options.dump()))
        note("compiler_cache", "/features/" + key, name, "a feature brings a cache");
    }
  }

  void look_for_settings(const json& document, const std::string& pointer) {
    const json* settings = given(document, pointer);
    if (settings == nullptr || !settings->is_object()) return;
    for (const auto& [name, value] : settings->items()) {
      const std::string text = name + "=" + short_text(value);
      for (auto& remark : remarks_on_settings(text))
        note(remark.kind, pointer + "/" + name, text, std::move(remark.message));
    }
  }

  // A text is a shell's, a list an argv, an object several of them that run side by side.
  void look_at_command(const json& document, const std::string& key) {
    const json* value = given(document, "/" + key);
    if (value == nullptr) return;
    if (!value->is_object()) return audit(*value, "/" + key);
    for (const auto& [name, one] : value->items()) audit(one, "/" + key + "/" + name);
  }

  void audit(const json& command, const std::string& pointer) {
    const int line = line_of(pointer);
    std::vector<ShellCommand> commands;
    if (command.is_string()) {
      for (const auto& one : logical_lines(command.get<std::string>(), Dialect::shell, line)) {
        // Escaped line ends of JSON are no lines of the file.
        for (auto& said : commands_of(Joined(one.code.text(), line)))
          commands.push_back(std::move(said));
      }
    } else if (command.is_array() &&
               std::all_of(command.begin(), command.end(),
                           [](const json& word) { return word.is_string(); })) {
      commands = commands_of(command.get<std::vector<std::string>>(), line);
    }
    for (const auto& one : commands) audit_command(one, file_, subject_, findings_);
  }

  // A builder image may be named anywhere.
  void walk(const json& value, const std::string& pointer) {
    if (value.is_object()) {
      for (const auto& [key, member] : value.items()) walk(member, pointer + "/" + key);
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i)
        walk(value[i], pointer + "/" + std::to_string(i));
    } else if (value.is_string()) {
      const std::string text = value.get<std::string>();
      if (const auto* name = forbidden_in(text, subject_))
        note("builder_image", pointer, text, "names the image '" + *name + "'");
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
