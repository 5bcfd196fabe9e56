// A runner for tests of what is timed: as kernel it takes as long as it likes, and cannot be
// captured in a graph; after that it is out of order, as a process may be. Other sizes of its
// arenas make other kernels of it, which can be captured. What is staged it signals. As referee it
// finds nothing.
#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>

#include "engine/confinement/child.h"
#include "engine/confinement/enter.h"
#include "engine/frames/channel.h"
#include "tests/engine/fake_kernels.h"

namespace {

using namespace assay;
using namespace assay::fake_kernels;
using nlohmann::json;

constexpr std::chrono::milliseconds kClockTurn{2};
constexpr std::uint64_t kLeastTellingWhatIsLeft = kUnsteadyAlikeBytes;
#ifdef ASSAY_IDLES_WHEN_REPEATED
constexpr bool kIdles = true;
#else
constexpr bool kIdles = false;
#endif

struct Kernel {
  std::uint64_t bytes = 0;
  std::uint32_t runs = 0;  // so far
  std::set<int> seen{};    // contents, by this process
  std::uint32_t fresh_questions = 0;
  std::uint32_t warm_questions = 0;
  std::uint32_t graphs = 0;
  std::uint32_t graphs_begun = 0;
  std::uint32_t drawn = 1;
  std::uint32_t since_loaded = 0;  // runs
};

// Not the first of its turn, and the first on its contents, in memory without traces.
bool is_anew(const json& order, std::size_t run) {
  const json& runs = order.at("runs");
  if (order.at("fresh_module") != true || run == 0) return false;
  return std::none_of(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(run),
                      [&](const json& before) { return before.at(1) == runs.at(run).at(1); });
}

double scattered_ns(double typical_ns, Kernel& kernel) {
  constexpr std::array kScatterNs{0, 600, -300, 900, -700, 200, -100, 400, -900, 100, -200};
  return typical_ns + kScatterNs[kernel.runs++ % kScatterNs.size()];
}

// So many times of a thousand, in no order.
bool is_drawn(Kernel& kernel, unsigned per_mille) {
  kernel.drawn = kernel.drawn * 1'664'525U + 1'013'904'223U;
  return (kernel.drawn >> 16) % 1000 < per_mille;
}

bool is_found(Kernel& kernel) { return is_drawn(kernel, 400); }

double now_ms() {
  constexpr std::int64_t kWraps = 1'000'000;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count() %
                             kWraps);
}

double sample_ns(const json& order, std::size_t run, Kernel& kernel) {
  const bool is_graph = order.at("view") == "graph";
  const json& told = order.at("runs").at(run);
  const bool is_last = run + 1 == order.at("runs").size();
  switch (kernel.bytes) {
    case kAskedBytes:
      return kernel.fresh_questions > 0 && order.at("fresh_module") != true ? 5'000 : 80'000;
    case kCapriciousBytes:
      return is_graph ? 1'000 : 80'000;
    case kWearyBytes:
      return kernel.fresh_questions > 0 ? 80'000 : 5'000;
    case kWanderingBytes:
      if (run == 0) static_cast<void>(is_found(kernel));
      return 80'000 + (kernel.drawn >> (kIdles ? 8U : 16U)) % 40'000;
    case kLeaningBytes:
      return is_graph || told.at(3) == true ? 1'000 : 80'000;
    case kCapturedOnceBytes:
      return is_graph ? 1'000 : 80'000;
    case kRestlessBytes:
      if (is_graph) return 100'000;
      return kernel.runs++ % 2 == 0 ? 200'000 : 400'000;
    case kSeldomSlowBytes:
      if (is_graph) return 10'000;
      return told.at(1) == 2 ? 28'000 : 1'000;
    case kHidingBytes:
    case kIdleBytes:
    case kHalfCapturableBytes:
      return 10'000;
    case kRememberingBytes:
      return is_anew(order, run) ? 80'000 : 5'000;
    case kSlightlyRememberingBytes:
      return scattered_ns(is_anew(order, run) ? 7'000 : 5'000, kernel);
    case kScatteringBytes:
      return scattered_ns(order.at("fresh_module") == true && is_last ? 6'000 : 5'000, kernel);
    case kDisturbedBytes:
      if (order.at("fresh_module") == true) return kernel.fresh_questions == 1 ? 80'000 : 5'000;
      return order.at("view") == "warm" && kernel.warm_questions == 1 ? 80'000 : 5'000;
    case kDisturbedLongBytes:
      return order.at("fresh_module") == true && kernel.fresh_questions <= 3 ? 80'000 : 5'000;
    case kCrampedBytes:
      if (order.at("fresh_module") == true) return is_anew(order, run) ? 80'000 : 5'000;
      return told.at(1) == 0 ? 5'000 : 80'000;
    case kForgetfulBytes:
      return is_anew(order, run) || !is_found(kernel) ? 80'000 : 5'000;
    case kPatientBytes:
      if (order.at("fresh_module") == true && run == 0) kernel.since_loaded = 0;
      if (++kernel.since_loaded <= 40) return 80'000;
      return told.at(1) == 0 || is_found(kernel) ? 5'000 : 80'000;
    case kRipeningBytes:
      if (order.at("fresh_module") == true && run == 0) kernel.since_loaded = 0;
      return ++kernel.since_loaded <= 70 ? 80'000 : 5'000;
    case kBrieflyPatientBytes: {
      if (is_graph) return 3'300;
      if (order.at("fresh_module") == true && run == 0) {
        kernel.since_loaded = 0;
        kernel.seen.clear();
      }
      const bool is_known = !kernel.seen.insert(told.at(1).get<int>()).second;
      return ++kernel.since_loaded > 8 && is_known ? 3'300 : 5'500;
    }
    case kUnsteadyAlikeBytes:
    case kUnsteadyBytes:
      return is_drawn(kernel, 200) ? 10'000 : 12'500;
    case kFickleBytes:
      return is_found(kernel) ? 5'000 : 80'000;
    case kKeepsThirdBytes:
      return told.at(1) == 2 && !is_anew(order, run) ? 5'000 : 80'000;
    case kChoosyBytes:
      return told.at(1) == 0 ? 5'000 : 80'000;
    case kHeapBytes:
      return kernel.seen.insert(told.at(1).get<int>()).second && run > 0 ? 80'000 : 5'000;
    case kSlightlyLeaningBytes:
      if (!is_graph) return 5'000;
      return order.at("renews_each") == true ? 3'000 : (kIdles ? 1'200 : 1'600);
    case kSlightlyFasterBytes:
      return is_graph ? (kIdles ? 2'600 : 3'000) : 5'000;
    case kSpinningBytes:
      return is_graph ? (kIdles ? 1'800 : 3'000) : 5'000;
    case kBarelyLeaningBytes:
      if (!is_graph) return kIdles ? 4'920 : 5'000;
      if (!kIdles) return 3'000;
      return order.at("renews_each") == true ? 2'920 : 1'900;
    case kTwiceSavingBytes:
    case kOnlyAloneSavingBytes: {
      const bool is_less = kernel.bytes == kOnlyAloneSavingBytes && order.at("renews_each") == true;
      if (!is_graph) return kIdles ? 8'800 : 10'000;
      return kIdles ? (is_less ? 6'800 : 5'600) : 8'000;
    }
    case kDoublySavingBytes:
      if (!is_graph) return kIdles ? 6'000 : 12'000;
      if (!kIdles) return 10'000;
      return order.at("renews_each") == true ? 4'000 : 2'500;
    case kTellingBytes:
      if (is_graph) return 10'000;
      return 10'000 + told.at(0).get<double>() + 100 * told.at(1).get<double>() +
             (told.at(2) == true ? 1'000 : 0);
    case kClockBytes:
      return now_ms();
    case kLongBytes:
      return 300'000;
    case kSlowBytes:
      return 20e6;
    case kUntruthfulBytes:
      return 2e6;
    case kIdlingBytes:
      return kIdles && order.at("view") != "cold" ? 5'000 : 50'000;
    case kSometimesIdlingBytes:
      if (is_graph && run == 0) ++kernel.graphs_begun;
      if (!kIdles) return 50'000;
      return is_graph && kernel.graphs_begun % 5 % 2 == 1 ? 5'000 : 45'000;
    case kUnevenBytes:
      if (is_graph) return 140'000;
      return told.at(1) == 0 ? 20'000 : 200'000;
    default:
      return 5'000;
  }
}

std::uint64_t digest_of(const json& run, Kernel& kernel, json& sample) {
  constexpr std::uint64_t kRight = std::uint64_t{1} << 63;
  const std::uint64_t begun_with = run.at(1).get<std::uint64_t>();
  const bool is_lazy = run.at(2) != true && is_drawn(kernel, 200);
  if (kernel.bytes == kSkippingBytes && is_lazy) return begun_with;
  if (kernel.bytes == kSkimpingBytes && is_lazy) {
    sample = sample.get<double>() / 2;
    return kRight + begun_with + 100;
  }
  const bool is_other = kernel.bytes == kSeldomOtherwiseBytes && is_drawn(kernel, 80);
  if (is_other) return kRight + begun_with + 50;
  if (kernel.bytes == kRacingBytes) return kRight + 1'000 + kernel.runs++;
  return kRight + begun_with;
}

// Contents begin with their number.
void add_digests(const json& order, Kernel& kernel, json& turn) {
  if (order.at("digests") != true || kernel.bytes < kLeastTellingWhatIsLeft) return;
  turn["begun_with"] = {0U, 1U, 2U};
  turn["digests"] = json::array();
  std::size_t which = 0;
  for (const json& run : order.at("runs")) {
    turn["digests"].push_back(digest_of(run, kernel, turn["samples_ns"].at(which++)));
  }
}

bool tells_wall(const Kernel& kernel) {
  return kernel.bytes == kHidingBytes || kernel.bytes == kIdleBytes ||
         kernel.bytes == kSeldomSlowBytes;
}

unsigned launches_of_graph(const Kernel& kernel) {
  return tells_wall(kernel) || kernel.bytes == kSpinningBytes ? 16 : 1;
}

// Of a graph: what its launches take by the slope, and what a graph costs beside them.
double once_ns(double slope_ns, const Kernel& kernel) {
  constexpr double kBesideNs = 5'000;
  // Its launches take 3 us, and the shorter graph as much more as the slope is less.
  const double spins_ns = kernel.bytes == kSpinningBytes && kIdles ? 2 * 1'200 : 0;
  return kBesideNs + launches_of_graph(kernel) * (slope_ns + spins_ns);
}

void add_graph(const Kernel& kernel, json& turn) {
  constexpr double kSlopeNs = 10'000;
  constexpr unsigned kLaunches = 64;
  turn["wall"] = {{"launches", kLaunches},
                  {"wall_ns", kLaunches * kSlopeNs + 50'000},
                  {"events_ns", kLaunches * kSlopeNs}};
  if (kernel.bytes == kHidingBytes) {
    turn["wall"]["wall_ns"] = 4 * kLaunches * kSlopeNs;
    turn["wall"]["hidden_ns"] = 3 * kSlopeNs;
  }
}

// Of the samples' own launches.
void add_agreeing_clock(json& turn) {
  double sum_ns = 0;
  for (const json& sample : turn.at("samples_ns")) sum_ns += sample.get<double>();
  const auto launches = turn.at("launches").get<unsigned>();
  turn["wall"] = {{"launches", launches * turn.at("samples_ns").size()},
                  {"wall_ns", launches * sum_ns},
                  {"events_ns", launches * sum_ns}};
}

void add_idle_device(const json& order, json& turn) {
  turn["clock_mhz"] = 1'900;
  if (order.at("ramp_below_mhz") > 345) turn["ramp"] = {{"from_mhz", 345}, {"ms", 60}};
  if (order.at("tell_state")) turn["state"] = {{"held_down", json::array()}};
  if (order.at("tell_neighbours")) turn["state"]["busy_pct"] = 90;
}

json taken(const json& order, Kernel& kernel, bool& is_broken) {
  json turn = {{"ending", "completed"}, {"samples_ns", json::array()}, {"launches", 0},
               {"clock_mhz", nullptr},  {"event_overhead_ns", 0},      {"note", ""}};
  const bool is_graph = order.at("view") == "graph";
  if (is_graph) turn["launches"] = launches_of_graph(kernel);
  const bool was_enough = kernel.bytes == kCapturedOnceBytes && is_graph && kernel.graphs++ > 0;
  const bool is_half = kernel.bytes == kHalfCapturableBytes && is_graph && !kIdles;
  if (was_enough || is_half || (is_graph && kernel.bytes < kLeaningBytes)) {
    is_broken = true;
    turn["note"] = "graph capture failed: no reason";
    return turn;
  }
  for (std::size_t run = 0; run < order.at("runs").size(); ++run) {
    turn["samples_ns"].push_back(sample_ns(order, run, kernel));
    if (is_graph) turn["once_ns"].push_back(once_ns(turn["samples_ns"].back(), kernel));
  }
  add_digests(order, kernel, turn);
  if (is_graph) tells_wall(kernel) ? add_graph(kernel, turn) : add_agreeing_clock(turn);
  if (kernel.bytes == kIdleBytes) add_idle_device(order, turn);
  return turn;
}

// What it says it took, it takes: the engine has a clock of its own.
json timed(const json& orders, Kernel& kernel, bool& is_broken) {
  json reply = {{"type", "timed"}, {"turns", json::array()}};
  std::chrono::duration<double, std::nano> took{0};
  if (kernel.bytes == kClockBytes) took = kClockTurn;  // so that no two turns are at once
  const auto any = [&](const char* key, const json& value) {
    return std::any_of(orders.begin(), orders.end(),
                       [&](const json& order) { return order.at(key) == value; });
  };
  kernel.fresh_questions += any("fresh_module", true) ? 1 : 0;
  kernel.warm_questions += any("view", "warm") ? 1 : 0;
  for (const json& order : orders) {
    const json& turn = reply["turns"].emplace_back(taken(order, kernel, is_broken));
    if (kernel.bytes == kSlowBytes) {
      took += order.at("warmups").get<int>() * decltype(took)(20e6);
      if (order.at("view") == "graph") took *= 6;  // N and 2 N launches
    }
    const double launches = std::max(turn.at("launches").get<double>(), 1.0);
    for (const json& sample : turn.at("samples_ns")) {
      took += decltype(took)(launches * sample.get<double>());
      if (kernel.bytes == kUntruthfulBytes) took += decltype(took)(4e6);
    }
    if (tells_wall(kernel) && turn.contains("wall"))
      took += decltype(took)(turn.at("wall").at("wall_ns").get<double>());
    if (is_broken) break;
  }
  std::this_thread::sleep_for(took);
  return reply;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace assay;
  if (const auto code = confinement::enter_confinement(argc, argv)) return *code;
  frames::Channel channel(posix::Descriptor(confinement::kChannelDescriptor), frames::Caps{}, true);
  bool is_broken = false;
  Kernel kernel;
  while (const auto request = channel.receive()) {
    frames::Frame reply;
    if (is_broken) return 1;
    if (request->type() == "time") {
      reply.body = timed(request->body.at("turns"), kernel, is_broken);
    } else if (request->type() == "stage") {
      kernel.bytes = request->body.at("arena_bytes");
      for (const auto& arena : request->descriptors) posix::signal_event(arena);
      reply.body = {{"type", "staged"}, {"places", request->body.at("places")}};
    } else if (request->type() == "capture") {
      is_broken = kernel.bytes < kLeaningBytes;
      reply.body = {{"type", "captured"},
                    {"note", is_broken ? "graph capture failed: no reason, asked ahead" : ""}};
    } else {
      reply.body = {{"type", "checked"}, {"said", request->body.at("slots")}};
    }
    channel.send(std::move(reply));
  }
  return 0;
}
