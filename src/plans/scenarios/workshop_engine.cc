#include "plans/scenarios/workshop_engine.h"

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
                   Carrying& carrying) {
  for (const auto& image : request.value("remove_images", std::vector<std::string>{})) {
    carrying.phases.push_back({.name = "remove image",
                               .argv = {engine, "image", "rm", "--force", image},
                               .cwd = cwd,
                               .may_fail = true});
  }
}

}  // namespace

fs::path in_copy(const json& request, const std::string& file, const fs::path& workspace) {
  const fs::path original = request.at("workspace").get<std::string>();
  const fs::path inside = fs::path(file).lexically_relative(original);
  const bool is_inside = !inside.empty() && *inside.begin() != "..";
  return is_inside ? workspace / inside : fs::path(file);
}

Carrying carry_in_container(const json& request, const std::string& engine,
                            const fs::path& workspace, const std::string& id) {
  Carrying carrying;
  const std::string image = "localhost/assay-scenario:" + id;
  const std::string container = "assay-scenario-" + id;
  const fs::path inside = "/workspace";
  remove_images(request, engine, workspace, carrying);
  const fs::path dockerfile =
      in_copy(request, request.at("dockerfile").get<std::string>(), workspace);
  Phase build{
      .name = "build",
      .argv = {engine, "build", "--no-cache", "--tag", image, "--file", dockerfile.string()},
      .cwd = workspace,
      .timeout_s = timeout_of(request)};
  if (engine == "docker") {
    build.argv.emplace_back("--progress=plain");
    build.environment["DOCKER_BUILDKIT"] = "1";
  }
  for (const auto& argument : request.value("build_options", std::vector<std::string>{}))
    build.argv.push_back(argument);
  build.argv.push_back(workspace.string());
  carrying.phases.push_back(std::move(build));
  std::vector<std::string> start{engine,
                                 "run",
                                 "--detach",
                                 "--name",
                                 container,
                                 "--volume",
                                 workspace.string() + ":" + inside.string(),
                                 "--workdir",
                                 inside.string(),
                                 "--entrypoint",
                                 "sleep"};
  for (const auto& argument : request.value("run_options", std::vector<std::string>{}))
    start.push_back(argument);
  start.push_back(image);
  start.emplace_back("1000000");
  carrying.phases.push_back({.name = "start", .argv = std::move(start), .cwd = workspace});
  const auto in_container = [&](const char* name, std::vector<std::string> command) {
    Phase phase{.name = name,
                .argv = {engine, "exec", container},
                .cwd = workspace,
                .timeout_s = timeout_of(request)};
    phase.argv.insert(phase.argv.end(), command.begin(), command.end());
    carrying.phases.push_back(std::move(phase));
  };
  if (request.contains("post_create")) {
    const fs::path script =
        in_copy(request, request.at("post_create").get<std::string>(), workspace);
    in_container("post-create",
                 {"sh", "-c",
                  "if command -v bash >/dev/null; then exec bash \"$0\"; else exec sh \"$0\"; fi",
                  (inside / script.lexically_relative(workspace)).string()});
  }
  if (auto verify = verification(request); !verify.empty())
    in_container("verify", std::move(verify));
  // docker kills at once; podman asks first and waits.
  std::vector<std::string> remove{engine, "rm", "--force"};
  if (engine == "podman") remove.insert(remove.end(), {"--time", "0"});
  remove.push_back(container);
  carrying.afterwards.push_back(
      {.name = "remove container", .argv = std::move(remove), .cwd = "/", .may_fail = true});
  carrying.afterwards.push_back({.name = "remove image",
                                 .argv = {engine, "image", "rm", "--force", image},
                                 .cwd = "/",
                                 .may_fail = true});
  return carrying;
}

Carrying carry_in_devcontainer(const json& request, const fs::path& workspace) {
  Carrying carrying;
  remove_images(request, "docker", workspace, carrying);
  // --build-no-cache acts only where no container is left over.
  carrying.phases.push_back(
      {.name = "build",
       .argv = {"devcontainer", "up", "--workspace-folder", workspace.string(), "--log-level",
                "trace", "--remove-existing-container", "--build-no-cache"},
       .cwd = workspace,
       .timeout_s = timeout_of(request)});
  if (auto verify = verification(request); !verify.empty()) {
    Phase phase{.name = "verify",
                .argv = {"devcontainer", "exec", "--workspace-folder", workspace.string()},
                .cwd = workspace,
                .timeout_s = timeout_of(request)};
    phase.argv.insert(phase.argv.end(), verify.begin(), verify.end());
    carrying.phases.push_back(std::move(phase));
  }
  return carrying;
}

// Nothing of the user's own caches and settings: what is built is built from nothing.
Carrying carry_on_host(const json& request, const fs::path& workspace, const fs::path& home) {
  Carrying carrying;
  std::map<std::string, std::string> environment{
      {"HOME", home.string()},
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
    carrying.phases.push_back({.name = name,
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
  return carrying;
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
