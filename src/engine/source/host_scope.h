// What names mean at one place of host code, by reading alone: the type a variable was declared
// with, what an alias stands for, what a host template is called with. So the type that a launch
// hands to a template kernel is known without a compiler. What cannot be followed is not known,
// never guessed.
//
// Borrows the unit's tokens and their partners. Pure; any thread; bounded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/preprocess.h"

namespace assay::source {

struct HostType {
  std::string name{};  // without qualifiers and stars: "double", "std::vector<float>"
  std::size_t pointers = 0;
};

class HostScope {
 public:
  // `partners`: pair_brackets(unit.tokens). `at`: the token whose surroundings count.
  HostScope(const Unit& unit, const std::vector<std::size_t>& partners, std::size_t at,
            int depth = 0);

  // double* of "x", "x.data_ptr<double>()", "(double*)p", "v.data() + 4"; aliases are seen through.
  [[nodiscard]] std::optional<HostType> type_of(std::string_view expression) const;

  // "double" of the "real" that was declared so; the text itself if nothing replaces it.
  [[nodiscard]] HostType type_named(std::string_view text) const;

  // What the calls of the host template around this place give for its parameter `name`, once each.
  [[nodiscard]] std::vector<std::string> given_by_calls(std::string_view name) const;

 private:
  using Type = std::optional<HostType>;

  [[nodiscard]] static bool is_plain(const Token& token);
  [[nodiscard]] static Type type_in(const Tokens& tokens, Range range);
  [[nodiscard]] Type declared(std::string_view name, int depth) const;
  [[nodiscard]] Type declared_at(std::size_t at, int depth) const;
  [[nodiscard]] std::size_t begin_of_type(std::size_t name) const;
  [[nodiscard]] Type base_of_list(std::size_t comma) const;
  [[nodiscard]] std::size_t begin_of_angle(std::size_t close) const;
  struct Template;  // a host template around the place
  [[nodiscard]] std::optional<Template> template_with(std::size_t parameter) const;
  // Of the call whose name stands at `at`.
  [[nodiscard]] std::string given_by_call(std::size_t at, const Template& around,
                                          std::string_view name) const;
  [[nodiscard]] HostType resolved(HostType type) const;
  [[nodiscard]] Type alias(std::string_view name) const;

  // host_expression.cc
  [[nodiscard]] Type value_in(const Tokens& tokens, Range range, int depth) const;
  [[nodiscard]] Type in_parentheses(const Tokens& tokens, Range range, int depth) const;
  [[nodiscard]] Type named(const Tokens& tokens, Range range, int depth) const;
  [[nodiscard]] Type called(const Tokens& tokens, Range name, std::size_t open, std::size_t angle,
                            Range range, int depth) const;
  [[nodiscard]] static std::size_t member(const Tokens& tokens, std::size_t at, Range range,
                                          Type& type);
  [[nodiscard]] static Type behind(const Tokens& tokens, std::size_t at, Range range, Type type);

  const Unit& unit_;
  const Tokens& tokens_;
  const std::vector<std::size_t>& partners_;
  int depth_;                         // of calls that were followed to get here
  std::vector<std::size_t> visible_;  // tokens of the scopes around, nearest first
};

}  // namespace assay::source
