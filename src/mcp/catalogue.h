// The tools on offer: their order, their names with aliases, and the schemas made ready to check.
// Immutable after construction; any thread may look up.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/param_headers.h"
#include "mcp/schema.h"
#include "mcp/tool.h"

namespace assay::mcp {

struct Entry {
  Tool tool{};
  Schema input{};
  Schema output{};  // accepts everything when the tool promises nothing
  OrderedJson served_input_schema{};
  // The promise in short: what the members are, not what is in them. Lists are paid for by tokens.
  OrderedJson served_output_schema = nullptr;
  std::vector<ParamHeader> headers{};
};

// A name as the client used it: which tool it means, and how its arguments are to be rewritten.
struct Lookup {
  const Entry* entry = nullptr;
  const Alias* alias = nullptr;
};

class Catalogue {
 public:
  // Throws std::invalid_argument, naming the tool, when one is not servable.
  explicit Catalogue(std::vector<Tool> tools);

  [[nodiscard]] const std::vector<std::unique_ptr<Entry>>& entries() const { return entries_; }
  // Null entry: no such tool.
  [[nodiscard]] Lookup find(std::string_view name) const;
  // The listed name closest to an unknown one, or empty.
  [[nodiscard]] std::string nearest(std::string_view name) const;

 private:
  void take_name(const std::string& name, Lookup meaning);

  std::vector<std::unique_ptr<Entry>> entries_{};
  std::map<std::string, Lookup, std::less<>> names_{};
};

}  // namespace assay::mcp
