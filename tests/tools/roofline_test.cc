// A kernel's place under the roof: read back from the picture and recalculated.
#include "tools/roofline.h"

#include <cmath>
#include <regex>

#include "tests/catch.h"

using namespace assay;
using mcp::Json;
using tools::roofline_of;
using tools::roofline_svg;

namespace {

Json counters(double intensity, double gflops) {
  return {{"roofline_metrics", {{"arithmetic_intensity", intensity}, {"gflops", gflops}}},
          {"roof", {{"gpu", "A GPU"}, {"flops_per_second", 64e12}, {"bytes_per_second", 4e12}}}};
}

std::vector<std::vector<double>> found(const std::string& svg, const std::regex& pattern) {
  std::vector<std::vector<double>> all;
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    all.emplace_back();
    for (std::size_t i = 1; i < it->size(); ++i) all.back().push_back(std::stod((*it)[i]));
  }
  return all;
}

const std::regex kCircle("circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
const std::regex kRoof(
    "stroke-width=\"1.5\" points=\"([0-9.]+),([0-9.]+) ([0-9.]+),([0-9.]+) ([0-9.]+),([0-9.]+)\"");

}  // namespace

TEST_CASE("a kernel that reaches the roof is drawn on it, one that does not below it") {
  // At 2 FLOP per byte the memory allows 8e12 a second.
  const Json metrics = {{"original_device_metrics", counters(2, 8000)},
                        {"custom_device_metrics", counters(2, 80)}};
  const auto roofline = roofline_of({{"device_metrics", metrics}});
  REQUIRE(roofline.has_value());
  CHECK(roofline->ridge == 16);
  const std::string svg = roofline_svg(*roofline);
  const auto dots = found(svg, kCircle);
  const auto roof = found(svg, kRoof);
  REQUIRE(dots.size() == 2);
  REQUIRE(roof.size() == 1);
  // On the slope between 0.001 and the ridge, by logarithms.
  const double share = (std::log10(2.0) + 3) / (std::log10(16.0) + 3);
  const double roof_x = roof[0][0] + share * (roof[0][2] - roof[0][0]);
  CHECK(std::abs(dots[0][0] - roof_x) < 0.2);
  CHECK(std::abs(dots[0][0] - dots[1][0]) < 0.01);
  // A hundredth is two of six decades lower, in what is 240 high.
  CHECK(std::abs((dots[1][1] - dots[0][1]) - 80) < 0.2);
  // The peak is flat.
  CHECK(roof[0][3] == roof[0][5]);
  CHECK(svg.find("reference: 2 FLOP per byte, 8000 GFLOP/s, 100 % of the roof there") !=
        std::string::npos);
  CHECK(svg.find("kernel: 2 FLOP per byte, 80 GFLOP/s, 1 % of the roof there") !=
        std::string::npos);
}

TEST_CASE("the emulator's estimate is a span and claims no time") {
  const Json estimate = {{"gpu", "A GPU"},
                         {"ridge_flops_per_byte", 14.0},
                         {"arithmetic_intensity", {{"low", 0.25}, {"high", 30.0}}}};
  const auto roofline = roofline_of({{"estimate", estimate}});
  REQUIRE(roofline.has_value());
  const std::string svg = roofline_svg(*roofline);
  CHECK(svg.find("no time measured") != std::string::npos);
  CHECK(svg.find("circle") == std::string::npos);
  CHECK(svg.find("0.25 (no cache) to 30") != std::string::npos);
  CHECK(svg.find("GFLOP/s") == std::string::npos);
}

TEST_CASE("where something was not counted there is no picture") {
  Json no_roof = counters(2, 80);
  no_roof.erase("roof");
  Json unknown_peak = counters(2, 80);
  unknown_peak["roof"]["flops_per_second"] = nullptr;
  Json not_counted = counters(2, 80);
  not_counted["roofline_metrics"]["gflops"] = nullptr;
  for (const Json& one :
       {no_roof, unknown_peak, not_counted, counters(0, 80), counters(2, 0), Json::object()}) {
    const Json metrics = {{"original_device_metrics", one}};
    CHECK_FALSE(roofline_of({{"device_metrics", metrics}}).has_value());
  }
  CHECK_FALSE(roofline_of(Json::object()).has_value());
  const Json nothing_read = {{"ridge_flops_per_byte", 14.0},
                             {"arithmetic_intensity", {{"low", nullptr}, {"high", nullptr}}}};
  CHECK_FALSE(roofline_of({{"estimate", nothing_read}}).has_value());
}

TEST_CASE("what a driver calls its device is text in the picture, nothing else") {
  Json one = counters(2, 80);
  one["roof"]["gpu"] = "<script>&";
  const auto roofline = roofline_of({{"device_metrics", {{"original_device_metrics", one}}}});
  REQUIRE(roofline.has_value());
  CHECK(roofline_svg(*roofline).find("<script>") == std::string::npos);
  CHECK(roofline_svg(*roofline).find("&lt;script>&amp;") != std::string::npos);
}

TEST_CASE("extreme figures stay inside the picture") {
  for (const double intensity : {1e-300, 1e-9, 1e300}) {
    const auto roofline = roofline_of(
        {{"device_metrics", {{"original_device_metrics", counters(intensity, 1e300)}}}});
    REQUIRE(roofline.has_value());
    const auto dots = found(roofline_svg(*roofline), kCircle);
    REQUIRE(dots.size() == 1);
    CHECK(dots[0][0] >= 64);
    CHECK(dots[0][0] <= 640);
    CHECK(dots[0][1] >= 40);
    CHECK(dots[0][1] <= 320);
  }
}
