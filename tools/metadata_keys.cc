#include "tools/metadata_keys.h"

#include <algorithm>
#include <array>

#include "mcp/near_name.h"
#include "mcp/place.h"

namespace assay::tools {
namespace {

using contract::Violation;
using mcp::Json;

struct Key {
  std::string_view name{};
  std::string_view types{};  // that it has an effect with, each between spaces
  bool chooses = false;      // what is run: a misspelt one would run something else
};

constexpr std::array kKeys{
    Key{"function_name", " torch torch_cuda ", true},
    Key{"class_name", " torch torch_cuda ", true},
    Key{"method_name", " torch torch_cuda ", true},
    Key{"kernel_name", " cuda triton ", true},
    Key{"entry_point", " multi_kernel torch torch_cuda ", true},
    Key{"name_expressions", " cuda ", true},
    Key{"compiler_options", " cuda "},
    Key{"compile_options", " cuda "},
};

// Words that stand for a key to people, and are no slip of the keyboard.
struct Word {
  std::string_view said{};
  std::string_view key{};
};
constexpr std::array kWords{
    Word{"function", "function_name"},
    Word{"func", "function_name"},
    Word{"func_name", "function_name"},
    Word{"fn", "function_name"},
    Word{"fn_name", "function_name"},
    Word{"class", "class_name"},
    Word{"cls", "class_name"},
    Word{"method", "method_name"},
    Word{"kernel", "kernel_name"},
    Word{"kernel_function", "kernel_name"},
    Word{"entry", "entry_point"},
    Word{"entry_function", "entry_point"},
    Word{"entrypoint_name", "entry_point"},
};

// Two would take words for one another that people mean to be two: kernel_date.
constexpr std::size_t kMostSlips = 1;

bool works_with(const Key& key, std::string_view type) {
  return key.types.find(" " + std::string(type) + " ") != std::string_view::npos;
}

const Key* known(std::string_view name) {
  const auto* found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : found;
}

// The key that is meant by a misspelt one.
const Key* meant(std::string_view name) {
  const Key* nearest = nullptr;
  std::size_t least = kMostSlips + 1;
  for (const Key& key : kKeys) {
    const std::size_t slips = mcp::name_distance(name, key.name);
    if (slips >= least) continue;
    least = slips;
    nearest = &key;
  }
  return nearest;
}

const Key* in_other_words(const std::string& name) {
  for (const Word& word : kWords) {
    if (mcp::name_distance(name, word.said) == 0) return known(word.key);
  }
  return nullptr;
}

std::string what_chooses(std::string_view type) {
  std::string list;
  for (const Key& key : kKeys) {
    if (!key.chooses || !works_with(key, type)) continue;
    list += (list.empty() ? "" : ", ") + std::string(key.name);
  }
  return list;
}

std::string no_effect(const Key& key, std::string_view type) {
  return "has no effect with kernel_type " + std::string(type) +
         (key.chooses ? "; what is run is chosen by " + what_chooses(type) : "");
}

}  // namespace

void check_metadata_keys(const Json& metadata, std::string_view kernel_type, const std::string& at,
                         std::vector<Violation>& violations, std::vector<Violation>& warnings) {
  for (const auto& [name, value] : metadata.items()) {
    const std::string pointer = at + "/" + mcp::pointer_segment(name);
    if (const Key* key = known(name)) {
      // An empty list or text says nothing.
      if (!works_with(*key, kernel_type) && !value.is_null() && !value.empty() && value != "") {
        warnings.push_back({pointer, no_effect(*key, kernel_type)});
      }
    } else if (const Key* near = meant(name)) {
      const std::string words = "is not known; did you mean \"" + std::string(near->name) + "\"?";
      if (near->chooses) {
        violations.push_back({pointer, words + " It would choose what is run"});
      } else {
        warnings.push_back({pointer, words + " It has no effect"});
      }
    } else if (const Key* other = in_other_words(name)) {
      warnings.push_back({pointer, "is not known and has no effect; did you mean \"" +
                                       std::string(other->name) + "\"?"});
    }
  }
}

}  // namespace assay::tools
