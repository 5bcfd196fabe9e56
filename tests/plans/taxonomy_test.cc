#include "plans/generators/taxonomy.h"

#include "plans/generators/no_cuda.h"
#include "tests/catch.h"

using assay::generators::classify;
using assay::generators::says_no_cuda;
using assay::generators::Status;
using assay::plans::StepEnd;
using nlohmann::json;

namespace {

// As libraries say it on machines without a GPU.
const std::vector<const char*> kNoCuda{
    "Torch not compiled with CUDA enabled",
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
    "No CUDA GPUs are available",
    "CUDA is not available",
    "cudaErrorNoDevice: no CUDA-capable device is detected",
    "CUDA error: no CUDA-capable device is detected",
    "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
    "0 active drivers ([]). There should only be one.",
    "libcuda.so.1: cannot open shared object file: No such file or directory",
    "libcuda.so cannot found!",
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
    "CUDA driver initialization failed, you might not have a CUDA gpu.",
    "Cannot access accelerator device when none is available.",
    "FP8 operations require CUDA device",
};

Status status_of(const json& facts, int exit_code, const std::string& tail = {},
                 const std::string& output = {}) {
  StepEnd end{.exit_code = exit_code, .standard_output = output, .tail = tail};
  return classify(facts, end, true).status;
}

}  // namespace

TEST_CASE("a machine without CUDA is no fault of the code, however it is said") {
  for (const char* text : kNoCuda) {
    INFO(text);
    CHECK(says_no_cuda(text));
    for (const char* type : {"RuntimeError", "AssertionError", "ImportError", "SystemExit"}) {
      const bool is_import = std::string_view(type) == "ImportError";
      const json said = {{"type", type}, {"message", text}, {"is_import", is_import}};
      CHECK(status_of({{"exit_code", 1}, {"exception", said}}, 1) ==
            Status::capability_unsupported);
      CHECK(status_of({{"exit_code", 1}, {"exception", said}, {"comparison_failed", said}}, 1) ==
            Status::capability_unsupported);
      CHECK(status_of({{"exit_code", 1}, {"exception", said}, {"load_failed", said}}, 1) ==
            Status::capability_unsupported);
    }
    CHECK(status_of({{"exit_code", 1}}, 1, std::string("a line\n") + text + "\n") ==
          Status::capability_unsupported);
    const std::string line = json{{"error", text}, {"target_resolved", true}}.dump() + "\n";
    CHECK(status_of({{"exit_code", 1}}, 1, line, line) == Status::capability_unsupported);
  }
}

TEST_CASE("what only speaks of CUDA is what it was") {
  const auto ended = [](const char* type, const char* message) {
    return status_of({{"exit_code", 1},
                      {"exception", {{"type", type}, {"message", message}, {"is_import", false}}}},
                     1);
  };
  CHECK(ended("RuntimeError", "CUDA out of memory. Tried to allocate 2 GiB") ==
        Status::memory_insufficient);
  CHECK(ended("RuntimeError", "CUDA error: an illegal memory access was encountered") ==
        Status::failed);
  CHECK(ended("AttributeError", "module 'torch.cuda' has no attribute 'x'") ==
        Status::api_mismatch);
  const json failed = {{"type", "AssertionError"}, {"message", "1 is not 2"}};
  CHECK(status_of({{"exit_code", 1}, {"exception", failed}, {"comparison_failed", failed}}, 1) ==
        Status::equivalence_failed);
  // A warning that came before the end is not the end.
  CHECK(status_of({{"exit_code", 3}}, 3, "CUDA is not available\nfallback missing\n") ==
        Status::opt_path_not_triggered);
}
