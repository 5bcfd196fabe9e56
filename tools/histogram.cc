#include "tools/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "engine/node/median.h"
#include "tools/svg_text.h"

namespace assay::tools {
namespace {

using svg::coordinate;
using svg::number;
using svg::text_at;

constexpr double kWidth = 640;
constexpr double kHeight = 220;
constexpr double kLeft = 44;
constexpr double kRight = 12;
constexpr double kTop = 40;
constexpr double kBottom = 34;
constexpr std::size_t kBins = 48;
constexpr std::array<const char*, 2> kColours{"#3b82c4", "#d97b29"};

struct Unit {
  double ns = 1;
  const char* name = "ns";
};

Unit unit_for(double ns) {
  if (ns >= 1e9) return {.ns = 1e9, .name = "s"};
  if (ns >= 1e6) return {.ns = 1e6, .name = "ms"};
  if (ns >= 1e3) return {.ns = 1e3, .name = "µs"};
  return {};
}

struct Axis {
  double low = 0;
  double high = 1;
  std::size_t most = 1;  // samples in the fullest bin

  [[nodiscard]] double x(double value) const {
    return kLeft + (std::clamp(value, low, high) - low) / (high - low) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(std::size_t count) const {
    const double share = static_cast<double>(count) / static_cast<double>(most);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
};

// The slowest hundredth is drawn at the edge: one straggler is not to flatten all the rest.
Axis axis_of(const std::vector<Series>& series) {
  std::vector<double> all;
  for (const Series& one : series)
    all.insert(all.end(), one.samples_ns.begin(), one.samples_ns.end());
  std::sort(all.begin(), all.end());
  Axis axis{.low = all.front(), .high = all[(all.size() - 1) * 99 / 100]};
  if (!(axis.low < axis.high)) {
    axis.low -= std::max(1.0, axis.low * 0.05);
    axis.high += std::max(1.0, axis.high * 0.05);
  }
  for (const Series& one : series)
    for (const std::size_t count : binned(one.samples_ns, axis.low, axis.high, kBins))
      axis.most = std::max(axis.most, count);
  return axis;
}

std::string bars(const Series& series, const Axis& axis, const char* colour) {
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(kBins);
  std::string svg = std::string("<g fill=\"") + colour + "\" fill-opacity=\"0.55\">\n";
  const auto counts = binned(series.samples_ns, axis.low, axis.high, kBins);
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] == 0) continue;
    const double top = axis.y(counts[bin]);
    svg += "<rect x=\"" + coordinate(kLeft + width * static_cast<double>(bin)) + "\" y=\"" +
           coordinate(top) + "\" width=\"" + coordinate(width) + "\" height=\"" +
           coordinate(kHeight - kBottom - top) + "\"/>\n";
  }
  return svg + "</g>\n";
}

std::string median_line(const Series& series, const Axis& axis, const char* colour,
                        double legend_y) {
  const double middle = node::median(series.samples_ns);
  const Unit unit = unit_for(middle);
  const std::string x = coordinate(axis.x(middle));
  return "<line x1=\"" + x + "\" x2=\"" + x + "\" y1=\"" + coordinate(kTop - 4) + "\" y2=\"" +
         coordinate(kHeight - kBottom) + "\" stroke=\"" + colour + "\" stroke-width=\"1.5\"/>\n" +
         "<rect x=\"" + coordinate(kLeft) + "\" y=\"" + coordinate(legend_y - 8) +
         "\" width=\"9\" height=\"9\" fill=\"" + colour + "\"/>\n" +
         text_at(kLeft + 14, legend_y, "start",
                 series.name + ": " + std::to_string(series.samples_ns.size()) + " runs, median " +
                     number(middle / unit.ns) + " " + unit.name);
}

std::string axis_text(const Axis& axis) {
  const Unit unit = unit_for(axis.high);
  const double base = kHeight - kBottom;
  std::string svg = "<line x1=\"" + coordinate(kLeft) + "\" x2=\"" + coordinate(kWidth - kRight) +
                    "\" y1=\"" + coordinate(base) + "\" y2=\"" + coordinate(base) +
                    "\" stroke=\"#888\"/>\n";
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double value = axis.low + (axis.high - axis.low) * tick / kTicks;
    svg += text_at(axis.x(value), base + 14, "middle", number(value / unit.ns));
  }
  svg += text_at(kWidth - kRight, kHeight - 4, "end", unit.name);
  svg += text_at(kLeft - 6, axis.y(axis.most) + 4, "end", std::to_string(axis.most));
  return svg + text_at(kLeft - 6, base, "end", "0");
}

}  // namespace

std::vector<std::size_t> binned(const std::vector<double>& samples, double low, double high,
                                std::size_t bins) {
  std::vector<std::size_t> counts(bins, 0);
  const auto last = static_cast<double>(bins - 1);
  for (const double sample : samples) {
    const double place = std::floor((sample - low) / (high - low) * static_cast<double>(bins));
    ++counts[static_cast<std::size_t>(std::clamp(place, 0.0, last))];
  }
  return counts;
}

std::string histogram_svg(const Histogram& histogram) {
  std::vector<Series> series;
  for (const Series& one : histogram.series)
    if (!one.samples_ns.empty() && series.size() < kColours.size()) series.push_back(one);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
                    coordinate(kWidth) + " " + coordinate(kHeight) +
                    "\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#777\">\n<title>" +
                    histogram.title + "</title>\n";
  if (series.empty()) {
    return svg + text_at(kWidth / 2, kHeight / 2, "middle", "no samples") + "</svg>\n";
  }
  const Axis axis = axis_of(series);
  for (std::size_t i = 0; i < series.size(); ++i) svg += bars(series[i], axis, kColours.at(i));
  for (std::size_t i = 0; i < series.size(); ++i)
    svg += median_line(series[i], axis, kColours.at(i), 14 + 14 * static_cast<double>(i));
  return svg + axis_text(axis) + "</svg>\n";
}

}  // namespace assay::tools
