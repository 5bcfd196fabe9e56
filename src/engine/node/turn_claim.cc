#include "engine/node/turn_claim.h"

#include "engine/node/claimed_report.h"
#include "engine/node/claimed_value.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kMostContents = 64;
constexpr double kMostMhz = 1e5;
constexpr double kMostMs = 1e9;

std::optional<WallClaim> wall_claim(const json& told) {
  const auto found = told.find("wall");
  if (found == told.end()) return std::nullopt;
  WallClaim wall{.launches = claimed_count(found->at("launches")),
                 .wall_ns = claimed_ns(found->at("wall_ns")),
                 .events_ns = claimed_ns(found->at("events_ns"))};
  if (found->contains("hidden_ns")) wall.hidden_ns = claimed_ns(found->at("hidden_ns"));
  return wall;
}

std::vector<std::uint64_t> digests_claim(const json& told, std::size_t most) {
  std::vector<std::uint64_t> digests;
  for (const json& digest : claimed_list(told, most)) {
    if (!digest.is_number_unsigned()) throw ImplausibleClaim("a digest that is none");
    digests.push_back(digest.get<std::uint64_t>());
  }
  return digests;
}

// Its samples are what the runner made of both: taken as both say.
void take_graphs(const json& told, Turn& turn) {
  const json& once = claimed_list(told.at("once_ns"), turn.samples_ns.size());
  if (once.size() != turn.samples_ns.size() || turn.launches == 0) {
    throw ImplausibleClaim("a graph without its times");
  }
  for (std::size_t i = 0; i < once.size(); ++i) {
    const double once_ns = claimed_ns(once[i]);
    const GraphTimes times{.once_ns = once_ns,
                           .twice_ns = once_ns + turn.samples_ns[i] * turn.launches,
                           .launches = turn.launches};
    turn.samples_ns[i] = slope_ns(times);
    turn.graphs.push_back(times);
  }
}

}  // namespace

Turn turn_claim(const json& told, const OrderedTurn& ordered) {
  Turn turn{.launches = claimed_small_count(told.at("launches")),
            .event_overhead_ns = claimed_ns(told.at("event_overhead_ns")),
            .state = told_state(told),
            .note = claimed_text(told.at("note"), kToldNoteBytes)};
  for (const json& sample : claimed_list(told.at("samples_ns"), ordered.runs)) {
    turn.samples_ns.push_back(claimed_ns(sample));
  }
  const bool is_failure = turn.samples_ns.empty() && ordered.is_graph;
  if (turn.samples_ns.size() != ordered.runs && !is_failure) {
    throw ImplausibleClaim("runs without a time");
  }
  if (ordered.is_graph && !is_failure) take_graphs(told, turn);
  if (told.at("clock_mhz").is_number()) {
    turn.clock_mhz = claimed_number(told.at("clock_mhz"), 0, kMostMhz);
  }
  turn.wall = wall_claim(told);
  if (const auto ramp = told.find("ramp"); ramp != told.end()) {
    turn.ramped_from_mhz = claimed_number(ramp->at("from_mhz"), 0, kMostMhz);
    turn.ramped_ms = claimed_number(ramp->at("ms"), 0, kMostMs);
  }
  if (!told.contains("digests")) return turn;
  turn.digests = digests_claim(told.at("digests"), ordered.runs);
  turn.begun_with = digests_claim(told.at("begun_with"), kMostContents);
  if (turn.digests.size() != turn.samples_ns.size()) {
    throw ImplausibleClaim("runs without a digest");
  }
  return turn;
}

}  // namespace assay::node
