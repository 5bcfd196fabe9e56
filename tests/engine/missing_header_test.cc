#include "engine/node/missing_header.h"

#include "tests/catch.h"

using assay::node::lacks_header;
using assay::node::missing_cuda_header;

TEST_CASE("a header of CUDA's that is not there is told from one of the author's") {
  struct Row {
    const char* error;
    const char* header;  // or empty
  };
  const auto row = GENERATE(
      Row{"kernel.cu:1:1: cannot open source file \"curand_kernel.h\"", "curand_kernel.h"},
      Row{"kernel.cu:3: could not open source file \"cub/cub.cuh\" (no directories in search list)",
          "cub/cub.cuh"},
      Row{"The host code does not compile at kernel.py:5: cublas_v2.h: No such file or directory",
          "cublas_v2.h"},
      Row{"fatal error: thrust/sort.h: No such file or directory", "thrust/sort.h"},
      Row{"kernel.cu:1:1: cannot open source file \"my_curand_kernel.h\"", ""},
      Row{"kernel.cu:1:1: cannot open source file \"curand_kernels.h\"", ""},
      Row{"kernel.cu:1:1: cannot open source file \"utils.h\"", ""},
      Row{"kernel.cu:9:3: identifier \"curand_init\" is undefined", ""}, Row{"", ""});
  CAPTURE(row.error);
  CHECK(missing_cuda_header(row.error).value_or("") == row.header);
}

TEST_CASE("what lacks it and whose it is are told with the compiler's words") {
  const auto ended = lacks_header("curand_kernel.h", "kernel.cu:1:1: cannot open it");
  CHECK(ended.verdict == assay::job::Verdict::unsupported);
  CHECK(ended.summary ==
        "The CUDA toolkit of this machine has no curand_kernel.h (of cuRAND): kernel.cu:1:1: "
        "cannot open it");
  CHECK(ended.detail.at("missing") == "curand_kernel.h");
}
