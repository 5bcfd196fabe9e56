#include "engine/runner/kernel_choice.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <memory>

namespace assay::runner {
namespace {

// A plain function's own name, "_Z5scalePf" or "_ZN3one5scaleEPf", where the demangler gives up, as
// it does on some hundreds of parameters. "" for what is spelled otherwise.
std::string name_alone(std::string_view entry) {
  std::string name;
  entry.remove_prefix(2);
  const bool is_nested = entry.starts_with('N');
  if (is_nested) entry.remove_prefix(1);
  while (!entry.empty() && entry.front() >= '1' && entry.front() <= '9') {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), length);
    entry.remove_prefix(static_cast<std::size_t>(end - entry.data()));
    if (error != std::errc() || length > entry.size()) return "";
    name += (name.empty() ? "" : "::") + std::string(entry.substr(0, length));
    entry.remove_prefix(length);
    if (!is_nested) break;
  }
  const bool is_whole = is_nested ? entry.starts_with('E') : !entry.starts_with('I');
  return is_whole ? name : "";
}

}  // namespace

std::string display_name(const std::string& entry) {
  // The demangler takes "f" for a type and answers "float".
  if (!entry.starts_with("_Z")) return entry;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : entry;
}

std::string base_name(const std::string& entry) {
  std::string name = display_name(entry);
  if (name == entry && entry.starts_with("_Z")) {
    const std::string alone = name_alone(entry);
    return alone.empty() ? entry : alone;
  }
  // A nameless namespace adds nothing that could be written.
  constexpr std::string_view kNameless = "(anonymous namespace)::";
  for (auto at = name.find(kNameless); at != std::string::npos; at = name.find(kNameless)) {
    name.erase(at, kNameless.size());
  }
  // The parameter list starts at the first parenthesis outside template arguments.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && i > 0) {
      name.resize(i);
      break;
    }
  }
  // A template instance demangles with its return type in front: "void scale<float>".
  const auto angle = name.find('<');
  const auto space = name.rfind(' ', angle == std::string::npos ? name.size() : angle);
  if (space != std::string::npos) name.erase(0, space + 1);
  return name;
}

const emulator::KernelInfo* choose_kernel(const std::vector<emulator::KernelInfo>& kernels,
                                          std::string_view wanted) {
  if (wanted.empty()) return kernels.empty() ? nullptr : &kernels.front();
  for (const auto& kernel : kernels) {
    if (kernel.name == wanted || display_name(kernel.name) == wanted) return &kernel;
  }
  const emulator::KernelInfo* found = nullptr;
  for (const auto& kernel : kernels) {
    const std::string base = base_name(kernel.name);
    if (base != wanted && base.substr(0, base.find('<')) != wanted) continue;
    if (found != nullptr) return nullptr;
    found = &kernel;
  }
  return found;
}

}  // namespace assay::runner
