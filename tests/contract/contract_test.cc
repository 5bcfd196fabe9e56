// Parsing: what is accepted, what is refused and with which words, and that the document
// round-trips.
#include "engine/contract/contract.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

Contract accepted(const json& document, const ParseOptions& options = {}) {
  auto result = parse(document, "", options);
  if (const auto* refused = std::get_if<Refused>(&result)) {
    for (const auto& v : refused->violations) UNSCOPED_INFO(v.pointer << ": " << v.message);
  }
  REQUIRE(std::holds_alternative<Parsed>(result));
  return std::get<Parsed>(result).contract;
}

std::vector<Violation> warnings_of(const json& document) {
  auto result = parse(document);
  REQUIRE(std::holds_alternative<Parsed>(result));
  return std::get<Parsed>(result).warnings;
}

std::vector<Violation> refused(const json& document, const ParseOptions& options = {}) {
  auto result = parse(document, "/io", options);
  REQUIRE(std::holds_alternative<Refused>(result));
  return std::get<Refused>(result).violations;
}

// The one violation of a document that has exactly one.
Violation only_violation(const json& document, const ParseOptions& options = {}) {
  const auto violations = refused(document, options);
  for (const auto& v : violations) UNSCOPED_INFO(v.pointer << ": " << v.message);
  REQUIRE(violations.size() == 1);
  return violations[0];
}

json tensor(const json& spec, const std::string& role = "input", const std::string& name = "x") {
  return {{"name", name}, {"type", "tensor"}, {"role", role}, {"tensor_spec", spec}};
}

json one_arg(const json& arg) { return {{"args", json::array({arg})}}; }

json one_init(const json& init, const std::string& dtype = "float32") {
  return one_arg(tensor({{"shape", {4}}, {"dtype", dtype}, {"init", init}}));
}

json scalar(const std::string& type, const json& value) {
  return {{"name", "n"}, {"type", type}, {"value", value}};
}

json launched(const json& launch) { return {{"args", json::array()}, {"launch", launch}}; }

}  // namespace

TEST_CASE("a document with every field of the schema comes back as it was") {
  const json document = json::parse(R"({
    "args": [
      {"name": "x", "type": "tensor", "role": "input", "tensor_spec": {
        "shape": [8, 4], "strides": [6, 1], "dtype": "bfloat16",
        "init": {"kind": "randn", "seed": 42, "mean": 0.5, "std": 0.02}}},
      {"name": "u", "type": "tensor", "role": "inout", "tensor_spec": {
        "shape": [3], "dtype": "int64",
        "init": {"kind": "uniform", "seed": 7, "low": -9007199254740993, "high": 0},
        "tolerance": {"atol": 1.0, "rtol": 0.0}}},
      {"name": "f", "type": "tensor", "role": "input", "tensor_spec": {
        "shape": [2], "dtype": "float32", "init": {"kind": "full", "fill_value": "-inf"}}},
      {"name": "a", "type": "tensor", "role": "input", "tensor_spec": {
        "shape": [2, 2], "dtype": "complex64", "init": {"kind": "arange", "start": 1, "step": 0.5}}},
      {"name": "d", "type": "tensor", "role": "input", "tensor_spec": {
        "shape": [3], "dtype": "uint8",
        "data": {"data_b64": "AQID", "dtype": "uint8", "shape": [3], "compress": "none"}}},
      {"name": "o", "type": "tensor", "role": "output", "tensor_spec": {
        "shape": [0], "dtype": "bool", "init": {"kind": "zeros"}}},
      {"name": "n", "type": "int", "value": 1000, "c_type": "int64"},
      {"name": "huge", "type": "int", "value": 18446744073709551615},
      {"name": "alpha", "type": "float", "value": 2.0, "c_type": "float32"},
      {"name": "nothing", "type": "float", "value": "nan"},
      {"name": "flag", "type": "bool", "value": true},
      {"name": "mode", "type": "str", "value": "fast"},
      {"name": "BLOCK", "type": "int", "value": 128, "is_meta": true}
    ],
    "launch": {"grid": {"x": 8, "y": 2, "z": 1}, "block": {"x": 128, "y": 1, "z": 1},
               "shared_mem_bytes": 4096, "num_warps": 4, "num_stages": 2},
    "sizes": {"m": 4}
  })");
  const Contract contract = accepted(document);
  CHECK(to_json(contract) == document);
  // NaN is equal to nothing, itself included: compare the rest.
  Contract again = accepted(to_json(contract));
  Contract once = contract;
  CHECK(std::isnan(std::get<double>(again.args[9].value)));
  again.args[9].value = once.args[9].value = 0.0;
  CHECK(again == once);
}

TEST_CASE("zlib data is inflated once and written back compressed") {
  Contract contract;
  TensorSpec spec{.shape = {4096}, .dtype = DType::float32};
  spec.data = TensorData{.bytes = std::string(4096 * 4, '\x3f'), .compression = Compression::zlib};
  contract.args.push_back(Arg{.name = "x", .tensor_spec = spec});
  const json document = to_json(contract);
  CHECK(document["args"][0]["tensor_spec"]["data"]["data_b64"].get<std::string>().size() < 200);
  CHECK(accepted(document) == contract);
}

TEST_CASE("nulls count as absent, as old clients send every field") {
  const Contract contract = accepted(json::parse(R"({
    "args": [
      {"name": "x", "type": "tensor", "value": null, "role": "input", "is_meta": false, "tensor_spec":
        {"shape": [8], "dtype": "float32", "data": null, "init": {"kind": "uniform", "seed": null,
         "mean": null, "std": null, "low": null, "high": null, "fill_value": null, "start": null,
         "step": null}}},
      {"name": "y", "type": "tensor", "role": "output",
       "tensor_spec": {"shape": [8], "dtype": "float32", "init": null, "data": null}}],
    "launch": {"grid": {"x": 1, "y": 1, "z": 1}, "block": null, "num_warps": null, "num_stages": null}})"));
  CHECK(!contract.launch->num_warps);
  CHECK(contract.args[0].tensor_spec->init->kind == InitKind::uniform);
  CHECK(!accepted({{"args", json::array()}, {"launch", nullptr}}).launch);
}

TEST_CASE(
    "the manual's Triton contract is accepted: roles default, inputs without init become randn") {
  const json document = json::parse(R"({"args": [
    {"name": "x", "type": "tensor", "tensor_spec": {"shape": [1024], "dtype": "float32"}},
    {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1024], "dtype": "float32"}},
    {"name": "BLOCK_SIZE", "type": "int", "value": 128, "is_meta": true}],
    "launch": {"grid": {"x": 8}, "num_warps": 4, "num_stages": 2}})");
  const Contract contract = accepted(document);
  CHECK(contract.args[0].role == Role::input);
  CHECK(contract.args[0].tensor_spec->init == TensorInit{});
  CHECK(!contract.args[1].tensor_spec->init);
  CHECK(contract.args[2].is_meta);
  CHECK(warnings_of(document).at(0).pointer == "/args/0/tensor_spec");
  CHECK(only_violation(document, {.inputs_need_init = true}).message ==
        "Tensor argument 'x' (input) requires init or data");
}

TEST_CASE("all violations are told at once, each with its pointer") {
  const auto violations = refused(json::parse(R"({"args": [
      {"type": "int", "value": 1},
      {"name": "n", "type": "int"},
      {"name": "t", "type": "tensor"},
      {"name": "q", "type": "quaternion"},
      {"name": "r", "type": "tensor", "role": "sink", "tensor_spec": {"shape": [1], "init": {}}},
      {"name": "d", "type": "tensor", "tensor_spec":
         {"shape": [4, -1], "dtype": "float31", "init": {"kind": "noise"}}},
      7],
    "launch": {"grid": {"x": 0}, "block": {"x": 2048}, "num_warps": 3}})"));
  std::vector<std::string> pointers;
  for (const auto& v : violations) pointers.push_back(v.pointer);
  CHECK(pointers == std::vector<std::string>{
                        "/io/args/0", "/io/args/1", "/io/args/2", "/io/args/3/type",
                        "/io/args/4/role", "/io/args/5/tensor_spec/dtype",
                        "/io/args/5/tensor_spec/shape/1", "/io/args/5/tensor_spec/init/kind",
                        "/io/args/6", "/io/launch/grid/x", "/io/launch/block/x",
                        "/io/launch/num_warps"});
  CHECK(violations[1].message == "Scalar argument 'n' requires value");
  CHECK(violations[2].message == "Tensor argument 't' requires tensor_spec");
  CHECK(violations[3].message == "Unsupported argument type: quaternion");
}

TEST_CASE("a document of the wrong shape is refused, whatever it is") {
  for (const json& document : {json(nullptr), json(3), json("io"), json::array(), json::object(),
                               json{{"args", 1}}, json{{"args", nullptr}}}) {
    CHECK(refused(document).size() == 1);
  }
  CHECK(only_violation(json{{"args", {{"x", 1}}}}).pointer == "/io/args");
}

TEST_CASE("pointers escape ~ and /") {
  const auto warnings = warnings_of({{"args", json::array()}, {"a/b~c", 1}});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].pointer == "/a~1b~0c");
}

TEST_CASE("unknown keys are accepted, with a suggestion where one is near") {
  const auto warnings = warnings_of(json::parse(R"({"outputs": [], "lunch": {}, "args": [
      {"name": "n", "type": "int", "value": 1, "dtype": "int32", "isMeta": true, "zzzzzzz": 0}],
      "launch": {"shared_mem": 4}})"));
  std::map<std::string, std::string> by_pointer;
  for (const auto& w : warnings) by_pointer[w.pointer] = w.message;
  CHECK(by_pointer.size() == 5);
  CHECK(by_pointer.at("/lunch").find("did you mean 'launch'?") != std::string::npos);
  CHECK(by_pointer.at("/args/0/isMeta").find("did you mean 'is_meta'?") != std::string::npos);
  CHECK(by_pointer.at("/args/0/dtype").find("inside tensor_spec") != std::string::npos);
  CHECK(by_pointer.at("/args/0/zzzzzzz").find("did you mean") == std::string::npos);
  CHECK(by_pointer.at("/launch/shared_mem").find("'shared_mem_bytes'") != std::string::npos);
}

TEST_CASE("a typo in a required key shows in the warnings of a refusal") {
  const auto result = parse(one_arg({{"name", "x"}, {"type", "tensor"}, {"tensor_specs", {}}}));
  const auto& refusal = std::get<Refused>(result);
  CHECK(refusal.violations.at(0).message == "Tensor argument 'x' requires tensor_spec");
  CHECK(refusal.warnings.at(0).message.find("'tensor_spec'") != std::string::npos);
}

TEST_CASE("sizes are bounded with the bytes computed") {
  const json shape = tensor({{"shape", {1000000, 1000000}}, {"init", {{"kind", "zeros"}}}});
  const auto violation = only_violation(one_arg(shape));
  CHECK(violation.pointer == "/io/args/0/tensor_spec/shape");
  CHECK(violation.message.find("4000000000000 bytes") != std::string::npos);

  const json beyond =
      tensor({{"shape", {4294967296, 4294967296, 4294967296}}, {"init", {{"kind", "zeros"}}}});
  CHECK(only_violation(one_arg(beyond)).message.find("more than 2^64") != std::string::npos);

  const json broadcast =
      tensor({{"shape", {1000000, 1000000}}, {"strides", {0, 0}}, {"init", json::object()}});
  CHECK(only_violation(one_arg(broadcast)).message.find("bytes") != std::string::npos);

  json two{{"args", json::array()}};
  for (const char* name : {"x", "y"}) {
    two["args"].push_back(
        tensor({{"shape", {600}}, {"dtype", "int8"}, {"init", json::object()}}, "input", name));
  }
  CHECK(accepted(two, {.max_bytes = 1200}).args.size() == 2);
  CHECK(only_violation(two, {.max_bytes = 1199}).pointer == "/io/args");
}

TEST_CASE("tensors without elements and 0-d tensors are allowed") {
  const Contract contract =
      accepted({{"args",
                 {tensor({{"shape", {0}}, {"init", json::object()}}, "input", "a"),
                  tensor({{"shape", json::array()}, {"init", json::object()}}, "input", "b"),
                  tensor({{"shape", {0, 9223372036854775807, 9}}}, "output", "c")}}});
  CHECK(contract.args[0].tensor_spec->buffer_bytes() == 0);
  CHECK(contract.args[1].tensor_spec->buffer_bytes() == 4);
  CHECK(contract.args[2].tensor_spec->buffer_bytes() == 0);
}

TEST_CASE("strides must suit the shape, and may not overlap where a kernel writes") {
  const json good{{"shape", {4, 3}}, {"strides", {1, 8}}};
  CHECK(accepted(one_arg(tensor(good, "output"))).args[0].tensor_spec->buffer_bytes() ==
        (3 + 2 * 8 + 1) * 4);
  const json overlapping{{"shape", {4, 3}}, {"strides", {2, 1}}, {"init", json::object()}};
  CHECK(only_violation(one_arg(tensor(overlapping, "inout"))).pointer ==
        "/io/args/0/tensor_spec/strides");
  CHECK(accepted(one_arg(tensor(overlapping, "input"))).args.size() == 1);
  CHECK(only_violation(one_arg(tensor({{"shape", {4, 3}}, {"strides", {1}}}, "output")))
            .message.find("has 2") != std::string::npos);
  CHECK(only_violation(one_arg(tensor({{"shape", {4}}, {"strides", {-1}}}, "output"))).pointer ==
        "/io/args/0/tensor_spec/strides/0");
}

TEST_CASE("a given 0 is a 0, not a missing value") {
  const auto init = *accepted(one_init({{"kind", "uniform"}, {"low", -1}, {"high", 0}}))
                         .args[0]
                         .tensor_spec->init;
  CHECK(init.high == Number{std::int64_t{0}});
  CHECK(accepted(one_init({{"kind", "randn"}, {"std", 0}})).args[0].tensor_spec->init->std == 0.0);
  CHECK(only_violation(one_init({{"kind", "arange"}, {"step", 0}})).pointer.ends_with("/step"));
  CHECK(accepted(one_init({{"kind", "full"}, {"fill_value", 0}}))
            .args[0]
            .tensor_spec->init->fill_value == Number{std::int64_t{0}});
}

TEST_CASE("each kind's parameters are checked against the dtype they fill") {
  CHECK(only_violation(one_init({{"kind", "uniform"}, {"low", 1}, {"high", 1}}))
            .message.find("low < high") != std::string::npos);
  CHECK(only_violation(one_init({{"kind", "uniform"}, {"low", 2}}))
            .message.find("high is 1 by default") != std::string::npos);
  CHECK(accepted(one_init({{"kind", "uniform"}, {"low", 2}}, "int32")).args.size() == 1);
  CHECK(only_violation(one_init({{"kind", "uniform"}, {"high", 300}}, "uint8"))
            .message.find("0 and 255") != std::string::npos);
  CHECK(only_violation(one_init({{"kind", "uniform"}, {"low", 0.5}}, "int32"))
            .pointer.ends_with("/low"));
  CHECK(only_violation(one_init({{"kind", "full"}})).message == "full init requires fill_value");
  CHECK(only_violation(one_init({{"kind", "full"}, {"fill_value", 70000}}, "float16"))
            .message.find("65504") != std::string::npos);
  CHECK(accepted(one_init({{"kind", "full"}, {"fill_value", 3.4028235e38}})).args.size() == 1);
  CHECK(only_violation(one_init({{"kind", "full"}, {"fill_value", 3.5e38}}))
            .pointer.ends_with("/fill_value"));
  CHECK(only_violation(one_init({{"kind", "full"}, {"fill_value", "nan"}}, "int32"))
            .pointer.ends_with("/fill_value"));
  CHECK(std::isnan(std::get<double>(*accepted(one_init({{"kind", "full"}, {"fill_value", "nan"}}))
                                         .args[0]
                                         .tensor_spec->init->fill_value)));
  CHECK(only_violation(one_init({{"kind", "randn"}, {"std", -1}})).pointer.ends_with("/std"));
  CHECK(only_violation(one_init({{"kind", "randn"}, {"seed", 1.5}})).pointer.ends_with("/seed"));
  CHECK(accepted(one_init({{"kind", "randn"}, {"seed", -1}})).args[0].tensor_spec->init->seed ==
        ~0ULL);
  CHECK(warnings_of(one_init({{"kind", "zeros"}, {"low", 3}})).at(0).message ==
        "'low' has no effect on kind 'zeros'");
}

TEST_CASE("64-bit integers keep all their bits") {
  const auto init =
      *accepted(one_init({{"kind", "full"}, {"fill_value", 9007199254740993}}, "int64"))
           .args[0]
           .tensor_spec->init;
  CHECK(init.fill_value == Number{std::int64_t{9007199254740993}});
  const auto largest =
      *accepted(one_init({{"kind", "full"}, {"fill_value", 18446744073709551615ULL}}, "uint64"))
           .args[0]
           .tensor_spec->init;
  CHECK(largest.fill_value == Number{18446744073709551615ULL});
  CHECK(
      only_violation(one_init({{"kind", "full"}, {"fill_value", 9223372036854775808ULL}}, "int64"))
          .pointer.ends_with("/fill_value"));
}

TEST_CASE("scalars carry their type and its range") {
  CHECK(accepted(one_arg(scalar("float", 2))).args[0].value == ScalarValue{2.0});
  CHECK(accepted(one_arg(scalar("int", 1024.0))).args[0].value == ScalarValue{std::int64_t{1024}});
  CHECK(accepted(one_arg(scalar("float", "-inf"))).args[0].value ==
        ScalarValue{-std::numeric_limits<double>::infinity()});
  CHECK(accepted(one_arg(scalar("str", "n"))).args[0].value == ScalarValue{std::string("n")});
  for (const auto& [type, value] : std::vector<std::pair<std::string, json>>{{"int", 1.5},
                                                                             {"int", true},
                                                                             {"int", json::array()},
                                                                             {"float", "big"},
                                                                             {"float", true},
                                                                             {"bool", 1},
                                                                             {"str", 1}}) {
    CHECK(only_violation(one_arg(scalar(type, value))).pointer == "/io/args/0/value");
  }
  json narrow = scalar("int", 300);
  narrow["c_type"] = "unsigned char";
  CHECK(only_violation(one_arg(narrow)).message.find("does not fit in uint8") != std::string::npos);
  narrow["c_type"] = "float";
  CHECK(only_violation(one_arg(narrow)).pointer == "/io/args/0/c_type");
  narrow["c_type"] = "size_t";
  CHECK(accepted(one_arg(narrow)).args[0].c_type == DType::uint64);
  json half = scalar("float", 1e6);
  half["c_type"] = "__half";
  CHECK(only_violation(one_arg(half)).message.find("does not fit in float16") != std::string::npos);
  json output = scalar("int", 3);
  output["role"] = "output";
  CHECK(only_violation(one_arg(output)).pointer == "/io/args/0/role");
}

TEST_CASE("a contract's arguments have names of their own, and tensors are no meta parameters") {
  const json twice{{"args", {scalar("int", 1), scalar("int", 2)}}};
  CHECK(only_violation(twice).message == "duplicate argument name 'n'");
  json meta = tensor({{"shape", {1}}, {"init", json::object()}});
  meta["is_meta"] = true;
  CHECK(only_violation(one_arg(meta)).pointer == "/io/args/0/is_meta");
}

TEST_CASE("inputs that share a seed are pointed out: swapped operands would go unseen") {
  const json spec{{"shape", {8}}, {"init", {{"kind", "randn"}, {"seed", 42}}}};
  const json same{{"args", {tensor(spec, "input", "x"), tensor(spec, "input", "y")}}};
  CHECK(warnings_of(same).at(0).pointer == "/args/1");
  json other = same;
  other["args"][1]["tensor_spec"]["init"]["seed"] = 43;
  CHECK(warnings_of(other).empty());
}

TEST_CASE("launch bounds hold for every axis and for the block as a whole") {
  CHECK(accepted(launched({{"grid", {{"x", 2147483647}, {"y", 65535}, {"z", 65535}}}}))
            .launch->grid->z == 65535);
  CHECK(accepted(launched({{"block", {16, 16, 4}}})).launch->block == LaunchDim{16, 16, 4});
  CHECK(accepted(launched({{"grid", 7}})).launch->grid == LaunchDim{7, 1, 1});
  for (const json& bad :
       {json{{"grid", {{"x", 2147483648}}}}, json{{"grid", {1, 65536}}},
        json{{"grid", {1, 1, 65536}}}, json{{"grid", -1}}, json{{"block", {1025}}},
        json{{"block", {1, 1, 65}}}, json{{"block", {32, 33}}}, json{{"block", {{"x", 1.5}}}},
        json{{"block", {1, 1, 1, 1}}}, json{{"shared_mem_bytes", 232449}},
        json{{"shared_mem_bytes", -4}}, json{{"num_warps", 0}}, json{{"num_warps", 64}},
        json{{"num_stages", 0}}}) {
    INFO(bad.dump());
    CHECK(refused(launched(bad)).size() == 1);
  }
  CHECK(accepted(launched({{"shared_mem_bytes", 232448}})).launch->shared_mem_bytes == 232448U);
  CHECK(only_violation(launched({{"block", {32, 33}}})).message ==
        "block has 1056 threads, at most 1024 are allowed");
}

TEST_CASE("kernel types demand what they need, in the manual's words") {
  CHECK(requirements("torch", nullptr).empty());
  CHECK(requirements("torch_cuda", nullptr).empty());
  CHECK(
      requirements("triton", nullptr, "/kernel/io").at(0) ==
      Violation{"/kernel/io",
                "IOContract is required for Triton kernel compilation. Please provide input/output "
                "specifications via IOContract."});
  CHECK(requirements("multi_kernel", nullptr).at(0).message ==
        "IOContract is required for multi-kernel sequences. Please provide input/output "
        "specifications.");
  CHECK(requirements("cuda", nullptr).size() == 1);
  const Contract bare = accepted({{"args", json::array()}});
  CHECK(requirements("multi_kernel", &bare).empty());
  CHECK(requirements("cuda", &bare).at(0).message == "launch is required for cuda kernels");
  const Contract grid = accepted(launched({{"grid", 1}}));
  CHECK(requirements("triton", &grid).empty());
  CHECK(requirements("cuda", &grid).at(0).message == "launch.block is required for cuda kernels");
  const Contract both = accepted(launched({{"grid", 1}, {"block", 32}}));
  CHECK(requirements("cuda", &both).empty());
}
