// Every __global__ function of a CUDA C++ source, by reading alone: what a contract, a listing and
// a message need to know before any compiler has run. Comments, strings, macros, namespaces,
// attributes and templates are seen through; what cannot be read is left out, never guessed, and no
// text crashes it.
//
//   for (const auto& kernel : source::signatures(text)) show(kernel.name, kernel.parameters);
//
// Values own their text. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/preprocess.h"

namespace assay::source {

struct Parameter {
  std::string spelled{};  // the whole type as written: "const float* __restrict__"
  std::string type{};     // the C type without qualifiers, pointers and typedefs: "float"
  std::string name{};     // "" if it has none
  std::string default_value{};
  std::size_t pointer_depth = 0;  // 1 for float*, and for float[]
  bool is_const = false;          // of what it points to; of the value itself if it is no pointer
  bool is_restrict = false;
  bool is_reference = false;
  bool is_pack = false;  // Args... args
  std::size_t line = 1;

  [[nodiscard]] bool is_pointer() const { return pointer_depth > 0; }
};

struct TemplateParameter {
  std::string kind{};  // "typename", "class", or the type of a value: "int"
  std::string name{};
  std::string default_value{};
  [[nodiscard]] bool is_type() const { return kind == "typename" || kind == "class"; }
};

struct Signature {
  std::string name{};            // "reduce"
  std::string qualified_name{};  // "ops::reduce"; a nameless namespace adds nothing
  std::vector<TemplateParameter> template_parameters{};
  std::vector<std::string> specialization{};  // {"float"} of template <> … reduce<float>(…)
  std::vector<Parameter> parameters{};
  std::vector<std::string> launch_bounds{};  // {"256", "2"}, macros expanded
  bool is_extern_c = false;
  bool has_body = false;
  std::size_t line = 1;  // of the name

  [[nodiscard]] bool is_template() const { return !template_parameters.empty(); }
};

// "template __global__ void reduce<float>(…);": an instance that the source itself asks for.
struct Instance {
  std::string qualified_name{};
  std::vector<std::string> arguments{};
};

// In the source's order. A declaration that a definition follows is not listed twice.
[[nodiscard]] std::vector<Signature> signatures(std::string_view source);

// The same with what only this room's other files need: where each body lies in unit.tokens.
struct Kernel {
  Signature signature{};
  Range body{};  // between the braces; empty if there is none
};
struct Kernels {
  std::vector<Kernel> kernels{};
  std::vector<Instance> instances{};
};
[[nodiscard]] Kernels find_kernels(const Unit& unit);

}  // namespace assay::source
