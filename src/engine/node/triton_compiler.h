// One Triton kernel through Triton's own compiler: a confined process of the user's interpreter
// executes the source and says PTX, how it is launched and which of the contract's arguments it
// takes. All of that is a claim of a process that ran the user's code: checked here for form, and
// trusted only because what the PTX computes, in another process, is right.
//
// What was compiled once is not compiled again: the cache's key is the source with its metas,
// launch, target and interpreter.
//
// Borrows all of them; immutable, any thread. Each compile makes a process of its own and ends it.
#pragma once

#include <stop_token>
#include <variant>

#include "engine/node/compilation.h"
#include "engine/node/pythons.h"

namespace assay::node {

class TritonCompiler {
 public:
  TritonCompiler(const Runners& runners, CompileCache& cache, Pythons& pythons)
      : runners_(runners), cache_(cache), pythons_(pythons) {}

  // For the target that `goal` names; for the emulator's, what it executes.
  [[nodiscard]] std::variant<Program, Ended> compile(const KernelSource& source,
                                                     const CompileGoal& goal,
                                                     const std::stop_token& stop) const;

 private:
  using Answer = std::variant<frames::Frame, Ended>;

  // The answer of one confined compile, with how long it took.
  [[nodiscard]] Answer ask(PythonZygote& zygote, nlohmann::json request, const CompileGoal& goal,
                           const std::stop_token& stop) const;

  const Runners& runners_;
  CompileCache& cache_;
  Pythons& pythons_;
};

}  // namespace assay::node
