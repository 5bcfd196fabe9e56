#include "engine/node/referee_session.h"

#include <algorithm>

#include <sys/random.h>

#include <array>
#include <system_error>
#include <utility>

namespace assay::node {
namespace {

using nlohmann::json;

// For a referee that hangs. Generating and comparing takes about a second per 100 MB on one core,
// ten times that in a sanitized build.
constexpr std::chrono::seconds kRefereeLimit{20};
constexpr std::uint64_t kBytesPerSecond = 10U << 20;

// Drawn once per job; the runners never see it, so hidden trials cannot be foreseen.
json draw_secret() {
  std::array<std::uint64_t, 2> words{};
  if (::getrandom(words.data(), sizeof words, 0) != static_cast<ssize_t>(sizeof words)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return words;
}

// Elements that belong together: along the last dimension that has some.
std::uint64_t row_of(const contract::TensorSpec& spec) {
  const auto row = std::find_if(spec.shape.rbegin(), spec.shape.rend(),
                                [](std::int64_t extent) { return extent > 2; });
  return row == spec.shape.rend() ? std::max<std::uint64_t>(spec.elements(), 1)
                                  : static_cast<std::uint64_t>(*row);
}

}  // namespace

RefereeSession::RefereeSession(std::unique_ptr<RunnerProcess> process,
                               std::shared_ptr<RefereeKernels> kernels, std::stop_token stop)
    : process_(std::move(process)), kernels_(std::move(kernels)), stop_(std::move(stop)) {}

void RefereeSession::post(json body) {
  frames::Frame request;
  request.body = std::move(body);
  process_->post(std::move(request));
}

std::variant<frames::Frame, Ended> RefereeSession::await(const char* expected) {
  const auto limit = kRefereeLimit + std::chrono::seconds(arena_bytes_ / kBytesPerSecond);
  auto reply = process_->await(std::chrono::steady_clock::now() + parts_asked_ * limit, stop_);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, RunnerRole::referee);
  auto frame = std::move(std::get<frames::Frame>(reply));
  if (frame.type() == "no_memory") {
    return Ended{.verdict = job::Verdict::out_of_memory,
                 .summary = "The device has not the memory for these tensors. Use smaller shapes."};
  }
  if (frame.type() != expected) return our_fault("The referee answered out of turn.");
  return frame;
}

void RefereeSession::take_ahead() {
  for (Ahead& one : ahead_) {
    if (!one.reply) one.reply = await("filled");
  }
}

std::variant<frames::Frame, Ended> RefereeSession::ask(json body, const char* expected,
                                                       const posix::Descriptor* lent) {
  take_ahead();
  frames::Frame request;
  request.body = std::move(body);
  if (lent != nullptr) request.descriptors.push_back(lent->duplicate());
  process_->post(std::move(request));
  return await(expected);
}

std::variant<json, Ended> RefereeSession::ask_body(json body, const char* expected) {
  auto reply = ask(std::move(body), expected);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::move(std::get<frames::Frame>(reply).body);
}

std::optional<Ended> RefereeSession::open(const contract::Contract& contract,
                                          const contract::ToleranceRequest& tolerance,
                                          const json& expected, bool in_double) {
  begin_open(contract, tolerance, expected, in_double);
  return opened();
}

void RefereeSession::begin_open(const contract::Contract& contract,
                                const contract::ToleranceRequest& tolerance, const json& expected,
                                bool in_double) {
  json body = {
      {"type", "open"}, {"contract", contract::to_json(contract)}, {"secret", draw_secret()}};
  if (tolerance.atol) body["atol"] = *tolerance.atol;
  if (tolerance.rtol) body["rtol"] = *tolerance.rtol;
  if (!expected.empty()) body["expected"] = expected;
  if (in_double) body["on_host"] = true;
  take_ahead();
  ahead_.clear();
  is_preparing_ = kernels_ != nullptr && !std::exchange(asked_to_prepare_, true);
  if (is_preparing_) {
    frames::Frame request;
    request.body = {{"type", "prepare"}, {"nvrtc", kernels_->nvrtc()}};
    request.blob = kernels_->cubin();
    process_->post(std::move(request));
  }
  post(std::move(body));
}

std::optional<Ended> RefereeSession::opened() {
  if (std::exchange(is_preparing_, false)) {
    // One that cannot prepare itself on its device examines on the host.
    auto reply = process_->await(std::chrono::steady_clock::now() + kRefereeLimit, stop_);
    if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, RunnerRole::referee);
    hear(kernels_, std::get<frames::Frame>(reply));
  }
  auto reply = await("opened");
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  const json& opened = std::get<frames::Frame>(reply).body;
  arena_bytes_ = opened.at("total_bytes").get<std::uint64_t>();
  on_device_ = opened.at("on_device").get<bool>();
  places_.clear();
  for (const auto& item : opened.at("placements")) {
    places_.push_back({.name = item.at("name").get<std::string>(),
                       .argument = item.at("argument").get<std::size_t>(),
                       .offset = item.at("offset").get<std::uint64_t>(),
                       .bytes = item.at("bytes").get<std::uint64_t>()});
  }
  return std::nullopt;
}

void RefereeSession::fill_ahead(std::uint32_t trial, std::uint32_t slot) {
  post({{"type", "fill"}, {"trial", trial}, {"slot", slot}});
  ahead_.push_back({.trial = trial, .slot = slot});
}

std::variant<LentArena, Ended> RefereeSession::fill(std::uint32_t trial, std::uint32_t slot,
                                                    const posix::Descriptor* given) {
  const auto is_of_slot = [&](const Ahead& one) { return one.slot == slot; };
  const auto asked = std::find_if(ahead_.begin(), ahead_.end(), is_of_slot);
  std::variant<frames::Frame, Ended> reply;
  if (asked != ahead_.end() && asked->trial == trial && given == nullptr) {
    // Those before it are answered before it.
    for (auto one = ahead_.begin(); one <= asked; ++one) {
      if (!one->reply) one->reply = await("filled");
    }
    reply = std::move(*asked->reply);
  } else {
    reply = ask({{"type", "fill"}, {"trial", trial}, {"slot", slot}}, "filled", given);
  }
  std::erase_if(ahead_, is_of_slot);
  return arena_of(std::move(reply));
}

std::variant<LentArena, Ended> RefereeSession::fill_otherwise(std::uint32_t trial,
                                                              std::uint32_t slot) {
  return arena_of(
      ask({{"type", "fill"}, {"trial", trial}, {"slot", slot}, {"otherwise", true}}, "filled"));
}

std::variant<LentArena, Ended> RefereeSession::arena_of(std::variant<frames::Frame, Ended> reply) {
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  auto& descriptors = std::get<frames::Frame>(reply).descriptors;
  if (descriptors.empty()) return our_fault("The referee filled no arena.");
  return LentArena{
      .descriptor = std::move(descriptors.front()), .bytes = arena_bytes_, .on_device = on_device_};
}

std::optional<Ended> RefereeSession::vary(const contract::Contract& contract,
                                          const Variation& variation,
                                          const posix::Descriptor& arena, std::uint64_t seed) {
  json tensors = json::array();
  for (const TensorPlace& place : places_) {
    const auto& chosen = variation.arguments;
    if (std::find(chosen.begin(), chosen.end(), place.argument) == chosen.end()) continue;
    const contract::TensorSpec& spec = *contract.args.at(place.argument).tensor_spec;
    tensors.push_back({{"offset", place.offset},
                       {"bytes", place.bytes},
                       {"dtype", contract::name(spec.dtype)},
                       {"row", row_of(spec)}});
  }
  auto reply = ask({{"type", "vary"},
                    {"seed", seed},
                    {"masks_too", variation.masks_too},
                    {"total_bytes", arena_bytes_},
                    {"tensors", std::move(tensors)}},
                   "varied", &arena);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::nullopt;
}

std::variant<json, Ended> RefereeSession::expect() {
  return ask_body({{"type", "expect"}}, "expected");
}
std::variant<json, Ended> RefereeSession::expect(std::uint32_t slot) {
  return ask_body({{"type", "expect"}, {"slot", slot}}, "expected");
}
std::variant<json, Ended> RefereeSession::expect_in_double(const char* part) {
  return ask_body({{"type", "expect_in_double"}, {"part", part}}, "expected");
}
std::variant<LentArena, Ended> RefereeSession::fill_wide(std::uint64_t bytes) {
  auto reply = ask({{"type", "fill_wide"}}, "filled");
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  auto& descriptors = std::get<frames::Frame>(reply).descriptors;
  if (descriptors.empty()) return our_fault("The referee filled no arena.");
  return LentArena{.descriptor = std::move(descriptors.front()), .bytes = bytes};
}
std::variant<json, Ended> RefereeSession::expect_wide() {
  return ask_body({{"type", "expect_wide"}}, "expected");
}
std::variant<json, Ended> RefereeSession::check(std::uint32_t slot) {
  auto said = check(std::vector{slot});
  if (auto* ended = std::get_if<Ended>(&said)) return std::move(*ended);
  return std::move(std::get<std::vector<json>>(said).front());
}
std::variant<std::vector<json>, Ended> RefereeSession::check(
    const std::vector<std::uint32_t>& slots) {
  parts_asked_ = std::max<std::size_t>(slots.size(), 1);
  auto reply = ask_body({{"type", "check"}, {"slots", slots}}, "checked");
  parts_asked_ = 1;
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  auto said = std::get<json>(reply).at("said").get<std::vector<json>>();
  if (said.size() != slots.size()) return our_fault("The referee checked something else.");
  return said;
}
std::variant<json, Ended> RefereeSession::outline_as(std::uint32_t trial, std::uint32_t slot) {
  return ask_body({{"type", "outline"}, {"slot", slot}, {"trial", trial}}, "outlined");
}
std::variant<json, Ended> RefereeSession::weak_oracle() {
  return ask_body({{"type", "weak_oracle"}}, "weak_oracle");
}

}  // namespace assay::node
