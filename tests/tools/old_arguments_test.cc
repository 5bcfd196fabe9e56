// What clients of the system before this one send becomes what today's tools take.
#include "tools/old_arguments.h"

#include "mcp/schema.h"
#include "tests/catch.h"
#include "tools/schemas.h"

using namespace assay;
using mcp::Json;

namespace {

Json read(const char* text) { return Json::parse(text); }

void check_schema(const char* name, const Json& arguments) {
  const auto violations = mcp::Schema(Json(tools::schema(name))).check(arguments);
  INFO(mcp::describe(violations));
  CHECK(violations.empty());
}

}  // namespace

TEST_CASE("flat arguments of evaluate_kernel become a kernel and its reference") {
  const Json made = tools::from_old_evaluate(read(R"({
    "kernel_source": "k", "kernel_type": "cuda", "io_contract": {"args": []},
    "metadata": {"kernel_name": "k"}, "reference_kernel_source": "r",
    "num_trials": 5, "rtol": 0.1, "enable_device_metrics": true})"));
  CHECK(made.dump() == read(R"({
    "kernel": {"source_code": "k", "kernel_type": "cuda", "io": {"args": []},
               "metadata": {"kernel_name": "k"}},
    "ref_kernel": {"source_code": "r", "kernel_type": "torch"},
    "num_trials": 5, "rtol": 0.1, "device_metrics": "on"})")
                           .dump());
  check_schema("evaluate.input.json", made);
  CHECK(tools::from_old_validate(read(R"({"kernel_source": "k", "kernel_type": "cuda"})"))
            .at("until") == Json("validated"));
}

TEST_CASE("a request that is nested, as an object or as text, is unpacked") {
  const Json plain = read(R"({"kernel": {"source_code": "k", "kernel_type": "cuda"}})");
  CHECK(tools::from_old_evaluate({{"request", plain}}).dump() == plain.dump());
  CHECK(tools::from_old_evaluate({{"request", plain.dump()}}).dump() == plain.dump());
  CHECK(tools::from_old_evaluate(plain).dump() == plain.dump());
}

TEST_CASE("flat arguments of compare_kernels, and the oldest form, become two kernels") {
  const Json made = tools::from_old_compare(read(R"({
    "ref_kernel_source": "r", "ref_kernel_type": "cuda", "custom_kernel_source": "c",
    "custom_kernel_type": "cuda", "custom_kernel_io": {"args": []},
    "custom_kernel_metadata": null, "atol": 1})"));
  CHECK(made.dump() == read(R"({
    "ref_kernel": {"source_code": "r", "kernel_type": "cuda"},
    "custom_kernel": {"source_code": "c", "kernel_type": "cuda", "io": {"args": []}},
    "atol": 1})")
                           .dump());
  check_schema("compare.input.json", made);
  const Json oldest = tools::from_old_compare(read(R"({"ref_code": "r", "custom_code": "c"})"));
  CHECK(oldest.at("ref_kernel").at("kernel_type") == Json("torch"));
  CHECK(oldest.at("custom_kernel").at("kernel_type") == Json("torch_cuda"));
  check_schema("compare.input.json", oldest);
}

TEST_CASE("flat arguments of compile_kernel become a kernel, options beside it its metadata") {
  for (const char* text :
       {R"({"kernel_source": "k", "kernel_type": "cuda", "compile_options": ["-O3"]})",
        R"({"request": {"kernel_source": "k", "kernel_type": "cuda", "compile_options": ["-O3"]}})",
        R"({"kernel": {"kernel_source": "k", "kernel_type": "cuda"}, "compile_options": ["-O3"]})",
        R"({"kernel": {"source_code": "k", "kernel_type": "cuda", "metadata": "{}"},
            "compile_options": ["-O3"]})"}) {
    INFO(text);
    const Json made = tools::from_old_compile(read(text));
    CHECK(made.dump() == read(R"({"kernel": {"source_code": "k", "kernel_type": "cuda",
                                  "metadata": {"compile_options": ["-O3"]}}})")
                             .dump());
    check_schema("compile_kernel.input.json", made);
  }
}

TEST_CASE("of a kernel given in both forms neither is dropped: the schema refuses one") {
  const Json both = read(R"({"kernel": {"source_code": "k", "kernel_type": "cuda"},
                             "kernel_source": "other", "kernel_type": "cuda"})");
  for (const Json& made : {tools::from_old_evaluate(both), tools::from_any_evaluate(both),
                           tools::from_old_compile(both)}) {
    CHECK(made.at("kernel").at("source_code") == Json("k"));
    CHECK(made.at("kernel_source") == Json("other"));
  }
}

TEST_CASE("what is no object or of no known form is left for the schema to judge") {
  for (const char* text : {"[]", "7", "null", "\"x\"", "{}", R"({"request": 7})",
                           R"({"request": "{"})", R"({"kernel": 1})", R"({"kernel_source": null})",
                           R"({"kernel_source": null, "kernel": 1, "metadata": {}})"}) {
    INFO(text);
    CHECK_NOTHROW(tools::from_old_evaluate(read(text)));
    CHECK_NOTHROW(tools::from_old_validate(read(text)));
    CHECK_NOTHROW(tools::from_old_compare(read(text)));
    CHECK_NOTHROW(tools::from_old_compile(read(text)));
    CHECK(tools::from_any_evaluate(read("{\"num_trials\": 7}")).dump() == R"({"num_trials":7})");
  }
  CHECK(tools::from_old_compare(read(R"({"request": 7})")).dump() == R"({"request":7})");
}
