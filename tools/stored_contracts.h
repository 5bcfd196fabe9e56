// Contracts under a name, below the state directory: one file each, written beside and moved into
// place, so that a reader meets a whole contract or none. Names are letters, digits, '_', '-' and
// '.', so that none leads out of the folder.
//
// Each principal has its own: those of whoever holds a token in a folder named after a digest of
// its name, those of a server without tokens ("local") in the folder itself, where the command line
// finds them.
//
// Any thread, any number of servers on one folder. Holds nothing but the path.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tools {

class StoredContracts {
 public:
  explicit StoredContracts(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] StoredContracts of(const std::string& principal) const;

  // 1 to 100 characters, the first a letter, digit or '_'.
  [[nodiscard]] static bool is_name(std::string_view text);

  // REQUIRES is_name(name). Replaces what was there. Throws std::system_error.
  void save(const std::string& name, const nlohmann::json& document) const;
  // Nothing: there is none, or it is no JSON any more.
  [[nodiscard]] std::optional<nlohmann::json> load(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;  // sorted

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& name) const;

  std::filesystem::path folder_;
};

}  // namespace assay::tools
