// Which instances of its template kernels a file launches: "scale<float, 4>", as NVRTC takes them.
// An argument is what the launch writes; else what its arguments make the compiler deduce; else
// what the contract says of the parameter. One that nothing tells is said to be unknown.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/source/launch.h"
#include "engine/source/signature.h"

namespace assay::source {

// The C types of a contract's arguments, in order: "double"; "" where it does not say.
using ArgumentTypes = std::vector<std::string>;

struct TemplateArgument {
  enum class Origin { launch, standard, contract, unknown };
  Origin origin = Origin::unknown;
  std::string text{};  // "" if unknown; the parameter's default if standard
};

// One per template parameter of `signature`.
[[nodiscard]] std::vector<TemplateArgument> template_arguments(const Unit& unit,
                                                               const Signature& signature,
                                                               const Launch& launch,
                                                               const ArgumentTypes& contract = {});

struct LaunchedInstance {
  std::string name{};                        // "scale<float, 4>"
  std::vector<std::string> from_contract{};  // "T = double"
  std::vector<std::string> assumed{};        // "T": nothing tells, so it is float here
  std::vector<std::string> unknown{};  // "N": no instance can be named, `name` is the kernel's
};

// Once each; those whose parameters agree with the contract come first.
[[nodiscard]] std::vector<LaunchedInstance> launched_instances(std::string_view source,
                                                               const ArgumentTypes& contract = {});

}  // namespace assay::source
