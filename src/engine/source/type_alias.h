// What a source's own names of types stand for: `using V = uint4;`, `typedef unsigned* P;`,
// `#define V uint4`, -DV=uint4. Scopes are not followed: a name that several places define is of a
// kind only if it is in each of them, and one that is a template's parameter, too, is of none.
//
// Private to this room; pure; any thread; linear in the text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/token.h"

namespace assay::source {

// The word that a type is by, without what qualifies it: of `const cuda::std::byte*` the `byte`.
[[nodiscard]] std::size_t base_of(const Tokens& tokens, Range type);
// A pointer or a reference.
[[nodiscard]] bool is_indirect(const Tokens& tokens, Range type);

struct TypeMeaning {
  std::string base{};  // "": a type of its own
  bool is_indirect = false;

  bool operator==(const TypeMeaning&) const = default;
};

class TypeAliases {
 public:
  // All that the tokens declare.
  void take(const Tokens& tokens);
  // What a macro stands for, where that can be a type.
  void take_macro(std::string_view name, const Tokens& body);

  // What the name stands for in the end, if that is of `kind` in each of its definitions.
  [[nodiscard]] std::optional<TypeMeaning> always(std::string_view name,
                                                  bool (*kind)(std::string_view)) const;

 private:
  void take_typedef(const Tokens& tokens, std::size_t at);
  void take_using(const Tokens& tokens, std::size_t at);
  void add(std::string_view name, std::string_view base, bool is_indirect);
  [[nodiscard]] std::vector<TypeMeaning> meanings(std::string_view name) const;

  // Of each name the definitions, none of them twice.
  std::map<std::string, std::vector<TypeMeaning>, std::less<>> known_{};
};

}  // namespace assay::source
