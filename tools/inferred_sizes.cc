#include "tools/inferred_sizes.h"

#include <algorithm>
#include <array>

#include "engine/contract/dtype.h"
#include "tools/element.h"

namespace assay::tools {
namespace {

bool is_integer_scalar(const source::Parameter& parameter, const InferredInstance& instance) {
  const auto element = element_of(instance.type(parameter.type));
  return !parameter.is_pointer() && element && element->width == 1 &&
         contract::is_integer(element->dtype);
}

// Of a scalar that is no extent, by its name: a stride is 1, a kernel's width 3, an offset 0.
std::int64_t neighbour_value(const std::string& name) {
  if (says(name, "stride") || says(name, "dilation")) return 1;
  return says(name, "k") && says(name, "size") ? 3 : 0;
}

// Work that grows with the square of a size must end on an emulator too.
void bound_work(const source::Usage& usage, KnownSizes& known) {
  for (const auto& name : usage.loop_sizes) {
    const auto size = known.find(name);
    if (size == known.end() || usage.indexes.empty()) continue;
    const bool is_square =
        std::any_of(usage.indexes.begin(), usage.indexes.end(),
                    [&](const source::ThreadIndex& index) { return index.bound == name; });
    size->second = std::min<std::int64_t>(size->second, is_square ? 256 : 1024);
  }
}

// Where each thread of a lone block has one element, there are no more of them than threads.
void fit_into_one_block(const source::Usage& usage, KnownSizes& known) {
  const std::int64_t most = usage.coordinates.contains("threadIdx.y") ? 16 : 256;
  for (const auto& index : usage.indexes) {
    if (index.uses_block || !index.uses_thread || index.is_stepped) continue;
    for (const auto& token : source::lex(index.bound)) {
      const auto size = known.find(token.text);
      if (size != known.end()) size->second = std::min(size->second, most);
    }
  }
}

// Numbers that the host code itself passes, unless they would keep an emulator busy for minutes.
void take_host_values(const source::Launch& launch, const source::Signature& signature,
                      KnownSizes& known) {
  constexpr std::int64_t kMost = 1 << 20;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const auto found = known.find(signature.parameters[i].name);
    const auto value = constant_argument(launch, i);
    if (found != known.end() && value && *value > 0 && *value <= kMost) found->second = *value;
  }
}

}  // namespace

std::string InferredSizes::total() const {
  std::string product;
  for (const auto& name : dimensions) product += (product.empty() ? "" : "*") + name;
  return product.empty() ? "1024" : product;
}

InferredSizes infer_sizes(const source::Signature& signature, const source::Usage& usage,
                          const InferredInstance& instance,
                          const std::optional<source::Launch>& launch, const KnownSizes& given,
                          std::vector<std::string>& assumptions) {
  InferredSizes sizes{.known = instance.numbers};
  for (const source::Parameter& parameter : signature.parameters) {
    if (!is_integer_scalar(parameter, instance) || parameter.name.empty()) continue;
    if (is_neighbour(parameter.name)) {
      sizes.known[parameter.name] = neighbour_value(parameter.name);
    } else {
      sizes.dimensions.push_back(parameter.name);
    }
  }
  static constexpr std::array<std::int64_t, 5> kByCount{65536, 65536, 256, 128, 16};
  const std::int64_t each = kByCount[std::min<std::size_t>(sizes.dimensions.size(), 4)];
  for (const auto& name : sizes.dimensions) sizes.known[name] = each;
  bound_work(usage, sizes.known);
  fit_into_one_block(usage, sizes.known);
  if (launch) take_host_values(*launch, signature, sizes.known);
  for (const auto& [name, value] : given) sizes.known[name] = value;
  for (const auto& name : sizes.dimensions) {
    if (!given.contains(name)) {
      assumptions.push_back(name + " = " + std::to_string(sizes.known[name]));
    }
  }
  return sizes;
}

}  // namespace assay::tools
