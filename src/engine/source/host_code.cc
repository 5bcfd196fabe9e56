#include "engine/source/host_code.h"

#include <algorithm>
#include <array>
#include <functional>

#include "engine/source/kernel_stub.h"
#include "engine/source/launch.h"
#include "engine/source/preprocess.h"

namespace assay::source {
namespace {

// Compiled ahead, or nothing that a host compiler has a use for.
constexpr std::array<std::string_view, 12> kHeadersAhead{
    "torch/", "ATen/", "c10/",  "pybind11/",          "THC/",          "cuda",
    "cub/",   "crt/",  "mma.h", "cooperative_groups", "curand_kernel", "device_launch_parameters"};
// Libraries that launch kernels of their own, and what needs a variable of the device.
constexpr std::array<std::string_view, 14> kForeign{"cublas",
                                                    "cudnn",
                                                    "cusparse",
                                                    "cusolver",
                                                    "cufft",
                                                    "curandCreate",
                                                    "curandGenerate",
                                                    "nccl",
                                                    "cutlass",
                                                    "cudaMemcpyToSymbol",
                                                    "cudaMemcpyFromSymbol",
                                                    "cudaGetSymbolAddress",
                                                    "cudaGraph",
                                                    "cudaStreamBeginCapture"};
constexpr std::array<std::string_view, 3> kForeignSpaces{"thrust", "cub", "cutlass"};
constexpr std::size_t kMaxObstacles = 20;

struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;  // == begin: nothing goes
  std::string text{};
};

// Line ends stay, and the backslashes that hide them in a directive.
std::string only_lines(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hides =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
    if (hides || text[i] == '\n' || text[i] == '\r') kept += text[i];
  }
  return kept;
}

// Marks of a function or variable, through macros too: `#define KERNEL __global__`.
struct Marks {
  bool global = false;
  bool device = false;
  bool host = false;
};

class Rewriting {
 public:
  explicit Rewriting(std::string_view source) : source_(source), unit_(preprocess(source)) {}

  HostCode run() {
    const Tokens tokens = lex(source_);
    const auto partners = pair_brackets(tokens);
    walk(tokens, partners);
    out_.text = edited();
    return std::move(out_);
  }

 private:
  void walk(const Tokens& tokens, const std::vector<std::size_t>& partners) {
    std::vector<std::pair<std::size_t, std::string>> scopes;  // closing brace, "ops::"
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      while (!scopes.empty() && scopes.back().first <= at) scopes.pop_back();
      const Token& token = tokens[at];
      if (token.kind == TokenKind::directive) {
        directive(token);
      } else if (token.is("namespace")) {
        at = enter(tokens, partners, at, scopes);
      } else if (token.kind == TokenKind::identifier) {
        const Marks marks = marks_of(token);
        if (marks.global || marks.device) {
          std::string scope;
          for (const auto& [end, name] : scopes) scope += name;
          at = device_item(tokens, partners, at, scope) - 1;
        } else {
          host_word(tokens, at);
        }
      } else if (token.is("<") && is_triple(tokens, at, "<")) {
        at = launch(tokens, partners, at, 0);
      }
    }
  }

  // namespace a::b { … : returns the index of its '{', or `at`.
  static std::size_t enter(const Tokens& tokens, const std::vector<std::size_t>& partners,
                           std::size_t at,
                           std::vector<std::pair<std::size_t, std::string>>& scopes) {
    std::string name;
    std::size_t brace = at + 1;
    for (; brace < tokens.size() && !tokens[brace].is("{"); ++brace) {
      if (tokens[brace].kind != TokenKind::identifier && !tokens[brace].is("::")) return at;
      name += tokens[brace].text;
    }
    if (brace >= tokens.size() || partners[brace] >= tokens.size()) return at;
    scopes.emplace_back(partners[brace], name.empty() ? name : name + "::");
    return brace;
  }

  [[nodiscard]] Marks marks_of(const Token& token) const {
    Marks marks;
    const auto note = [&](const Token& word) {
      marks.global |= word.is("__global__");
      marks.host |= word.is("__host__");
      marks.device |= word.is("__device__") || word.is("__constant__") || word.is("__managed__") ||
                      word.is("__shared__");
    };
    note(token);
    if (const auto macro = unit_.macros.find(token.text); macro != unit_.macros.end()) {
      // One that makes a whole function is read where it is defined.
      if (!macro->second.is_function) {
        for (const Token& word : macro->second.body) note(word);
      }
    }
    return marks;
  }

  // A kernel, or what only a device has; returns the index behind it.
  std::size_t device_item(const Tokens& tokens, const std::vector<std::size_t>& partners,
                          std::size_t at, const std::string& scope) {
    const std::size_t begin = head_of(tokens, at);
    if (at > 0 && (tokens[at - 1].is("]") || tokens[at - 1].is(")"))) {
      obstacle("a __device__ lambda", tokens[at].line);
      return at + 1;
    }
    Marks marks;
    const std::size_t end = end_of_item(tokens, partners, begin, marks);
    if (marks.global) return kernel(tokens, partners, begin, std::max(end, at + 1), scope);
    if (marks.host) return at + 1;  // its words mean nothing to a host compiler
    blank(tokens, {begin, end});
    return std::max(end, at + 1);
  }

  // The first token of the declaration that `at` is in the head of.
  static std::size_t head_of(const Tokens& tokens, std::size_t at) {
    std::size_t begin = at;
    for (; begin > 0; --begin) {
      const Token& before = tokens[begin - 1];
      if (before.is(";") || before.is("}") || before.is("{") ||
          before.kind == TokenKind::directive) {
        break;
      }
      const bool is_access = before.is(":") && begin > 1 &&
                             (tokens[begin - 2].is("public") || tokens[begin - 2].is("private") ||
                              tokens[begin - 2].is("protected"));
      if (is_access) break;
    }
    return begin;
  }

  std::size_t end_of_item(const Tokens& tokens, const std::vector<std::size_t>& partners,
                          std::size_t begin, Marks& marks) const {
    bool is_assigned = false;
    for (std::size_t i = begin; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.is(";")) return i + 1;
      if (token.is("}") || (token.kind == TokenKind::directive && i > begin)) return i;
      is_assigned |= token.is("=");
      if (!is_assigned) note_marks(token, marks);
      i = behind_brackets(tokens, partners, i);
      if (i >= tokens.size()) break;
      const bool is_body = tokens[i].is("}") && !is_assigned;
      if (is_body) return i + 1 < tokens.size() && tokens[i + 1].is(";") ? i + 2 : i + 1;
    }
    return tokens.size();
  }

  void note_marks(const Token& token, Marks& marks) const {
    if (token.kind != TokenKind::identifier) return;
    const Marks word = marks_of(token);
    marks.global |= word.global;
    marks.host |= word.host;
  }

  // The last token of what begins at `at`: of brackets, or of template parameters, whose defaults
  // have a '=', too.
  static std::size_t behind_brackets(const Tokens& tokens, const std::vector<std::size_t>& partners,
                                     std::size_t at) {
    const Token& token = tokens[at];
    if (token.is("template") && at + 1 < tokens.size() && tokens[at + 1].is("<")) {
      const std::size_t close = closing_angle(tokens, at + 1, tokens.size());
      return close < tokens.size() ? close : at;
    }
    return token.is("(") || token.is("[") || token.is("{") ? partners[at] : at;
  }

  std::size_t kernel(const Tokens& tokens, const std::vector<std::size_t>& partners,
                     std::size_t begin, std::size_t end, const std::string& scope) {
    const auto stub = kernel_stub(tokens, partners, begin, scope);
    if (!stub) {
      obstacle("a __global__ function whose head cannot be read", tokens[begin].line);
      return end;
    }
    if (stub->is_instance) {
      blank(tokens, {begin, stub->end});
      return stub->end;
    }
    for (const Range attribute : stub->attributes) blank(tokens, attribute);
    std::size_t number = 0;
    for (const std::size_t before : stub->unnamed) {
      const std::size_t offset = tokens[before].offset;
      edits_.push_back({offset, offset, " assay_argument_" + std::to_string(number++)});
    }
    if (stub->body < stub->end) {
      ++out_.kernels;
      const std::size_t from = tokens[stub->body].offset;
      const std::size_t to = end_offset(tokens[stub->end - 1]);
      edits_.push_back({from, to, stub->text + only_lines(source_.substr(from, to - from))});
    }
    return stub->end;
  }

  // k<<<…>>>(…) with '<<<' at `open`; returns an index that the walk goes on from.
  std::size_t launch(const Tokens& tokens, const std::vector<std::size_t>& partners,
                     std::size_t open, std::size_t base) {
    const std::size_t close = end_of_configuration(tokens, open);
    const std::size_t begin = kernel_before(tokens, partners, open);
    const std::size_t paren = close + 3;
    const bool is_call = close < tokens.size() && paren < tokens.size() && tokens[paren].is("(") &&
                         partners[paren] < tokens.size();
    if (begin == open || !is_call) {
      obstacle("a launch that cannot be read", base == 0 ? tokens[open].line : line_at(base));
      return open + 2;
    }
    ++out_.launches;
    const std::size_t from = base + tokens[open].offset;
    const std::size_t to = base + end_offset(tokens[close + 2]);
    const std::size_t head = base + tokens[begin].offset;
    edits_.push_back(
        {head, head, "(::assay::configure(" + spelled(tokens, open + 3, close) + "), "});
    edits_.push_back({from, to, only_lines(source_.substr(from, to - from))});
    const std::size_t behind = base + end_offset(tokens[partners[paren]]);
    edits_.push_back({behind, behind, ")"});
    return paren;
  }

  static std::size_t kernel_before(const Tokens& tokens, const std::vector<std::size_t>& partners,
                                   std::size_t open) {
    if (open > 0 && tokens[open - 1].is(")") && partners[open - 1] < open) {
      return partners[open - 1];
    }
    const Callee callee = callee_before(tokens, open);
    if (!callee.found) return open;
    std::size_t begin = callee.begin;
    if (begin > 0 && tokens[begin - 1].is("::")) --begin;
    return begin;
  }

  // What stands in a macro is rewritten there.
  void directive(const Token& token) {
    const Tokens words = lex(token.text.substr(1));
    if (words.empty()) return;
    if (words[0].is("include")) return include(token);
    if (!words[0].is("define")) return;
    const std::size_t base = token.offset + 1;
    const auto partners = pair_brackets(words);
    bool makes_kernel = false;
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (words[at].is("__global__")) makes_kernel = true;
      if (words[at].is("{") && makes_kernel) {
        obstacle("a __global__ function that a macro makes", token.line);
        return;
      }
      if (words[at].kind == TokenKind::identifier) old_question(words, at, base);
      if (words[at].is("<") && is_triple(words, at, "<")) at = launch(words, partners, at, base);
    }
  }

  void include(const Token& token) {
    const auto open = token.text.find_first_of("<\"");
    if (open == std::string_view::npos) return;
    const std::string_view header = token.text.substr(open + 1);
    const bool is_ahead =
        std::any_of(kHeadersAhead.begin(), kHeadersAhead.end(),
                    [&](std::string_view prefix) { return header.starts_with(prefix); });
    const bool is_foreign =
        std::any_of(kForeign.begin(), kForeign.end(),
                    [&](std::string_view one) { return header.starts_with(one); }) ||
        header.starts_with("thrust/");
    if (!is_ahead && !is_foreign) return;
    edits_.push_back({token.offset, end_offset(token), only_lines(token.text)});
  }

  void host_word(const Tokens& tokens, std::size_t at) {
    const Token& token = tokens[at];
    const auto begins = [&](std::string_view word) { return token.text.starts_with(word); };
    if (std::any_of(kForeign.begin(), kForeign.end(), begins)) {
      obstacle(std::string(token.text), token.line);
    }
    const bool qualifies = at + 1 < tokens.size() && tokens[at + 1].is("::");
    const bool is_space = std::any_of(kForeignSpaces.begin(), kForeignSpaces.end(),
                                      [&](std::string_view word) { return token.is(word); });
    if (qualifies && is_space) obstacle(std::string(token.text), token.line);
    old_question(tokens, at, 0);
  }

  // x.type().is_cuda(), as the old tutorials ask, is x.is_cuda().
  void old_question(const Tokens& tokens, std::size_t at, std::size_t base) {
    if (at + 4 >= tokens.size() || !tokens[at].is("type") || !tokens[at + 1].is("(") ||
        !tokens[at + 2].is(")") || !tokens[at + 3].is(".") || !tokens[at + 4].is("is_cuda")) {
      return;
    }
    edits_.push_back({base + tokens[at].offset, base + tokens[at + 4].offset, ""});
  }

  static std::size_t end_offset(const Token& token) { return token.offset + token.text.size(); }

  [[nodiscard]] std::size_t line_at(std::size_t offset) const {
    const auto before = source_.substr(0, offset);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  }

  void blank(const Tokens& tokens, Range range) {
    if (range.begin >= range.end) return;
    const std::size_t from = tokens[range.begin].offset;
    const std::size_t to = end_offset(tokens[range.end - 1]);
    edits_.push_back({from, to, " " + only_lines(source_.substr(from, to - from))});
  }

  void obstacle(std::string what, std::size_t line) {
    if (out_.obstacles.size() < kMaxObstacles) out_.obstacles.push_back({std::move(what), line});
  }

  // Edits of one place stand in the order they were made in; one inside another is dropped.
  [[nodiscard]] std::string edited() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string text;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < at) continue;
      text += source_.substr(at, edit.begin - at);
      text += edit.text;
      at = edit.end;
    }
    text += source_.substr(at);
    return text;
  }

  const std::string_view source_;
  const Unit unit_;
  std::vector<Edit> edits_{};
  HostCode out_{};
};

}  // namespace

HostCode host_code(std::string_view source) { return Rewriting(source).run(); }

}  // namespace assay::source
