// One run of the probe: start it in the layers, tell it its targets, take down what it found.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/confinement/isolation.h"
#include "engine/confinement/targets.h"

namespace assay::confinement {

struct Interview {
  // Not empty: there are no findings, and why.
  std::string failure{};
  bool is_killed = false;  // and then `failure` is not about the confinement
  Findings findings{};
};

// What children of `test` are given, with limits that a probe reaches quickly.
[[nodiscard]] Confinement confinement_of(const SelfTest& test, const Layers& layers);
// Never throws: what cannot be tested is a failure.
[[nodiscard]] Interview interview(const SelfTest& test, const Layers& layers) noexcept;

// By kind, as the probe reports its own.
[[nodiscard]] nlohmann::json own_namespaces();

}  // namespace assay::confinement
