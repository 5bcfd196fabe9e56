// The Python interpreters that kernels of the Python types may run on: those the operator named, or
// the active one. Looked at without importing anything heavy; what is missing is a fact that
// verdicts and capabilities name.
//
// Values; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::node {

struct Interpreter {
  std::string name{};                             // what a job calls it
  std::string executable{};                       // absolute
  std::string version{};                          // "3.11.7"
  std::vector<std::string> readable{};            // what a confined child of it must see
  std::map<std::string, std::string> packages{};  // torch, triton, numpy, cupy: version
  std::string cuda{};                             // that torch was built for; "": CPU tensors only
  std::string missing{};                          // why it cannot be used; "": it can
};

// Blocks for a fraction of a second per interpreter. Each is a path, a command on $PATH or
// NAME=either; without any, the `python3` on $PATH. Of two with one name the first counts.
[[nodiscard]] std::vector<Interpreter> find_interpreters(const std::vector<std::string>& named);

// The first that can be used and has `package`, else the first that can be used; null if there is
// none.
[[nodiscard]] const Interpreter* usable(const std::vector<Interpreter>& interpreters,
                                        const std::string& package = "torch");

// The one that a job calls so, by its name or its path; null if there is none.
[[nodiscard]] const Interpreter* named(const std::vector<Interpreter>& interpreters,
                                       const std::string& wanted);

// Why no Python kernel can run here, and the next step. REQUIRES that none is usable.
[[nodiscard]] std::string why_no_python(const std::vector<Interpreter>& interpreters);

[[nodiscard]] nlohmann::json describe(const std::vector<Interpreter>& interpreters);

}  // namespace assay::node
