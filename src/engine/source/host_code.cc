#include "engine/source/host_code.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>

#include "engine/source/device_variable.h"
#include "engine/source/kernel_stub.h"
#include "engine/source/launch.h"
#include "engine/source/marked_item.h"
#include "engine/source/preprocess.h"
#include "engine/source/rewritten_text.h"

namespace assay::source {
namespace {

// Compiled ahead, or nothing that a host compiler has a use for.
constexpr std::array<std::string_view, 12> kHeadersAhead{
    "torch/", "ATen/", "c10/",  "pybind11/",          "THC/",          "cuda",
    "cub/",   "crt/",  "mma.h", "cooperative_groups", "curand_kernel", "device_launch_parameters"};
// Libraries that launch kernels of their own, and what the runtime knows kernels and variables for.
constexpr std::array<std::string_view, 15> kForeign{"cublas",
                                                    "cudnn",
                                                    "cusparse",
                                                    "cusolver",
                                                    "cufft",
                                                    "curandCreate",
                                                    "curandGenerate",
                                                    "nccl",
                                                    "cutlass",
                                                    "cudaGetSymbol",
                                                    "cudaGetFuncBySymbol",
                                                    "cudaLaunchKernelEx",
                                                    "cudaOccupancyMaxActiveClusters",
                                                    "cudaGraph",
                                                    "cudaStreamBeginCapture"};
constexpr std::array<std::string_view, 3> kForeignSpaces{"thrust", "cub", "cutlass"};
constexpr std::size_t kMaxObstacles = 20;

// A declaration that the host half may need: decided when all of it has been read.
struct Pending {
  DeviceVariables variables{};
  Range item{};
  std::string scope{};
  bool is_managed = false;
};

class Rewriting {
 public:
  explicit Rewriting(std::string_view source)
      : source_(source), unit_(preprocess(source)), edits_(source) {}

  HostCode run() {
    const Tokens tokens = lex(source_);
    const auto partners = pair_brackets(tokens);
    walk(tokens, partners);
    shadow(tokens);
    give_bodies();
    out_.text = edits_.text();
    return std::move(out_);
  }

 private:
  void walk(const Tokens& tokens, const std::vector<std::size_t>& partners) {
    std::vector<std::pair<std::size_t, std::string>> scopes;  // closing brace, "ops::"
    std::size_t outside = 0;  // behind the braces of what is no namespace
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      while (!scopes.empty() && scopes.back().first <= at) scopes.pop_back();
      const Token& token = tokens[at];
      if (token.kind == TokenKind::directive) {
        directive(token);
      } else if (token.is("namespace")) {
        at = enter(tokens, partners, at, scopes);
      } else if (token.is("{") && partners[at] < tokens.size() && partners[at] >= outside &&
                 !is_linkage(tokens, at)) {
        outside = partners[at] + 1;
      } else if (token.kind == TokenKind::identifier) {
        const Marks marks = marks_of(token, unit_);
        if (marks.global || marks.device) {
          std::string scope;
          for (const auto& [end, name] : scopes) scope += name;
          at = device_item(tokens, partners, at, scope, at >= outside) - 1;
        } else {
          host_word(tokens, at);
        }
      } else if (token.is("<") && is_triple(tokens, at, "<")) {
        at = launch(tokens, partners, at, 0);
      }
    }
  }

  // extern "C" {
  static bool is_linkage(const Tokens& tokens, std::size_t brace) {
    return brace > 1 && tokens[brace - 1].kind == TokenKind::text && tokens[brace - 2].is("extern");
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

  // [=] __device__ or [=](int i) __device__, and not [[nodiscard]] __device__ or alignas(16)
  // __device__.
  static bool is_in_lambda(const Tokens& tokens, const std::vector<std::size_t>& partners,
                           std::size_t at) {
    std::size_t last = at;
    if (last > 0 && tokens[last - 1].is(")")) last = partners[last - 1];
    if (last == 0 || last >= tokens.size() || !tokens[last - 1].is("]")) return false;
    const std::size_t open = partners[last - 1];
    return open + 1 >= tokens.size() || !tokens[open + 1].is("[");
  }

  // A kernel, or what only a device has; returns the index behind it.
  std::size_t device_item(const Tokens& tokens, const std::vector<std::size_t>& partners,
                          std::size_t at, const std::string& scope, bool at_namespace) {
    const std::size_t begin = head_of(tokens, at);
    if (is_in_lambda(tokens, partners, at)) {
      obstacle("a __device__ lambda", tokens[at].line);
      return at + 1;
    }
    const auto [end, marks] = rest_of_item(tokens, partners, begin, unit_);
    if (marks.global) return kernel(tokens, partners, begin, std::max(end, at + 1), scope);
    if (marks.host) return at + 1;  // its words mean nothing to a host compiler
    auto variables =
        at_namespace ? device_variables(tokens, {begin, end}) : std::optional<DeviceVariables>{};
    if (variables) {
      pending_.push_back({std::move(*variables), {begin, end}, scope, marks.managed});
    } else {
      blank(tokens, {begin, end});
    }
    return std::max(end, at + 1);
  }

  // Where several kernels have one name, the device's compiler needs their types to tell them
  // apart.
  void give_bodies() {
    for (auto& body : bodies_) {
      const auto has_its_name = [&](const Body& other) {
        return other.stub.name == body.stub.name;
      };
      const bool is_overloaded = !body.stub.name.empty() &&
                                 std::count_if(bodies_.begin(), bodies_.end(), has_its_name) > 1;
      edits_.replace(body.from, body.to, is_overloaded ? body.stub.overloaded : body.stub.text);
    }
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
    for (std::size_t i = begin; i < std::min(stub->body, stub->end); ++i) note_word(tokens[i]);
    for (const Range attribute : stub->attributes) blank(tokens, attribute);
    std::size_t number = 0;
    for (const std::size_t before : stub->unnamed) {
      const std::size_t offset = tokens[before].offset;
      edits_.insert(offset, " assay_argument_" + std::to_string(number++));
    }
    if (stub->body < stub->end) {
      ++out_.kernels;
      const std::size_t from = tokens[stub->body].offset;
      const std::size_t to = end_offset(tokens[stub->end - 1]);
      bodies_.push_back({from, to, *stub});
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
    for (std::size_t i = open; i < close; ++i) note_word(tokens[i]);
    const std::size_t from = base + tokens[open].offset;
    const std::size_t to = base + end_offset(tokens[close + 2]);
    const std::size_t head = base + tokens[begin].offset;
    // Not a mere parenthesis: behind a line without its ';' that would be a call.
    edits_.insert(
        head, "static_cast<void>(::assay::configure(" + spelled(tokens, open + 3, close) + "), ");
    edits_.replace(from, to, "");
    const std::size_t behind = base + end_offset(tokens[partners[paren]]);
    edits_.insert(behind, ")");
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
      note_word(words[at]);
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
    edits_.replace(token.offset, end_offset(token), "");
  }

  void host_word(const Tokens& tokens, std::size_t at) {
    const Token& token = tokens[at];
    note_word(token);
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
    edits_.replace(base + tokens[at].offset, base + tokens[at + 4].offset, "");
  }

  void note_word(const Token& token) {
    if (token.kind == TokenKind::identifier) words_.insert(token.text);
  }

  // What the host names of the device stays to be seen, the rest goes. From the last: a declaration
  // names what stands before it.
  void shadow(const Tokens& tokens) {
    for (auto one = pending_.rbegin(); one != pending_.rend(); ++one) {
      const auto& names = one->variables.names;
      const bool is_named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return words_.contains(name);
      });
      if (!is_named) {
        blank(tokens, one->item);
        continue;
      }
      if (one->is_managed) obstacle("a __managed__ variable", tokens[one->item.begin].line);
      for (std::size_t i = one->item.begin; i < one->item.end; ++i) note_word(tokens[i]);
      for (const Range hidden : one->variables.hidden) blank(tokens, hidden);
      if (!one->variables.is_constant) enrol(*one, end_offset(tokens[one->item.end - 1]));
    }
  }

  void enrol(const Pending& declared, std::size_t behind) {
    std::string text;
    for (const auto& name : declared.variables.names) {
      const auto number = std::to_string(out_.variables.size());
      out_.variables.push_back(declared.scope + name);
      text += " static ::assay::Variable assay_variable_" + number + "(" + number + ", \"" +
              out_.variables.back() + "\", (const void*)&" + name + ", sizeof(" + name + "));";
    }
    edits_.insert(behind, std::move(text));
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
    edits_.replace(from, to, " ");
  }

  void obstacle(std::string what, std::size_t line) {
    if (out_.obstacles.size() < kMaxObstacles) out_.obstacles.push_back({std::move(what), line});
  }

  const std::string_view source_;
  const Unit unit_;
  // Of a kernel, to be replaced.
  struct Body {
    std::size_t from = 0;
    std::size_t to = 0;
    KernelStub stub{};
  };

  RewrittenText edits_;
  std::vector<Body> bodies_{};
  std::vector<Pending> pending_{};
  std::unordered_set<std::string_view> words_{};  // of the host half
  HostCode out_{};
};

}  // namespace

HostCode host_code(std::string_view source) { return Rewriting(source).run(); }

}  // namespace assay::source
