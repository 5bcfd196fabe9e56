#include "tools/guides.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
extern "C" {
#define FILE(name, symbol)    \
  extern const char symbol[]; \
  extern const char symbol##_end[];
#include "embedded_assay_guides.inc"
#undef FILE
}

namespace assay::tools {
namespace {

constexpr std::string_view kScheme = "assay://guide/";
constexpr std::string_view kEnding = ".md";

struct Guide {
  std::string name{};
  std::string_view text{};

  // "# cuda: kernels in CUDA C++"
  [[nodiscard]] std::string title() const {
    const std::string_view line = text.substr(0, text.find('\n'));
    return std::string(line.substr(std::min<std::size_t>(2, line.size())));
  }
  [[nodiscard]] std::string uri() const { return std::string(kScheme) + name; }
};

std::vector<Guide> guides() {
  std::vector<Guide> all;
#define FILE(name, symbol)                                                \
  all.push_back({std::string(std::string_view(name).substr(               \
                     0, std::string_view(name).size() - kEnding.size())), \
                 {symbol, static_cast<std::size_t>(symbol##_end - symbol)}});
#include "embedded_assay_guides.inc"
#undef FILE
  // NOLINTEND(bugprone-macro-parentheses)
  return all;
}

std::optional<mcp::ResourceContents> read(const std::string& uri) {
  for (const Guide& guide : guides())
    if (guide.uri() == uri)
      return mcp::ResourceContents{.mime_type = "text/markdown", .bytes = std::string(guide.text)};
  return std::nullopt;
}

void list(std::vector<mcp::Resource>& into) {
  for (const Guide& guide : guides())
    into.push_back({.uri = guide.uri(),
                    .name = guide.name,
                    .title = guide.title(),
                    .mime_type = "text/markdown",
                    .size_bytes = static_cast<std::int64_t>(guide.text.size())});
}

std::vector<std::string> suggest(const std::string& prefix) {
  std::vector<std::string> names;
  for (const Guide& guide : guides())
    if (guide.name.starts_with(prefix)) names.push_back(guide.name);
  return names;
}

}  // namespace

mcp::Resources with_guides(mcp::Resources resources) {
  const auto inner = std::make_shared<const mcp::Resources>(resources);
  resources.list = [inner](const mcp::CallContext& context) {
    std::vector<mcp::Resource> all;
    list(all);
    auto rest = inner->list(context);
    std::move(rest.begin(), rest.end(), std::back_inserter(all));
    return all;
  };
  resources.read = [inner](const std::string& uri, const mcp::CallContext& context) {
    if (auto guide = read(uri)) return guide;
    return inner->read(uri, context);
  };
  resources.templates.insert(
      resources.templates.begin(),
      {.uri_template = "assay://guide/{kernel_type}",
       .name = "guide",
       .title = "How a kernel type is written",
       .description = "cuda, torch, torch_cuda, triton, multi_kernel, and io_contract.",
       .mime_type = "text/markdown",
       .complete = [](const std::string&, const std::string& prefix, const mcp::Json&,
                      const mcp::CallContext&) { return suggest(prefix); }});
  return resources;
}

}  // namespace assay::tools
