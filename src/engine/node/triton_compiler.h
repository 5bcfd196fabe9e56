// One Triton kernel through Triton's own compiler: a confined process of the user's interpreter
// executes the source and says PTX, how it is launched and which of the contract's arguments it
// takes. All of that is a claim of a process that ran the user's code: checked here for form, and
// trusted only because what the PTX computes, in another process, is right.
//
// Borrows both; immutable, any thread. Each call makes a process of its own and ends it.
#pragma once

#include <stop_token>
#include <variant>

#include "engine/node/compilation.h"
#include "engine/node/pythons.h"

namespace assay::node {

class TritonCompiler {
 public:
  TritonCompiler(const Runners& runners, Pythons& pythons) : runners_(runners), pythons_(pythons) {}

  // For the GPU that `goal` names, else for what the emulator executes.
  [[nodiscard]] std::variant<Program, Ended> compile(const KernelSource& source,
                                                     const CompileGoal& goal,
                                                     const std::stop_token& stop) const;

 private:
  const Runners& runners_;
  Pythons& pythons_;
};

}  // namespace assay::node
