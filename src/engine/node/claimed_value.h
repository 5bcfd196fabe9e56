// Values of what a runner claims, each within what an honest one may say: a count that is no count,
// a time beyond all times, a list without end leave for decode_claim() (ended.h) as what is no
// number at all does.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::node {

// An exception of json's, so that whoever decodes a claim catches one kind only.
class ImplausibleClaim : public nlohmann::json::exception {
 public:
  explicit ImplausibleClaim(const char* what) : exception(600, what) {}
};

inline constexpr double kMostClaimedNs = 1e15;  // eleven days
inline constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 53;

// A whole number that is not negative.
[[nodiscard]] inline std::uint64_t claimed_count(const nlohmann::json& value,
                                                 std::uint64_t most = kMostCounted) {
  const bool is_count =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!is_count || value.get<std::uint64_t>() > most) {
    throw ImplausibleClaim("a count that is none");
  }
  return value.get<std::uint64_t>();
}

[[nodiscard]] inline std::uint32_t claimed_small_count(const nlohmann::json& value) {
  return static_cast<std::uint32_t>(
      claimed_count(value, std::numeric_limits<std::uint32_t>::max()));
}

[[nodiscard]] inline double claimed_number(const nlohmann::json& value, double least, double most) {
  const auto number = value.get<double>();
  if (!(number >= least && number <= most)) throw ImplausibleClaim("a number beyond all bounds");
  return number;
}

// Less than nothing is what an event's doubt or a slope may come to.
[[nodiscard]] inline double claimed_ns(const nlohmann::json& value) {
  return claimed_number(value, -kMostClaimedNs, kMostClaimedNs);
}

[[nodiscard]] inline const nlohmann::json& claimed_list(const nlohmann::json& value,
                                                        std::size_t most) {
  if (!value.is_array() || value.size() > most) throw ImplausibleClaim("a list that is none");
  return value;
}

[[nodiscard]] inline const nlohmann::json& claimed_object(const nlohmann::json& value,
                                                          std::size_t most) {
  if (!value.is_object() || value.size() > most) throw ImplausibleClaim("an object that is none");
  return value;
}

[[nodiscard]] inline std::string claimed_text(const nlohmann::json& value, std::size_t most_bytes) {
  return value.get<std::string>().substr(0, most_bytes);
}

}  // namespace assay::node
