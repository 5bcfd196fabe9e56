// Which headers of torch a host half needs beside those that are compiled ahead.
#include "engine/source/torch_headers.h"

#include "tests/catch.h"

using namespace assay::source;

namespace {

std::string needed(std::string_view source) {
  std::string text;
  for (const auto& header : torch_headers(source)) text += header + " ";
  return text;
}

}  // namespace

TEST_CASE("what is compiled ahead, CUDA's and another's headers are not included again") {
  CHECK(needed("#include <torch/extension.h>\n#include <ATen/ATen.h>\n#include <vector>\n"
               "#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n"
               "#include <ATen/native/cuda/Loops.cuh>\n#include \"mine/torch/nn.h\"\n"
               "#include <torch/../../x.h>\n#include <torch/\n")
            .empty());
  CHECK(torch_prelude("torch::Tensor f(torch::Tensor a);").empty());
}

TEST_CASE("torch's other headers are kept, each once") {
  CHECK(needed("#include <ATen/Parallel.h>\n#include \"ATen/cpu/vec/vec.h\"\n"
               "#include <ATen/Parallel.h>\nvoid f() { at::parallel_for(0, 1, 1, g); }") ==
        "ATen/Parallel.h ATen/cpu/vec/vec.h ");
}

TEST_CASE("parts of torch/extension.h are included for whoever names them") {
  CHECK(needed("namespace F = torch::nn::functional;") == "torch/nn.h ");
  CHECK(needed("using namespace torch; nn::Linear l(1, 2);") == "torch/nn.h ");
  CHECK(needed("#define GUARD torch::NoGradGuard guard\n") == "torch/utils.h ");
  CHECK(needed("struct F : torch::autograd::Function<F> {};") == "torch/autograd.h ");
  CHECK(needed("int nn = a.data(), optim; mine::nn::f(); at::save(x);").empty());
}

TEST_CASE("they are read before the words that mean the CPU") {
  const std::string text = torch_prelude("#include <ATen/Parallel.h>\n");
  const auto hidden = text.find("#undef cuda\n");
  const auto read = text.find("#include <ATen/Parallel.h>\n");
  const auto back = text.find("#pragma pop_macro(\"cuda\")\n");
  REQUIRE(back != std::string::npos);
  CHECK(hidden < read);
  CHECK(read < back);
}
