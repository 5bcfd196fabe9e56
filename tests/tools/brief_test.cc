#include "tools/brief.h"

#include "tests/catch.h"

using namespace assay::tools;
using assay::mcp::OrderedJson;

namespace {

OrderedJson output(int number, bool ok) {
  OrderedJson one = {{"name", "o" + std::to_string(number)},
                     {"ok", ok},
                     {"elements", 1000},
                     {"mismatches", ok ? 0 : 999},
                     {"pattern", "constant factor 2"}};
  one["map"] = {{"rows", 32}, {"columns", 32}, {"counts", std::vector<int>(1024, 1)}};
  for (int i = 0; i < 10; ++i) one["first"].push_back({{"position", i}, {"got", "1"}});
  return one;
}

OrderedJson large_report() {
  OrderedJson report = {{"verdict", "wrong_output"}};
  for (int i = 0; i < 40; ++i) {
    report["diagnostics"].push_back({{"line", i}});
    report["warnings"].push_back({{"message", "w"}});
    report["validation"]["outputs"].push_back(output(i, i % 3 == 0));
    report["kernels"].push_back({{"name", "k"}, {"occupancy", {{"percent", 100}}}});
  }
  report["validation"]["printf"] = std::string(2000, 'x');
  report["error"] = {{"output", output(1, false)}, {"trial", 0}};
  std::string log;
  for (int i = 0; i < 500; ++i) log += "kernel.cu(" + std::to_string(i) + "): \xC3\xA4rger\n";
  report["kernel_exec_result"]["compilation_error"] = log;
  return report;
}

}  // namespace

TEST_CASE("what is left out of a report is counted", "[brief]") {
  OrderedJson report = large_report();
  make_brief(report);
  CHECK(report.at("diagnostics").size() == 8);
  CHECK(report.at("diagnostics_total") == 40);
  CHECK(report.at("warnings_total") == 40);
  CHECK(report.at("kernels_total") == 40);
  CHECK(report.at("validation").at("outputs").size() == 6);
  CHECK(report.at("validation").at("outputs_total") == 40);
  CHECK(report.at("validation").at("printf_truncated") == true);
  CHECK(report.at("error").at("output") ==
        OrderedJson({{"name", "o1"}, {"mismatches", 999}, {"elements", 1000}}));
  CHECK(report.dump().size() < 6000);
}

TEST_CASE("of what a launch takes a short report has what decides how many warps fit", "[brief]") {
  OrderedJson report = large_report();
  const OrderedJson whole = {{"registers", 40},
                             {"stack_bytes", 0},
                             {"spill_store_bytes", 0},
                             {"spill_load_bytes", 0},
                             {"static_shared_bytes", 0},
                             {"dynamic_shared_bytes", 0},
                             {"occupancy",
                              {{"percent", 62.5},
                               {"warps_per_multiprocessor", 40},
                               {"max_warps_per_multiprocessor", 64},
                               {"limited_by", {"registers"}},
                               {"waves", 1.5}}}};
  report["kernel_exec_result"]["metadata"] = {{"resources", whole}, {"ref_resources", whole}};
  make_brief(report);
  const OrderedJson told = {{"registers", 40},
                            {"spill_store_bytes", 0},
                            {"static_shared_bytes", 0},
                            {"occupancy", {{"percent", 62.5}, {"limited_by", {"registers"}}}}};
  CHECK(report.at("kernel_exec_result").at("metadata").at("resources") == told);
  CHECK(report.at("kernel_exec_result").at("metadata").at("ref_resources") == told);
}

TEST_CASE("the first wrong output keeps examples, the others what they have in common", "[brief]") {
  OrderedJson report = large_report();
  make_brief(report);
  const OrderedJson& outputs = report.at("validation").at("outputs");
  CHECK_FALSE(outputs[0].contains("first"));  // it is right
  CHECK(outputs[1].at("first").size() == 3);
  CHECK(outputs[1].at("first_total") == 10);
  CHECK_FALSE(outputs[2].contains("first"));
  CHECK(outputs[2].at("pattern") == "constant factor 2");
  for (const auto& one : outputs) CHECK_FALSE(one.contains("map"));
}

TEST_CASE("a log is cut between lines, a line between characters", "[brief]") {
  OrderedJson report = large_report();
  make_brief(report);
  const std::string log = report.at("kernel_exec_result").at("compilation_error");
  CHECK(log.size() < 1000);
  CHECK(log.find("\xC3\xA4rger\n\xE2\x80\xA6") != std::string::npos);
  for (std::size_t length = 895; length < 906; ++length) {
    std::string line(length, 'x');
    line += "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4";
    OrderedJson one = {{"kernel_exec_result", {{"validation_error", line}}}};
    make_brief(one);
    CHECK_NOTHROW(one.dump());  // throws on half a character
  }
}

TEST_CASE("of times what is read first stays", "[brief]") {
  const OrderedJson cold = {{"runs", 100}, {"median_ns", 5.5},           {"mean_ns", 6},
                            {"std_ns", 1}, {"stopped_by", "num_trials"}, {"half_width_pct", 2}};
  OrderedJson report = {{"timing",
                         {{"clock", "gpu"},
                          {"cold", cold},
                          {"warm", {{"unavailable", "why"}}},
                          {"clocks", {{"sm_mhz_median", 1980}, {"power_w", 300}}},
                          {"floor", {{"bytes", 8}, {"ns", 1.5}, {"share_pct", 9.5}}},
                          {"wall_clock", {{"result", "agrees"}}},
                          {"neighbours", {{"asked", false}}},
                          {"in_place", {{"clock", "wall"}, {"per_call", cold}}},
                          {"lifted", {{"launches", 2}, {"ms", {{"capture", 24}}}}}}}};
  make_brief(report);
  const OrderedJson short_cold = {{"runs", 100}, {"median_ns", 5.5}, {"stopped_by", "num_trials"}};
  CHECK(report["timing"] ==
        OrderedJson({{"clock", "gpu"},
                     {"cold", short_cold},
                     {"warm", {{"unavailable", "why"}}},
                     {"clocks", {{"sm_mhz_median", 1980}}},
                     {"floor", {{"ns", 1.5}, {"share_pct", 9.5}}},
                     {"in_place", {{"clock", "wall"}, {"per_call", short_cold}}},
                     {"lifted", {{"launches", 2}}}}));
}

TEST_CASE("a short report stays as it is", "[brief]") {
  const OrderedJson report = {{"verdict", "passed"},
                              {"diagnostics", OrderedJson::array({{{"line", 1}}})},
                              {"validation", {{"outputs", OrderedJson::array()}}},
                              {"kernel_exec_result", {{"compilation_error", "one line"}}}};
  OrderedJson brief = report;
  make_brief(brief);
  CHECK(brief == report);
  OrderedJson nothing = OrderedJson::object();
  make_brief(nothing);
  CHECK(nothing.empty());
}

TEST_CASE("no single text makes a brief report long", "[brief]") {
  const std::string long_text = std::string(4999, 'x') + "\xC3\xA4";
  OrderedJson report = {{"verdict", "compile_failed"}, {"summary", long_text}};
  report["diagnostics"].push_back(
      {{"line", 1}, {"message", long_text}, {"excerpt", long_text}, {"severity", "error"}});
  report["error"] = {{"reason", {{"message", long_text}}}};
  report["warnings"].push_back({{"message", long_text}});
  report["compilation_error"] = long_text;
  make_brief(report);
  CHECK(report.dump().size() < 4000);
  CHECK(report.at("diagnostics")[0].at("line") == 1);
  CHECK(report.at("diagnostics")[0].at("message").get<std::string>().ends_with("…"));
}
