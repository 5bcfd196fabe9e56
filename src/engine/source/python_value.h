// What a Python expression is known to be by reading: a text, an integer, a list of values, or
// nothing. A value that Python would make otherwise carries a doubt, with what could be read of it.
//
// Values. Pure; any thread; texts are bounded.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/lined_text.h"

namespace assay::source {

struct PythonDoubt {
  std::string why{};  // "" for none
  std::size_t line = 0;
};

struct PythonValue {
  enum class Kind : std::uint8_t { nothing, text, integer, list };
  Kind kind = Kind::nothing;
  LinedText text{};
  std::int64_t integer = 0;
  std::vector<PythonValue> items{};
  PythonDoubt doubt{};
  std::set<std::size_t> made_of{};  // assignments that went into it, by number

  [[nodiscard]] bool is_exact() const { return kind != Kind::nothing && doubt.why.empty(); }
  [[nodiscard]] bool is_text() const { return kind == Kind::text; }
  void doubt_that(std::string why, std::size_t line);
  // What another value brings along into this one.
  void take_from(const PythonValue& other);
};

// str(value) of a text or an integer; of others the field as it is spelled, in doubt.
[[nodiscard]] PythonValue as_text(const PythonValue& value, std::string_view spelled,
                                  std::size_t line);

// a + b
[[nodiscard]] PythonValue sum(PythonValue left, const PythonValue& right, std::size_t line);

struct PythonArguments {
  std::vector<PythonValue> positional{};
  std::map<std::string, PythonValue, std::less<>> named{};
  bool is_unpacked = false;  // *args, **kwargs
};

// text.format(…), text % value, separator.join([…]), text.replace(…) and their like: what Python
// makes of them where every part is known.
[[nodiscard]] PythonValue formatted(const PythonValue& text, const PythonArguments& arguments,
                                    std::size_t line);
[[nodiscard]] PythonValue interpolated(const PythonValue& text, const PythonValue& value,
                                       std::size_t line);
[[nodiscard]] PythonValue called(const PythonValue& text, std::string_view method,
                                 const PythonArguments& arguments, std::size_t line);

}  // namespace assay::source
