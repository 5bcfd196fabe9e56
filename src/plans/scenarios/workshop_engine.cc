#include "plans/scenarios/workshop_engine.h"

#include "plans/scenarios/command_trace.h"

namespace assay::scenarios {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

int timeout_of(const json& request) { return request.value("timeout", 3'600); }

std::vector<std::string> verification(const json& request) {
  const json verify = request.value("verify", json());
  if (verify.is_string()) return {"sh", "-c", verify.get<std::string>()};
  return verify.is_array() ? verify.get<std::vector<std::string>>() : std::vector<std::string>{};
}

// Only what was listed: nothing else of the user's goes.
void remove_images(const json& request, const std::string& engine, const fs::path& cwd,
                   Phases& phases) {
  for (const auto& image : request.value("remove_images", std::vector<std::string>{})) {
    phases.push_back({.name = "remove image",
                      .argv = {engine, "image", "rm", "--force", image},
                      .cwd = cwd,
                      .may_fail = true});
  }
}

void append(std::vector<std::string>& argv, const std::vector<std::string>& more) {
  argv.insert(argv.end(), more.begin(), more.end());
}

Phase build_phase(const json& request, const std::string& engine, const fs::path& workspace,
                  const std::string& label, const std::string& image) {
  const fs::path dockerfile =
      in_copy(request, request.at("dockerfile").get<std::string>(), workspace);
  Phase build{.name = "build",
              .argv = {engine, "build", "--no-cache", "--label", label, "--tag", image, "--file",
                       dockerfile.string()},
              .cwd = workspace,
              .timeout_s = timeout_of(request)};
  if (engine == "docker") {
    build.argv.emplace_back("--progress=plain");
    build.environment["DOCKER_BUILDKIT"] = "1";
  } else {
    // Intermediate images would stay as a cache of the next build.
    build.argv.emplace_back("--layers=false");
  }
  append(build.argv, request.value("build_options", std::vector<std::string>{}));
  build.argv.push_back(workspace.string());
  return build;
}

}  // namespace

fs::path in_copy(const json& request, const std::string& file, const fs::path& workspace) {
  const fs::path original = request.at("workspace").get<std::string>();
  const fs::path inside = fs::path(file).lexically_relative(original);
  const bool is_inside = !inside.empty() && *inside.begin() != "..";
  return is_inside ? workspace / inside : fs::path(file);
}

Phases carry_in_container(const json& request, const std::string& engine, const fs::path& workspace,
                          const fs::path& trace, const std::string& label, const std::string& id) {
  Phases phases;
  const std::string image = "localhost/assay-scenario:" + id;
  const std::string container = "assay-scenario-" + id;
  const fs::path inside = "/workspace";
  const fs::path trace_inside = "/assay-trace";
  remove_images(request, engine, workspace, phases);
  phases.push_back(build_phase(request, engine, workspace, label, image));
  std::vector<std::string> start{engine,
                                 "run",
                                 "--detach",
                                 "--name",
                                 container,
                                 "--label",
                                 label,
                                 "--volume",
                                 workspace.string() + ":" + inside.string(),
                                 "--volume",
                                 trace.string() + ":" + trace_inside.string(),
                                 "--workdir",
                                 inside.string(),
                                 "--entrypoint",
                                 "sleep"};
  append(start, request.value("run_options", std::vector<std::string>{}));
  append(start, {image, "1000000"});
  phases.push_back({.name = "start", .argv = std::move(start), .cwd = workspace, .stays = true});
  const auto in_container = [&](const char* name, const std::vector<std::string>& command) {
    Phase phase{.name = name,
                .argv = {engine, "exec", "--env",
                         "BASH_ENV=" + CommandTrace::start_file(trace_inside), container},
                .cwd = workspace,
                .timeout_s = timeout_of(request)};
    append(phase.argv, command);
    phases.push_back(std::move(phase));
  };
  if (request.contains("post_create")) {
    const fs::path script =
        in_copy(request, request.at("post_create").get<std::string>(), workspace);
    in_container("post-create",
                 {"sh", "-c",
                  "if command -v bash >/dev/null; then exec bash \"$0\"; else exec sh \"$0\"; fi",
                  (inside / script.lexically_relative(workspace)).string()});
  }
  if (const auto verify = verification(request); !verify.empty()) in_container("verify", verify);
  return phases;
}

Phases carry_in_devcontainer(const json& request, const std::string& engine,
                             const fs::path& workspace, const std::string& label) {
  Phases phases;
  remove_images(request, engine, workspace, phases);
  const auto devcontainer = [&](const char* name, const char* verb) {
    return Phase{.name = name,
                 .argv = {"devcontainer", verb, "--docker-path", engine, "--workspace-folder",
                          workspace.string(), "--id-label", label},
                 .cwd = workspace,
                 .timeout_s = timeout_of(request)};
  };
  // --build-no-cache acts only where no container is left over.
  Phase build = devcontainer("build", "up");
  append(build.argv, {"--log-level", "trace", "--remove-existing-container", "--build-no-cache"});
  build.stays = true;
  phases.push_back(std::move(build));
  if (const auto verify = verification(request); !verify.empty()) {
    Phase phase = devcontainer("verify", "exec");
    append(phase.argv, verify);
    phases.push_back(std::move(phase));
  }
  return phases;
}

// Nothing of the user's own caches and settings: what is built is built from nothing.
Phases carry_on_host(const json& request, const fs::path& workspace, const fs::path& trace,
                     const fs::path& home) {
  Phases phases;
  std::map<std::string, std::string> environment{
      {"HOME", home.string()},
      {"BASH_ENV", CommandTrace::start_file(trace)},
      {"XDG_CACHE_HOME", (home / ".cache").string()},
      {"PIP_CACHE_DIR", (home / ".cache/pip").string()},
      {"PIP_NO_CACHE_DIR", "1"},
      {"UV_CACHE_DIR", (home / ".cache/uv").string()},
      {"CCACHE_DISABLE", "1"},
      {"CCACHE_DIR", (home / ".cache/ccache").string()},
      {"SCCACHE_DIR", (home / ".cache/sccache").string()},
      {"TRITON_CACHE_DIR", (home / ".cache/triton").string()},
      {"TORCH_EXTENSIONS_DIR", (home / ".cache/torch_extensions").string()}};
  const auto add = [&](const char* name, std::vector<std::string> argv) {
    phases.push_back({.name = name,
                      .argv = std::move(argv),
                      .cwd = workspace,
                      .environment = environment,
                      .timeout_s = timeout_of(request)});
  };
  if (request.contains("post_create")) {
    add("post-create",
        {"bash",
         in_copy(request, request.at("post_create").get<std::string>(), workspace).string()});
  }
  if (auto verify = verification(request); !verify.empty()) add("verify", std::move(verify));
  return phases;
}

json edited_devcontainer(json document, const json& request) {
  if (!document.is_object()) document = json::object();
  for (const char* key : {"image", "cacheFrom", "cacheTo", "dockerComposeFile"})
    document.erase(key);
  json build = document.value("build", json::object());
  if (!build.is_object()) build = json::object();
  for (const char* key : {"cacheFrom", "cacheTo", "options"}) build.erase(key);
  if (request.contains("dockerfile")) build["dockerfile"] = request.at("dockerfile");
  if (build.contains("dockerfile")) build.erase("dockerFile");
  document["build"] = std::move(build);
  document.erase("dockerFile");
  if (request.contains("post_create")) document["postCreateCommand"] = request.at("post_create");
  return document;
}

}  // namespace assay::scenarios
