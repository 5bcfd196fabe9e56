// Containers and images that a job made. They carry the job's scratch folder as a label, so that
// the job can take all of them down however it ends, and whoever comes next takes down what a
// killed engine left: its folder is gone by then (scratch_folder.h). Nothing without the label is
// touched.
//
// A value; borrows the runner. Any thread. The engine's command is asked; it failing is not told:
// what remains then is found the next time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plans/step_runner.h"

namespace assay::plans {

class OwnedContainers {
 public:
  // `engine`: "docker" or "podman"; anything else owns nothing.
  OwnedContainers(const StepRunner& runner, std::string engine, std::filesystem::path scratch);

  // "assay.scratch=/tmp/…": for --label of what is built and run.
  [[nodiscard]] static std::string label(const std::filesystem::path& scratch);

  // No container of this job stays, and no image that it labelled. `with_their_images`: also those
  // that its containers were made of (the devcontainer command names them itself).
  void remove(bool with_their_images = false) const;
  // Those whose job is gone.
  void remove_abandoned() const;

 private:
  struct Container {
    std::string id{};
    std::string image{};
    std::filesystem::path scratch{};
  };
  [[nodiscard]] std::vector<std::string> lines_of(std::vector<std::string> arguments) const;
  [[nodiscard]] std::vector<Container> containers(const std::string& filter) const;
  void remove_container(const std::string& id) const;
  void remove_images(const std::string& filter) const;

  const StepRunner& runner_;
  std::string engine_;
  std::filesystem::path scratch_;
};

}  // namespace assay::plans
