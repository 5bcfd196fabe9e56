// The source reader against any bytes. Built with libFuzzer it searches; linked into the tests it
// is given truncations and replacements of real kernels. The claims: nothing crashes or throws;
// tokens lie in the source, in order, without overlap; what is found is found in the text.
#include "tests/fuzz/source_fuzz.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/source/cuda_text.h"
#include "engine/source/host_code.h"
#include "engine/source/in_double.h"
#include "engine/source/launch.h"
#include "engine/source/plain_mistake.h"
#include "engine/source/python_text.h"
#include "engine/source/signature.h"
#include "engine/source/torch_name.h"

namespace {

using namespace assay::source;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_tokens(std::string_view source) {
  std::size_t end = 0;
  std::size_t line = 1;
  for (const Token& token : lex(source)) {
    require(!token.text.empty() && token.offset >= end && token.line >= line);
    require(source.substr(token.offset, token.text.size()) == token.text);
    end = token.offset + token.text.size();
    line = token.line;
  }
}

void check_signatures(std::string_view source) {
  for (const Signature& signature : signatures(source)) {
    require(!signature.name.empty() && signature.line >= 1);
    require(source.find("__global__") != std::string_view::npos ||
            source.find("##") != std::string_view::npos ||
            source.find('#') != std::string_view::npos);
    require(!signature.qualified_name.empty());
  }
}

// Every line keeps its number.
void check_in_double(std::string_view source) {
  const std::string text(source);
  const auto made = in_double({.source = text, .options = {"-DT=" + text}, .names = {text}});
  if (const auto* none = std::get_if<NoDoubleForm>(&made)) {
    require(!none->reason.empty() && !none->text().empty());
    return;
  }
  const auto& form = std::get<DoubleForm>(made);
  constexpr std::string_view kFirst = "#line 1 \"kernel.cu\"\n";
  std::string_view wide = form.wording.source;
  if (const auto at = wide.find(kFirst); wide.starts_with("__device__") && at != wide.npos) {
    wide.remove_prefix(at + kFirst.size());
  }
  const auto lines = [](std::string_view of) { return std::count(of.begin(), of.end(), '\n'); };
  require(lines(wide) >= lines(source));
  require(form.shared_factor == 1 || form.shared_factor == 2 || form.shared_factor == 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_tokens(bytes);
  check_signatures(bytes);
  check_in_double(bytes);
  for (const Launch& launch : launches(bytes)) require(!launch.kernel.empty());
  const auto count_lines = [](std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  };
  for (const PythonText& text : read_python(bytes).texts) {
    require(text.text.lines.size() == text.text.bytes.size());
    for (const std::uint32_t line : text.text.lines)
      require(line >= 1 && line <= count_lines(bytes));
  }
  // A compiler's words about the host half lead back to the file.
  const HostCode host = host_code(bytes);
  require(count_lines(host.text) == count_lines(bytes));
  for (const Obstacle& one : host.obstacles)
    require(one.line >= 1 && one.line <= count_lines(bytes));
  if (const auto mistake = plain_mistake(bytes)) {
    require(mistake->line >= 1 && mistake->line <= count_lines(bytes));
    require(mistake->met_at <= count_lines(bytes));
  }
  if (const auto name = torch_name(bytes)) {
    require(name->line >= 1 && name->line <= count_lines(bytes));
  }
  const CudaText cuda = cuda_text(bytes);
  require(cuda.lines.size() == count_lines(cuda.text));
  static_cast<void>(looks_like_python(bytes));
  return 0;
}
