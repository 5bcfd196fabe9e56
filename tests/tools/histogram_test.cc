#include "tools/histogram.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/catch.h"

using namespace assay::tools;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("bins hold every sample once, each where its value lies", "[histogram]") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t bins = 1 + random() % 60;
    const double low = static_cast<double>(random() % 1000) - 500;
    const double high = low + 1 + static_cast<double>(random() % 1000);
    std::vector<double> samples(random() % 300);
    for (double& sample : samples)
      sample = low - 100 + static_cast<double>(random() % 100'000) / 100'000 * (high - low + 200);
    const auto counts = binned(samples, low, high, bins);
    REQUIRE(counts.size() == bins);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == samples.size());
    // The other way round: by the edges of each bin.
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double width = (high - low) / static_cast<double>(bins);
      const double from = bin == 0 ? -std::numeric_limits<double>::infinity()
                                   : low + width * (static_cast<double>(bin) + 1e-9);
      const double to = bin + 1 == bins ? std::numeric_limits<double>::infinity()
                                        : low + width * (static_cast<double>(bin + 1) - 1e-9);
      const auto inside = static_cast<std::size_t>(std::count_if(
          samples.begin(), samples.end(), [&](double s) { return s >= from && s <= to; }));
      CHECK(inside <= counts[bin]);
    }
  }
}

TEST_CASE("a histogram shows a median for each series that has samples", "[histogram]") {
  const std::string two = histogram_svg({.title = "t",
                                         .series = {{.name = "kernel", .samples_ns = {1000, 3000}},
                                                    {.name = "reference", .samples_ns = {5e6}}}});
  CHECK(two.find("kernel: 2 runs, median 2 µs") != std::string::npos);
  CHECK(two.find("reference: 1 runs, median 5 ms") != std::string::npos);
  const std::string one = histogram_svg(
      {.title = "t", .series = {{.name = "kernel", .samples_ns = {7}}, {.name = "reference"}}});
  CHECK(one.find("kernel: 1 runs, median 7 ns") != std::string::npos);
  CHECK(one.find("reference") == std::string::npos);
}

TEST_CASE("samples that are all the same, or none, are still a picture", "[histogram]") {
  for (const auto& samples : std::vector<std::vector<double>>{{}, {0}, {5, 5, 5}, {0, 0}}) {
    const std::string svg =
        histogram_svg({.title = "t", .series = {{.name = "k", .samples_ns = samples}}});
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(count_of(svg, "<g ") == (samples.empty() ? 0 : 1));
  }
}
