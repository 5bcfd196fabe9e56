// Which members of metadata are refused, which are told to have no effect, and which are free.
#include "tools/metadata_keys.h"

#include "tests/catch.h"

using namespace assay;
using contract::Violation;
using mcp::Json;

namespace {

struct Told {
  std::vector<Violation> violations{};
  std::vector<Violation> warnings{};
};

Told told_of(const char* type, const Json& metadata) {
  Told told;
  tools::check_metadata_keys(metadata, type, "/kernel/metadata", told.violations, told.warnings);
  return told;
}

constexpr std::array kTypes{"cuda", "torch", "torch_cuda", "triton", "multi_kernel"};

}  // namespace

TEST_CASE("a misspelt name of a target is refused at its place, whatever the kernel type") {
  for (const auto& [said, meant] :
       std::vector<std::pair<std::string, std::string>>{{"functon_name", "function_name"},
                                                        {"functionName", "function_name"},
                                                        {"Function_Name", "function_name"},
                                                        {"fucntion_name", "function_name"},
                                                        {"function-name", "function_name"},
                                                        {"class_nmae", "class_name"},
                                                        {"classname", "class_name"},
                                                        {"methodName", "method_name"},
                                                        {"kernal_name", "kernel_name"},
                                                        {"KERNEL_NAME", "kernel_name"},
                                                        {"kernel_names", "kernel_name"},
                                                        {"entrypoint", "entry_point"},
                                                        {"entry_pont", "entry_point"},
                                                        {"name_expression", "name_expressions"}}) {
    for (const char* type : kTypes) {
      INFO(said << " with " << type);
      const Told told = told_of(type, {{said, "f"}});
      REQUIRE(told.violations.size() == 1);
      CHECK(told.violations[0].pointer == "/kernel/metadata/" + said);
      CHECK(told.violations[0].message.find("did you mean \"" + meant + "\"?") !=
            std::string::npos);
      CHECK(told.warnings.empty());
    }
  }
}

TEST_CASE("members of metadata that are the caller's own are free") {
  const Json own = {{"description", "Add with Triton"},
                    {"algorithm", "gemm"},
                    {"optimization", "tensor_cores"},
                    {"precision", "tf32"},
                    {"author", "me"},
                    {"name", "mine"},
                    {"kernel_type", "torch"},
                    {"class_type", 1},
                    {"kernel_date", "2026-11-24"},
                    {"kernel_frame", 1},
                    {"method_note", "none"},
                    {"", 1},
                    {"id", 3},
                    {std::string(1000, 'k'), 1},
                    {"a/b~c", 1},
                    {"entry", nullptr}};
  for (const char* type : kTypes) {
    const Told told = told_of(type, own);
    CHECK(told.violations.empty());
    CHECK(told.warnings.size() == 1);  // of "entry", which stands for entry_point
  }
}

TEST_CASE("a known member that has no effect with this kernel type is told") {
  const auto has_effect = [](const char* type, const char* key) {
    const Told told = told_of(type, {{key, "f"}});
    CHECK(told.violations.empty());
    return told.warnings.empty();
  };
  for (const char* type : {"torch", "torch_cuda"}) {
    for (const char* key : {"function_name", "class_name", "method_name", "entry_point"}) {
      CHECK(has_effect(type, key));
    }
    CHECK_FALSE(has_effect(type, "kernel_name"));
    CHECK_FALSE(has_effect(type, "name_expressions"));
    CHECK_FALSE(has_effect(type, "compiler_options"));
  }
  CHECK(has_effect("cuda", "kernel_name"));
  CHECK(has_effect("triton", "kernel_name"));
  CHECK(has_effect("multi_kernel", "entry_point"));
  CHECK_FALSE(has_effect("multi_kernel", "function_name"));
  CHECK_FALSE(has_effect("cuda", "function_name"));
  CHECK_FALSE(has_effect("triton", "entry_point"));
  const Told told = told_of("torch", {{"kernel_name", "f"}});
  REQUIRE(told.warnings.size() == 1);
  CHECK(told.warnings[0].pointer == "/kernel/metadata/kernel_name");
  CHECK(told.warnings[0].message ==
        "has no effect with kernel_type torch; what is run is chosen by function_name, class_name, "
        "method_name, entry_point");
  // What says nothing is not spoken of.
  CHECK(told_of("torch", {{"kernel_name", ""}, {"name_expressions", Json::array()}})
            .warnings.empty());
}

TEST_CASE("other words for a target, and misspelt options, are told and not refused") {
  const Told function = told_of("torch", {{"function", "f"}});
  CHECK(function.violations.empty());
  REQUIRE(function.warnings.size() == 1);
  CHECK(function.warnings[0].message.find("\"function_name\"") != std::string::npos);
  const Told options = told_of("cuda", {{"compiler_option", Json::array({"-DX"})}});
  CHECK(options.violations.empty());
  REQUIRE(options.warnings.size() == 1);
  CHECK(options.warnings[0].message.find("\"compiler_options\"") != std::string::npos);
}
