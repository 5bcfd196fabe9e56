#include "engine/runner/resource_usage.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/runner/cubin.h"

namespace assay::runner {
namespace {

constexpr std::string_view kEntry = "Compiling entry function '";
constexpr std::string_view kFunction = "Function properties for ";

bool is_figure(std::string_view line) {
  if (!line.starts_with("ptxas")) return false;
  const auto rest = line.find_first_not_of(' ', 5);
  return rest != std::string_view::npos &&
         (line.substr(rest).starts_with("info ") || line[rest] == '.');
}

// The number before `unit`: 400 in "400 bytes stack frame".
std::optional<std::uint64_t> number_before(std::string_view line, std::string_view unit) {
  const auto at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::size_t first = at;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
  std::uint64_t value = 0;
  const auto read = std::from_chars(line.data() + first, line.data() + at, value);
  if (read.ec != std::errc{} || first == at) return std::nullopt;
  return value;
}

template <typename Into>
void take(std::string_view line, std::string_view unit, Into& into) {
  if (const auto value = number_before(line, unit)) into = static_cast<Into>(*value);
}

std::string quoted(std::string_view line, std::size_t from) {
  return std::string(line.substr(from, line.find('\'', from) - from));
}

// Stack and spills are told of every function; those of a called one belong to no entry.
class Figures {
 public:
  void take_line(std::string_view line) {
    if (const auto at = line.find(kEntry); at != std::string_view::npos) {
      entry_ = quoted(line, at + kEntry.size());
      usage[entry_];
      function_ = entry_;
    } else if (const auto name = line.find(kFunction); name != std::string_view::npos) {
      function_ = std::string(line.substr(name + kFunction.size()));
    } else if (entry_.empty()) {
      return;
    } else if (line.find(" bytes stack frame") != std::string_view::npos) {
      if (function_ == entry_) take_frame(line, usage[entry_]);
    } else if (line.find(" registers") != std::string_view::npos) {
      take_usage(line, usage[entry_]);
    }
  }

  std::map<std::string, ResourceUsage> usage{};

 private:
  static void take_frame(std::string_view line, ResourceUsage& into) {
    take(line, " bytes stack frame", into.stack_bytes);
    take(line, " bytes spill stores", into.spill_store_bytes);
    take(line, " bytes spill loads", into.spill_load_bytes);
  }
  static void take_usage(std::string_view line, ResourceUsage& into) {
    take(line, " registers", into.registers);
    take(line, " barriers", into.barriers);
    take(line, " bytes cumulative stack size", into.stack_bytes);
    take(line, " bytes smem", into.static_shared_bytes);
    take(line, " bytes cmem[0]", into.constant_bytes);
  }

  std::string entry_{};
  std::string function_{};
};

template <typename Each>
void each_line(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::map<std::string, ResourceUsage> resource_usage(std::string_view log, std::string_view cubin) {
  Figures figures;
  each_line(log, [&](std::string_view line) {
    if (is_figure(line)) figures.take_line(line);
  });
  for (const auto& section : cubin_sections(cubin)) {
    constexpr std::string_view kConstants = ".nv.constant0.";
    if (section.name == ".nv.constant3") {
      for (auto& [entry, usage] : figures.usage) usage.module_constant_bytes = section.bytes;
    }
    if (!section.name.starts_with(kConstants)) continue;
    const auto found = figures.usage.find(section.name.substr(kConstants.size()));
    if (found != figures.usage.end()) found->second.constant_bytes = section.bytes;
  }
  return std::move(figures.usage);
}

std::string without_figures(std::string_view log) {
  std::string rest;
  each_line(log, [&](std::string_view line) {
    if (!is_figure(line)) (rest += line) += '\n';
  });
  while (rest.ends_with('\n')) rest.pop_back();
  return rest;
}

}  // namespace assay::runner
