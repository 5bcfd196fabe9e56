#include "engine/emulator/module.h"

#include "engine/emulator/decoder.h"
#include "engine/emulator/parser.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxTextBytes = 256U << 20;

// The entries, then whatever they reach, each once.
std::optional<ParseError> decode_reachable(Module::Text& text) {
  ModuleState state{text};
  std::vector<std::uint32_t> work;
  std::vector<bool> seen(text.program.functions.size());
  const auto want = [&](std::uint32_t f) {
    if (seen[f] || !text.program.functions[f].has_body) return;
    seen[f] = true;
    work.push_back(f);
  };
  for (std::size_t i = 0; i < text.program.functions.size(); ++i) {
    if (text.program.functions[i].is_entry) want(static_cast<std::uint32_t>(i));
  }
  // Functions whose address stands in a variable can be called through it.
  for (const Variable& v : text.program.variables) {
    for (const AddressInitialiser& a : v.addresses) {
      const auto f = text.program.function_index.find(a.symbol);
      if (f != text.program.function_index.end()) want(static_cast<std::uint32_t>(f->second));
    }
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    FunctionDecoder decoder(state, work[i]);
    if (auto error = decoder.decode()) return error;
    for (const std::uint32_t f : text.functions[work[i]].references) want(f);
  }
  return std::nullopt;
}

KernelInfo describe(const Module::Text& text, std::uint32_t index) {
  const FunctionSource& source = text.program.functions[index];
  KernelInfo info;
  info.name = source.name;
  info.max_threads = source.max_threads;
  info.cluster = source.cluster;
  constexpr unsigned kRowBytes = 32 * 4;
  info.register_rows = text.functions[index].frame_bytes / kRowBytes;
  std::size_t at = 0;
  for (const Formal& f : source.parameters) {
    at = (at + f.align_bytes - 1) & ~(f.align_bytes - 1);
    info.parameters.push_back({.type = std::string(name_of(f.type)),
                               .size_bytes = f.size_bytes,
                               .align_bytes = f.align_bytes,
                               .offset_bytes = at});
    at += f.size_bytes;
  }
  info.parameter_bytes = at;
  info.static_shared_bytes = shared_layout(text, index).static_bytes;
  for (const std::uint32_t f : text.reachable(index)) {
    const Function& function = text.functions[f];
    if (function.unsupported.empty()) continue;
    info.unsupported_instruction = function.unsupported;
    info.unsupported_ptx_line = function.unsupported_ptx_line;
    info.unsupported_where = function.unsupported_where;
    break;
  }
  return info;
}

}  // namespace

std::variant<std::shared_ptr<const Module>, ParseError> Module::parse(std::string_view ptx) {
  if (ptx.size() > kMaxTextBytes) return ParseError{.ptx_line = 0, .message = "text over 256 MiB"};
  auto text = std::make_unique<Text>();
  text->ptx = ptx;
  ModuleParser parser(text->ptx);
  if (auto error = parser.parse(text->program)) return std::move(*error);
  text->functions.resize(text->program.functions.size());
  if (auto error = decode_reachable(*text)) return std::move(*error);
  for (std::size_t i = 0; i < text->program.functions.size(); ++i) {
    const FunctionSource& f = text->program.functions[i];
    if (!f.is_entry || !f.has_body) continue;
    text->kernel_functions[f.name] = static_cast<std::uint32_t>(i);
    text->kernels.push_back(describe(*text, static_cast<std::uint32_t>(i)));
  }
  return std::shared_ptr<const Module>(new Module(std::move(text)));
}

Module::Module(std::unique_ptr<Text> text) : text_(std::move(text)) {}
Module::~Module() = default;

const std::vector<KernelInfo>& Module::kernels() const { return text_->kernels; }

// Of a chain of inlined calls, the innermost place in the file where the chain begins: the user's
// own line, not one of a header it uses.
SourceLine Module::Text::where(std::int32_t location) const {
  if (location < 0) return {};
  std::int32_t outermost = location;
  for (int depth = 0; depth < 64 && locations[static_cast<std::size_t>(outermost)].inlined_at >= 0;
       ++depth) {
    outermost = locations[static_cast<std::size_t>(outermost)].inlined_at;
  }
  const int file = locations[static_cast<std::size_t>(outermost)].file;
  std::int32_t chosen = location;
  for (int depth = 0; depth < 64 && locations[static_cast<std::size_t>(chosen)].file != file;
       ++depth) {
    chosen = locations[static_cast<std::size_t>(chosen)].inlined_at;
    if (chosen < 0) break;
  }
  const Location& l = locations[static_cast<std::size_t>(chosen < 0 ? outermost : chosen)];
  const auto name = program.files.find(l.file);
  return {.file = name == program.files.end() ? std::string() : name->second,
          .line = l.line,
          .column = l.column};
}

SourceLine Module::Text::where_pc(std::uint32_t pc) const {
  return pc < sites.size() ? where(sites[pc].location) : SourceLine{};
}

std::vector<SourceLine> Module::Text::inlined_at(std::uint32_t pc) const {
  std::vector<SourceLine> chain;
  std::int32_t at = pc < sites.size() ? sites[pc].location : -1;
  while (at >= 0 && chain.size() < 16) {
    at = locations[static_cast<std::size_t>(at)].inlined_at;
    if (at < 0) break;
    const Location& l = locations[static_cast<std::size_t>(at)];
    const auto file = program.files.find(l.file);
    chain.push_back({.file = file == program.files.end() ? std::string() : file->second,
                     .line = l.line,
                     .column = l.column});
  }
  return chain;
}

bool Module::Text::is_below(std::uint32_t pc, std::string_view folder) const {
  std::int32_t at = pc < sites.size() ? sites[pc].location : -1;
  for (int depth = 0; at >= 0 && depth < 64; ++depth) {
    const Location& l = locations[static_cast<std::size_t>(at)];
    const auto file = program.files.find(l.file);
    if (file != program.files.end() && file->second.find(folder) != std::string::npos) return true;
    at = l.inlined_at;
  }
  return false;
}

std::string Module::Text::instruction_at(std::uint32_t pc) const {
  if (pc >= sites.size()) return {};
  std::string one_line;
  for (const char c : ptx.substr(sites[pc].text_offset, sites[pc].text_bytes)) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) one_line.push_back(c);
    if (space && !one_line.empty() && one_line.back() != ' ') one_line.push_back(' ');
  }
  return one_line.substr(0, 200);
}

std::vector<std::uint32_t> Module::Text::reachable(std::uint32_t function) const {
  std::vector<std::uint32_t> result{function};
  std::vector<bool> seen(functions.size());
  seen[function] = true;
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (const std::uint32_t f : functions[result[i]].references) {
      if (seen[f]) continue;
      seen[f] = true;
      result.push_back(f);
    }
  }
  return result;
}

}  // namespace assay::emulator
