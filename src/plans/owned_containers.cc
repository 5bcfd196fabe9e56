#include "plans/owned_containers.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace assay::plans {
namespace {

constexpr const char* kLabel = "assay.scratch";
constexpr std::chrono::seconds kPatience{60};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

OwnedContainers::OwnedContainers(const StepRunner& runner, std::string engine,
                                 std::filesystem::path scratch, bool images_too)
    : runner_(runner),
      engine_(std::move(engine)),
      scratch_(std::move(scratch)),
      images_too_(images_too) {
  if (engine_ != "docker" && engine_ != "podman") engine_.clear();
  remove_abandoned();
}

OwnedContainers::~OwnedContainers() {
  try {
    remove_own();
  } catch (const std::exception&) {
    // No descriptor left: the next one finds them.
  }
}

std::string OwnedContainers::label(const std::filesystem::path& scratch) {
  return std::string(kLabel) + "=" + scratch.string();
}

// Never cancelled: what was cancelled is what must go.
std::vector<std::string> OwnedContainers::lines_of(std::vector<std::string> arguments) const {
  if (engine_.empty()) return {};
  arguments.insert(arguments.begin(), engine_);
  const StepEnd end = runner_.run(
      {.name = "clean", .argv = std::move(arguments), .cwd = "/", .timeout = kPatience}, {});
  if (!end.succeeded()) return {};
  std::istringstream stream(end.standard_output);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<OwnedContainers::Container> OwnedContainers::containers(
    const std::string& filter) const {
  const std::string format = std::string("{{.ID}} {{.Image}} {{index .Labels \"") + kLabel + "\"}}";
  // docker's labels are no map there, but it has a word for one of them.
  const std::string of_docker = std::string("{{.ID}} {{.Image}} {{.Label \"") + kLabel + "\"}}";
  std::vector<Container> found;
  for (const auto& line : lines_of({"ps", "--all", "--no-trunc", "--filter", "label=" + filter,
                                    "--format", engine_ == "docker" ? of_docker : format})) {
    const auto words = words_of(line);
    if (words.size() == 3) found.push_back({words[0], words[1], words[2]});
  }
  return found;
}

void OwnedContainers::remove_container(const std::string& id) const {
  // docker kills at once; podman asks first and waits.
  std::vector<std::string> arguments{"rm", "--force", "--volumes"};
  if (engine_ == "podman") arguments.insert(arguments.end(), {"--time", "0"});
  arguments.push_back(id);
  (void)lines_of(std::move(arguments));
}

void OwnedContainers::remove_images(const std::string& filter) const {
  const auto ids =
      lines_of({"image", "ls", "--quiet", "--no-trunc", "--filter", "label=" + filter});
  for (const auto& id : std::set<std::string>(ids.begin(), ids.end()))
    (void)lines_of({"image", "rm", "--force", id});
}

void OwnedContainers::remove_own() const {
  std::set<std::string> images;
  for (const auto& container : containers(label(scratch_))) {
    images.insert(container.image);
    remove_container(container.id);
  }
  remove_images(label(scratch_));
  if (!images_too_) return;
  for (const auto& image : images) (void)lines_of({"image", "rm", "--force", image});
}

void OwnedContainers::remove_abandoned() const {
  std::error_code ignored;
  for (const auto& container : containers(kLabel)) {
    if (std::filesystem::exists(container.scratch, ignored)) continue;
    remove_container(container.id);
    remove_images(label(container.scratch));
  }
  // A build that was killed may have left an image and no container.
  for (const auto& id : lines_of(
           {"image", "ls", "--quiet", "--no-trunc", "--filter", std::string("label=") + kLabel})) {
    const auto scratch = lines_of({"image", "inspect", "--format",
                                   std::string("{{index .Config.Labels \"") + kLabel + "\"}}", id});
    if (scratch.size() != 1 || std::filesystem::exists(scratch.front(), ignored)) continue;
    (void)lines_of({"image", "rm", "--force", id});
  }
}

}  // namespace assay::plans
