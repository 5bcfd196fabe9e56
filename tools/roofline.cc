#include "tools/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/svg_text.h"

namespace assay::tools {
namespace {

using svg::coordinate;
using svg::escaped;
using svg::number;
using svg::text_at;

using mcp::Json;

constexpr double kWidth = 640;
constexpr double kHeight = 320;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 40;
constexpr double kBottom = 40;
constexpr int kLowestPower = -3;  // of ten
constexpr int kHighestPower = 4;
constexpr double kLowestIntensity = 1e-3;
constexpr double kHighestIntensity = 1e4;
constexpr double kDecades = 6;  // of the vertical axis, below a little above the peak
constexpr std::array<const char*, 2> kColours{"#3b82c4", "#d97b29"};

// What is outside is drawn at the edge.
struct Plane {
  double highest = 1;

  [[nodiscard]] double x(double intensity) const {
    const double share = (std::log10(intensity) - std::log10(kLowestIntensity)) /
                         (std::log10(kHighestIntensity) - std::log10(kLowestIntensity));
    return kLeft + std::clamp(share, 0.0, 1.0) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double rate) const {
    const double share = (std::log10(highest) - std::log10(rate)) / kDecades;
    return kTop + std::clamp(share, 0.0, 1.0) * (kHeight - kTop - kBottom);
  }
  [[nodiscard]] std::string at(double intensity, double rate) const {
    return coordinate(x(intensity)) + "," + coordinate(y(rate));
  }
};

double roof_at(const Roofline& roofline, double intensity) {
  return roofline.flops_per_second * std::min(1.0, intensity / roofline.ridge);
}

std::string polyline(const Plane& plane, const Roofline& roofline,
                     const std::vector<double>& intensities, const std::string& style) {
  std::string points;
  for (const double one : intensities) {
    points += (points.empty() ? "" : " ") + plane.at(one, roof_at(roofline, one));
  }
  return "<polyline fill=\"none\" " + style + " points=\"" + points + "\"/>\n";
}

std::string axes(const Plane& plane, const Roofline& roofline) {
  const double base = kHeight - kBottom;
  std::string svg = "<path fill=\"none\" stroke=\"#888\" d=\"M" + coordinate(kLeft) + " " +
                    coordinate(kTop) + "V" + coordinate(base) + "H" + coordinate(kWidth - kRight) +
                    "\"/>\n";
  for (int power = kLowestPower; power <= kHighestPower; ++power) {
    const double tick = std::pow(10.0, power);
    svg += text_at(plane.x(tick), base + 14, "middle", number(tick));
  }
  svg += text_at(kWidth - kRight, kHeight - 6, "end", "FLOP per byte of memory traffic");
  const bool is_share = roofline.flops_per_second == 1;
  for (int decade = 0; decade < static_cast<int>(kDecades); ++decade) {
    const double rate = roofline.flops_per_second / std::pow(10.0, decade);
    svg += text_at(kLeft - 6, plane.y(rate) + 4, "end",
                   is_share ? number(100 * rate) + " %" : number(rate / 1e9));
  }
  return svg + text_at(kLeft, kTop - 8, "start", is_share ? "of the peak" : "GFLOP/s");
}

std::string dots(const Plane& plane, const Roofline& roofline) {
  std::string svg;
  double legend = kTop + 4;
  for (std::size_t i = 0; i < roofline.points.size(); ++i) {
    const auto& point = roofline.points[i];
    const std::string colour = kColours[i % kColours.size()];
    svg += "<circle cx=\"" + coordinate(plane.x(point.flops_per_byte)) + "\" cy=\"" +
           coordinate(plane.y(point.flops_per_second)) + "\" r=\"5\" fill=\"" + colour + "\"/>\n";
    const double share = 100 * point.flops_per_second / roof_at(roofline, point.flops_per_byte);
    svg += "<rect x=\"" + coordinate(kLeft + 14) + "\" y=\"" + coordinate(legend - 8) +
           "\" width=\"9\" height=\"9\" fill=\"" + colour + "\"/>\n" +
           text_at(kLeft + 28, legend, "start",
                   point.name + ": " + number(point.flops_per_byte) + " FLOP per byte, " +
                       number(point.flops_per_second / 1e9) + " GFLOP/s, " + number(share) +
                       " % of the roof there");
    legend += 15;
  }
  return svg;
}

bool is_positive(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_number() && found->get<double>() > 0;
}

std::optional<Roofline> estimated(const Json& estimate) {
  const Json intensity = estimate.value("arithmetic_intensity", Json::object());
  if (!is_positive(intensity, "low") || !is_positive(intensity, "high") ||
      !is_positive(estimate, "ridge_flops_per_byte")) {
    return std::nullopt;
  }
  return Roofline{.title = "At best, on " + estimate.value("gpu", std::string("a GPU")) +
                           ": counted on the emulator, no time measured",
                  .ridge = estimate.at("ridge_flops_per_byte"),
                  .span = Roofline::Span{.low = intensity.at("low"), .high = intensity.at("high")}};
}

std::optional<Roofline> counted(const Json& metrics) {
  Roofline roofline;
  constexpr std::array kKernels{std::pair{"original_device_metrics", "reference"},
                                std::pair{"custom_device_metrics", "kernel"}};
  for (const auto& [key, name] : kKernels) {
    const Json one = metrics.value(key, Json::object());
    const Json reached = one.value("roofline_metrics", Json::object());
    const Json roof = one.value("roof", Json::object());
    if (!is_positive(reached, "arithmetic_intensity") || !is_positive(reached, "gflops") ||
        !is_positive(roof, "flops_per_second") || !is_positive(roof, "bytes_per_second")) {
      continue;
    }
    roofline.flops_per_second = roof.at("flops_per_second");
    roofline.ridge = roofline.flops_per_second / roof.at("bytes_per_second").get<double>();
    roofline.title = "Reached, and the roof of " + roof.value("gpu", std::string("the GPU"));
    const bool is_alone = !metrics.contains("custom_device_metrics");
    roofline.points.push_back({.name = is_alone ? "kernel" : name,
                               .flops_per_byte = reached.at("arithmetic_intensity"),
                               .flops_per_second = 1e9 * reached.at("gflops").get<double>()});
  }
  if (roofline.points.empty()) return std::nullopt;
  return roofline;
}

}  // namespace

std::string roofline_svg(const Roofline& roofline) {
  const Plane plane{.highest = 2 * roofline.flops_per_second};
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
                    coordinate(kWidth) + " " + coordinate(kHeight) +
                    "\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#888\">\n" +
                    text_at(kLeft, 16, "start", roofline.title) + axes(plane, roofline) +
                    polyline(plane, roofline, {kLowestIntensity, roofline.ridge, kHighestIntensity},
                             "stroke=\"#888\" stroke-width=\"1.5\"");
  if (roofline.span) {
    const auto [low, high] = *roofline.span;
    std::vector<double> inside{low, high};
    if (low < roofline.ridge && roofline.ridge < high) inside = {low, roofline.ridge, high};
    svg += polyline(plane, roofline, inside,
                    std::string("stroke=\"") + kColours[1] +
                        "\" stroke-width=\"8\" stroke-linecap=\"round\" stroke-opacity=\"0.7\"") +
           text_at(kLeft + 14, kTop + 4, "start",
                   "kernel: " + number(low) + " (no cache) to " + number(high) +
                       " (every byte fetched once) FLOP per byte");
  }
  return svg + dots(plane, roofline) + "</svg>\n";
}

std::optional<Roofline> roofline_of(const Json& profiled) {
  if (const auto found = profiled.find("estimate"); found != profiled.end()) {
    return estimated(*found);
  }
  if (const auto found = profiled.find("device_metrics"); found != profiled.end()) {
    return counted(*found);
  }
  return std::nullopt;
}

}  // namespace assay::tools
