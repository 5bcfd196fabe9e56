#include "engine/confinement/process_tree.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

namespace assay::confinement {
namespace {

namespace fs = std::filesystem;

std::optional<pid_t> number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The entries of a folder of /proc that are numbers; the folder may vanish under us.
std::vector<std::string> numbered(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  while (!error && entries != fs::directory_iterator()) {
    const std::string name = entries->path().filename();
    if (number(name)) names.push_back(name);
    entries.increment(error);
  }
  return names;
}

// The kernel lists the children of a thread where it was built to (CONFIG_PROC_CHILDREN).
bool kernel_lists_children() { return ::access("/proc/thread-self/children", R_OK) == 0; }

std::vector<pid_t> children_of(pid_t process) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  std::vector<pid_t> children;
  for (const auto& thread : numbered(tasks)) {
    std::ifstream file(tasks + "/" + thread + "/children");
    children.insert(children.end(), std::istream_iterator<pid_t>(file), {});
  }
  return children;
}

std::optional<pid_t> parent_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  // The name is in parentheses and may hold any character but a zero, parentheses and line ends
  // too. The process may vanish meanwhile: getline() takes that for the end, other readers throw.
  std::string line;
  std::getline(file, line, '\0');
  const auto name_end = line.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  const auto parent = line.find(' ', name_end + 2);
  if (parent == std::string::npos) return std::nullopt;
  const auto end = line.find(' ', parent + 1);
  return number(std::string_view(line).substr(parent + 1, end - parent - 1));
}

std::unordered_multimap<pid_t, pid_t> all_children() {
  std::unordered_multimap<pid_t, pid_t> children;
  for (const auto& name : numbered("/proc")) {
    const auto parent = parent_of(name);
    if (parent) children.emplace(*parent, *number(name));
  }
  return children;
}

template <typename ChildrenOf>
std::vector<pid_t> walk(pid_t root, const ChildrenOf& children_of_one) {
  std::vector<pid_t> found;
  std::unordered_set<pid_t> seen{root};
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t next = open.back();
    open.pop_back();
    for (const pid_t child : children_of_one(next)) {
      if (!seen.insert(child).second) continue;
      found.push_back(child);
      open.push_back(child);
    }
  }
  return found;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  if (kernel_lists_children()) return walk(root, children_of);
  const auto table = all_children();
  return walk(root, [&](pid_t process) {
    std::vector<pid_t> children;
    const auto [first, last] = table.equal_range(process);
    for (auto child = first; child != last; ++child) children.push_back(child->second);
    return children;
  });
}

}  // namespace assay::confinement
