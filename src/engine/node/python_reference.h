// A reference in Python (torch, multi_kernel) for a kernel that is device code: a module on CPU
// tensors, or on those of the GPU that the kernel runs on, in a confined process of its own, that
// says what the kernel's outputs must be. It is not timed: its launches are the interpreter's, the
// kernel's are not.
//
// Owned by the job's thread; borrows what it is given.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/node/python_session.h"
#include "engine/node/pythons.h"
#include "engine/node/runners.h"

namespace assay::node {

class PythonReference {
 public:
  // `gpu`: null for CPU tensors. `compiler`: of a torch_cuda source's kernels.
  PythonReference(const Runners& runners, Pythons& pythons, const Compiler& compiler,
                  const Gpu* gpu, std::stop_token stop)
      : runners_(runners),
        pythons_(pythons),
        compiler_(compiler),
        gpu_(gpu),
        stop_(std::move(stop)) {}
  ~PythonReference();
  PythonReference(const PythonReference&) = delete;
  PythonReference& operator=(const PythonReference&) = delete;

  // Starts the process and executes the source.
  [[nodiscard]] std::optional<Ended> load(const KernelSource& source,
                                          std::chrono::milliseconds timeout);
  // A reference without a contract of its own is given the tensors of the kernel's, and what else
  // its parameters name.
  [[nodiscard]] std::optional<Ended> bind(const KernelSource& source,
                                          const contract::Contract& judged,
                                          const std::vector<TensorPlace>& places);
  // `in_double`: as for PythonSession::run().
  [[nodiscard]] std::optional<Ended> run(LentArena arena, std::uint32_t trial,
                                         std::chrono::nanoseconds& execution_left,
                                         const char* in_double = nullptr);

  // Its process is to end; nothing is asked of it any more.
  void dismiss() noexcept {
    if (session_) session_->dismiss();
  }

  // Of what is called: "Model.forward".
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  const Runners& runners_;
  Pythons& pythons_;
  const Compiler& compiler_;
  const Gpu* gpu_;
  std::stop_token stop_;
  PythonZygote* zygote_ = nullptr;
  std::unique_ptr<PythonSession> session_{};
  std::string name_{};
};

}  // namespace assay::node
