// What a Triton kernel takes of the hardware: registers, spills, stack, barriers. Triton's compiler
// stops at PTX here (triton_compiler.h); its assembler, which comes with it, is asked in a confined
// process of its own that runs no user code, and only where somebody wants to know. What it says is
// about that PTX and is no part of the program.
//
// Borrows all it is given.
#pragma once

#include "engine/node/compilation.h"

namespace assay::node {

class TritonAssembly {
 public:
  TritonAssembly(const Runners& runners, CompileCache& cache, Pythons& pythons)
      : runners_(runners), cache_(cache), pythons_(pythons) {}

  // Adds `resources` to the program's listed kernels; without an assembler, or if it refuses the
  // PTX, they stay without.
  void examine(Program& program, const std::stop_token& stop) const;

 private:
  const Runners& runners_;
  CompileCache& cache_;
  Pythons& pythons_;
};

}  // namespace assay::node
