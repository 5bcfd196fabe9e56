// The containers and images that a job makes. They carry the job's scratch folder as a label: when
// this object goes, also by an exception, all of them are taken down, and when one is made, what a
// killed engine left is: its folder is gone by then (scratch_folder.h). Nothing without the label
// is touched.
//
// Owned by one thread; borrows the runner. The engine's command is asked; it failing is not told:
// what remains then is found the next time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plans/step_runner.h"

namespace assay::plans {

class OwnedContainers {
 public:
  // `engine`: "docker" or "podman"; anything else owns nothing. `images_too`: also the images that
  // its containers are made of (the devcontainer command names and labels them itself).
  OwnedContainers(const StepRunner& runner, std::string engine, std::filesystem::path scratch,
                  bool images_too = false);
  ~OwnedContainers();
  OwnedContainers(const OwnedContainers&) = delete;
  OwnedContainers& operator=(const OwnedContainers&) = delete;

  // "assay.scratch=/tmp/…": for --label of what is built and run.
  [[nodiscard]] static std::string label(const std::filesystem::path& scratch);

 private:
  struct Container {
    std::string id{};
    std::string image{};
    std::filesystem::path scratch{};
  };
  [[nodiscard]] std::vector<std::string> lines_of(std::vector<std::string> arguments) const;
  [[nodiscard]] std::vector<Container> containers(const std::string& filter) const;
  void remove_own() const;
  void remove_abandoned() const;
  void remove_container(const std::string& id) const;
  void remove_images(const std::string& filter) const;

  const StepRunner& runner_;
  std::string engine_;
  std::filesystem::path scratch_;
  bool images_too_;
};

}  // namespace assay::plans
