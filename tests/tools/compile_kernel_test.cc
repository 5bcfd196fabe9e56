// compile_kernel on a fake engine and a real journal: no process, no compiler.
#include "tests/tools/world.h"

using namespace assay;
using namespace assay::tests;
using mcp::Json;
using mcp::ToolResult;

namespace {

class FakeEngine final : public node::Engine {
 public:
  std::vector<node::StageEvent> stages{};
  node::Conclusion conclusion{.verdict = job::Verdict::passed};
  Json architectures = {75, 90, 100};
  std::vector<node::Order> orders{};

  node::Conclusion run(const node::Order& order,
                       const std::function<void(const node::StageEvent&)>& on_stage,
                       const std::stop_token& /*stop*/) override {
    orders.push_back(order);
    for (const auto& stage : stages) on_stage(stage);
    return conclusion;
  }
  Json capabilities() override {
    return {{"toolkit", {{"compiler", "NVRTC 13.0"}, {"architectures", architectures}}},
            {"isolation", {{"level", "L1"}}}};
  }
};

struct CompileWorld : World<FakeEngine> {
  ToolResult compile(const Json& more = Json::object(), const Json& metadata = nullptr) {
    Json arguments = {
        {"kernel", {{"source_code", "__global__ void k() {}"}, {"kernel_type", "cuda"}}}};
    if (!metadata.is_null()) arguments["kernel"]["metadata"] = metadata;
    arguments.update(more);
    return call(tools::compile_kernel(jobs), arguments);
  }
};

std::string pointers(const ToolResult& result) {
  std::string text;
  for (const auto& one : result.structured.at("error").at("violations")) {
    text += (text.empty() ? "" : " ") + one.at("pointer").get<std::string>();
  }
  return text;
}

Json diagnostic() {
  return {{"severity", "error"}, {"file", "kernel.cu"},  {"line", 1},
          {"column", 5},         {"end_line", 1},        {"end_column", 9},
          {"message", "bad"},    {"excerpt", "    nope"}};
}

}  // namespace

TEST_CASE("a listing needs no contract and is ordered for the target asked for") {
  CompileWorld world;
  world.engine.stages = {{.record = {.name = "compiled",
                                     .body = {{"arch", "sm_100a"},
                                              {"diagnostics", Json::array()},
                                              {"kernels", Json::array()},
                                              {"contract", nullptr}}}},
                         {.record = {.name = "concluded"}}};
  const auto result = world.compile({{"arch", "sm_100a"}});
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict") == "passed");
  CHECK(result.structured.at("compiled") == true);
  CHECK(result.structured.at("arch") == "sm_100a");
  CHECK(result.structured.at("stages").size() == 3);
  CHECK_FALSE(result.structured.contains("kernel_exec_result"));
  REQUIRE(world.engine.orders.size() == 1);
  CHECK(world.engine.orders[0].request.at("listing").at("arch") == "sm_100a");
  CHECK_FALSE(world.engine.orders[0].request.at("kernel").contains("contract"));
  CHECK(world.engine.orders[0].kind == "kernel");
}

TEST_CASE("a source that does not compile is an answer with its diagnostics, also in get_job") {
  CompileWorld world;
  world.engine.stages = {
      {.record = {.name = "compiled",
                  .status = job::StageStatus::failed,
                  .body = {{"detail", {{"log", "text"}, {"diagnostics", {diagnostic()}}}}}}}};
  world.engine.conclusion = {
      .verdict = job::Verdict::compile_failed,
      .body = {{"summary", "no"}, {"detail", {{"log", "text"}, {"diagnostics", {diagnostic()}}}}}};
  const auto result = world.compile();
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict") == "compile_failed");
  CHECK(result.structured.at("compiled") == false);
  CHECK(Json(result.structured).at("diagnostics")[0] == diagnostic());
  CHECK(result.text.find("kernel.cu:1:5: error: bad\n        nope") != std::string::npos);
  const auto again =
      call(tools::get_job(world.jobs), {{"job_id", result.structured.at("job_id")}, {"wait_s", 1}});
  CHECK(again.structured.at("diagnostics") == result.structured.at("diagnostics"));
  CHECK(again.structured.at("compiled") == false);
}

TEST_CASE("a target the toolkit lacks is refused with the list of those it has") {
  CompileWorld world;
  for (const char* arch : {"sm_95", "sm_75a", "sm_90f", "compute_10"}) {
    const auto result = world.compile({{"arch", arch}});
    CHECK(result.is_error);
    CHECK(pointers(result) == "/arch");
    CHECK(result.text.find("sm_75, sm_90, sm_100") != std::string::npos);
  }
  CHECK(world.engine.orders.empty());
  for (const char* arch : {"sm_75", "compute_90a", "sm_100f"}) {
    CHECK_FALSE(world.compile({{"arch", arch}}).is_error);
  }
  // No compiler, no list: the job says what is missing.
  CompileWorld bare;
  bare.engine.architectures = Json::array();
  CHECK_FALSE(bare.compile({{"arch", "sm_95"}}).is_error);
}

TEST_CASE("each option that names a file, a folder or an output is refused at its place") {
  CompileWorld world;
  const auto result =
      world.compile(Json::object(), {{"compiler_options",
                                      {"-use_fast_math", "--include-path=/etc", "-DX=1", "--pch",
                                       "-DX=1\n--fdevice-time-trace=/tmp/x", "-I/etc"}},
                                     {"name_expressions", {"k<float>", "", "a\nb"}}});
  CHECK(result.is_error);
  CHECK(pointers(result) ==
        "/kernel/metadata/name_expressions/1 /kernel/metadata/name_expressions/2 "
        "/kernel/metadata/compiler_options/1 /kernel/metadata/compiler_options/3 "
        "/kernel/metadata/compiler_options/4 /kernel/metadata/compiler_options/5");
  CHECK(world.engine.orders.empty());
}

TEST_CASE("a contract that is given must be right") {
  CompileWorld world;
  Json arguments = {
      {"kernel", {{"source_code", "x"}, {"kernel_type", "cuda"}, {"io", {{"args", 7}}}}}};
  const auto result = call(tools::compile_kernel(world.jobs), arguments);
  CHECK(result.is_error);
  CHECK(pointers(result) == "/kernel/io/args");
}

TEST_CASE("the PTX comes along when asked for, and is the artifact's") {
  CompileWorld world;
  world.engine.stages = {
      {.record = {.name = "compiled"}, .artifacts = {{"ptx", "text/plain", ".version 9.0\n"}}}};
  CHECK(world.compile({{"include_ptx", true}}).structured.at("ptx") == ".version 9.0\n");
  CHECK_FALSE(world.compile().structured.contains("ptx"));
}

TEST_CASE("a type that is not compiled here is unsupported, not refused") {
  CompileWorld world;
  const auto result = call(tools::compile_kernel(world.jobs),
                           {{"kernel", {{"source_code", "x"}, {"kernel_type", "torch"}}}});
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict") == "unsupported");
}

TEST_CASE("Triton is compiled for a contract and a real target, and without one refused") {
  CompileWorld world;
  const Json io = {{"args", {{{"name", "n"}, {"type", "int"}, {"value", 3}}}},
                   {"launch", {{"grid", {{"x", 1}}}}}};
  const auto compile = [&](Json arguments) {
    Json kernel = {{"source_code", "x"}, {"kernel_type", "triton"}};
    if (arguments.contains("io")) kernel["io"] = arguments["io"];
    arguments.erase("io");
    arguments["kernel"] = kernel;
    return call(tools::compile_kernel(world.jobs), arguments);
  };
  CHECK(pointers(compile(Json::object())) == "/kernel/io");
  CHECK(pointers(compile({{"io", io}, {"arch", "compute_90"}})) == "/arch");
  REQUIRE_FALSE(compile({{"io", io}}).is_error);
  CHECK(world.engine.orders.back().request.at("listing").at("arch") == "sm_89");
  CHECK(world.engine.orders.back().request.at("listing").at("draft").is_null());
}

TEST_CASE("what the source gives away of a contract goes with the order, host code included") {
  CompileWorld world;
  const auto draft_of = [&](const char* source, const Json& metadata = nullptr) {
    Json arguments = {{"kernel", {{"source_code", source}, {"kernel_type", "cuda"}}}};
    if (!metadata.is_null()) arguments["kernel"]["metadata"] = metadata;
    call(tools::compile_kernel(world.jobs), arguments);
    return world.engine.orders.back().request.at("listing").at("draft");
  };
  const Json pasted = draft_of(
      "__global__ void axpy(const float* x, float* y, float a, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] += a * x[i];\n}\n"
      "int main() { int n = 4096; axpy<<<(n + 63) / 64, 64>>>(0, 0, 2.0f, n); }\n");
  CHECK(pasted.at("kernel") == "axpy");
  CHECK(pasted.at("io").at("args")[0].at("role") == "input");
  CHECK(pasted.at("io").at("args")[1].at("role") == "inout");
  CHECK(pasted.at("io").at("args")[3].at("value") == 4096);
  CHECK(pasted.at("io").at("launch").at("block")[0] == 64);
  const char* scale = "template <class T, int N> __global__ void scale(T* p) { p[N] *= 2; }\n";
  const Json instance = draft_of(scale, {{"name_expressions", {"scale<double, 4>"}}});
  CHECK(instance.at("kernel") == "scale<double, 4>");
  CHECK(instance.at("io").at("args")[0].at("tensor_spec").at("dtype") == "float64");
  CHECK(instance.at("metadata").at("name_expressions")[0] == "scale<double, 4>");
  const Json none = draft_of("__global__ void k(float** p) { p[0][0] = 1; }");
  CHECK(none.at("kernel") == Json("k"));
  CHECK(none.at("io").is_null());
  CHECK(none.at("guesses")[0].get<std::string>().find("'p'") == 0);
  CHECK(draft_of("int main() {}").is_null());
  const Json functor = draft_of(
      "struct Twice { __device__ float operator()(float v) const { return 2 * v; } };\n"
      "template <class F> __global__ void map(float* x, F f) { x[0] = f(x[0]); }\n"
      "void run(float* x) { map<<<1, 1>>>(x, Twice{}); }\n");
  CHECK(functor.at("io").is_null());
  CHECK(functor.at("guesses")[0].get<std::string>().find("'f' is passed as F, by value") == 0);
}
