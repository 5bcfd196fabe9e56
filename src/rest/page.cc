#include "rest/page.h"

#include <array>
#include <stdexcept>
#include <string_view>

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
extern "C" {
#define FILE(name, symbol)    \
  extern const char symbol[]; \
  extern const char symbol##_end[];
#include "embedded_assay_page.inc"
#undef FILE
}

namespace assay::rest {
namespace {

// Nothing from anywhere else, nothing inline: what a kernel's log says can only ever be text.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

struct Served {
  const char* path;
  const char* file;
  const char* media_type;
};
constexpr std::array<Served, 4> kServed{{{"/", "index.html", "text/html; charset=utf-8"},
                                         {"/page.js", "page.js", "text/javascript; charset=utf-8"},
                                         {"/page.css", "page.css", "text/css; charset=utf-8"},
                                         {"/icon.svg", "icon.svg", "image/svg+xml"}}};

std::string_view embedded(std::string_view file) {
#define FILE(name, symbol)                                            \
  if (file == std::string_view(name)) {                               \
    return {symbol, static_cast<std::size_t>(symbol##_end - symbol)}; \
  }
#include "embedded_assay_page.inc"
#undef FILE
  // NOLINTEND(bugprone-macro-parentheses)
  throw std::out_of_range("not embedded: " + std::string(file));
}

}  // namespace

HttpAnswer page_file(const std::string& path) {
  for (const Served& one : kServed) {
    if (path != one.path) continue;
    HttpAnswer answer = text_answer(one.media_type, std::string(embedded(one.file)));
    answer.fields.push_back({"Content-Security-Policy", kPolicy});
    answer.fields.push_back({"Referrer-Policy", "no-referrer"});
    return answer;
  }
  return not_found(Missing::path, "Not Found");
}

}  // namespace assay::rest
