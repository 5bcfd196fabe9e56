#include "engine/source/kernel_stub.h"

#include <array>

#include "engine/source/word_list.h"

namespace assay::source {
namespace {

constexpr std::array<std::string_view, 5> kCalledAttributes{
    "__launch_bounds__", "__cluster_dims__", "__attribute__", "__maxnreg__", "__block_size__"};
constexpr std::array<std::string_view, 3> kPlainAttributes{"__global__", "__host__", "__device__"};
// What ends a parameter's type and is no name.
constexpr std::array<std::string_view, 14> kTypeWords{
    "int",    "float",    "double", "bool",     "char",         "short",      "long",
    "signed", "unsigned", "const",  "volatile", "__restrict__", "__restrict", "void"};

class Reading {
 public:
  Reading(const Tokens& tokens, const std::vector<std::size_t>& partners, std::size_t begin,
          const std::string& scope)
      : tokens_(tokens), partners_(partners), begin_(begin), name_(scope) {}

  std::optional<KernelStub> run() {
    std::size_t at = begin_;
    while (is(at, "template")) {
      if (!is(at + 1, "<")) {
        stub_.is_instance = true;
        ++at;
        break;
      }
      const std::size_t close = closing_angle(tokens_, at + 1, tokens_.size());
      if (close == tokens_.size() || !read_template({at + 2, close})) return std::nullopt;
      at = close + 1;
    }
    const auto open = parameters_after(at);
    if (!open) return std::nullopt;
    const std::size_t close = partners_[*open];
    if (close >= tokens_.size() || !read_parameters({*open + 1, close})) return std::nullopt;
    return finish(close + 1);
  }

 private:
  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }

  // "typename T, int N = 4, typename... Rest"
  bool read_template(Range range) {
    for (const Range part : split_at_commas(tokens_, range.begin, range.end)) {
      if (is(part.begin, "template")) return false;
      std::size_t end = part.begin;
      while (end < part.end && !is(end, "=")) ++end;
      if (end == part.begin) return false;
      const Token& name = tokens_[end - 1];
      const bool is_type = is(part.begin, "typename") || is(part.begin, "class");
      const bool is_named = end - part.begin > 1 && name.kind == TokenKind::identifier &&
                            !is_one_of(name.text, kTypeWords);
      if (!is_named) return false;
      bool is_pack = false;
      for (std::size_t i = part.begin; i < end; ++i) is_pack |= is(i, "...");
      instance_ += std::string(is_type ? ".template types<" : ".template values<") +
                   std::string(name.text) + (is_pack ? "...>()" : ">()");
    }
    is_template_ = true;
    return true;
  }

  // The '(' of its parameters; notes what stands before.
  std::optional<std::size_t> parameters_after(std::size_t at) {
    for (; at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (is_one_of(token.text, kPlainAttributes)) {
        stub_.attributes.push_back({at, at + 1});
      } else if (is_one_of(token.text, kCalledAttributes) && is(at + 1, "(")) {
        const std::size_t close = partners_[at + 1];
        if (close >= tokens_.size()) return std::nullopt;
        stub_.attributes.push_back({at, close + 1});
        at = close;
      } else if (token.is("<")) {
        const std::size_t close = closing_angle(tokens_, at, tokens_.size());
        if (close >= tokens_.size()) return std::nullopt;
        specialised_ = spelled(tokens_, at, close + 1);
        at = close;
      } else if (token.is("(")) {
        if (kernel_.empty()) return std::nullopt;
        return at;
      } else if (token.is(";") || token.is("{") || token.is("}") || token.is("=") ||
                 token.kind == TokenKind::directive) {
        return std::nullopt;
      } else if (token.kind == TokenKind::identifier) {
        kernel_ = std::string(token.text);
        specialised_.clear();
      }
    }
    return std::nullopt;
  }

  bool read_parameters(Range range) {
    for (const Range part : split_at_commas(tokens_, range.begin, range.end)) {
      const bool is_void = part.end - part.begin == 1 && is(part.begin, "void");
      if (!is_void && !read_parameter(part)) return false;
    }
    return true;
  }

  bool read_parameter(Range part) {
    std::size_t end = part.begin;
    bool is_pack = false;
    for (; end < part.end && !is(end, "=") && !is(end, "["); ++end) {
      if (is(end, "(")) return false;  // a pointer to a function
      is_pack |= is(end, "...");
    }
    const bool is_named = end - part.begin > 1 && names(part.begin, end - 1);
    if (!is_named && (end == part.begin || is_pack)) return false;
    std::string name;
    if (is_named) {
      name = std::string(tokens_[end - 1].text);
    } else {
      name = "assay_argument_" + std::to_string(stub_.unnamed.size());
      stub_.unnamed.push_back(end);
    }
    const std::string comma = arguments_.empty() ? "" : ", ";
    const std::string dots = is_pack ? "..." : "";
    arguments_ += comma + name + dots;
    types_ += comma + "decltype(" + name + ")" + dots;
    spelled_ +=
        comma + spelled(tokens_, part.begin, is_named ? end - 1 : end) + array(end, part.end);
    return true;
  }

  // "[4]" of a parameter, which a default may follow.
  [[nodiscard]] std::string array(std::size_t begin, std::size_t end) const {
    std::size_t last = begin;
    while (last < end && !is(last, "=")) ++last;
    return last > begin ? " " + spelled(tokens_, begin, last) : "";
  }

  // Whether the token is a name and something before it is a type.
  [[nodiscard]] bool names(std::size_t begin, std::size_t at) const {
    const Token& token = tokens_[at];
    if (token.kind != TokenKind::identifier || is_one_of(token.text, kTypeWords)) return false;
    if (is(at - 1, "::")) return false;
    for (std::size_t i = begin; i < at; ++i) {
      if (!is(i, "const") && !is(i, "volatile") && !is(i, "typename") && !is(i, "struct"))
        return true;
    }
    return false;
  }

  std::optional<KernelStub> finish(std::size_t at) {
    if (is(at, ";")) {
      stub_.body = stub_.end = at + 1;
      return std::move(stub_);
    }
    if (stub_.is_instance || !is(at, "{") || partners_[at] >= tokens_.size()) return std::nullopt;
    stub_.body = at;
    stub_.end = partners_[at] + 1;
    if (specialised_.empty()) stub_.name = name_ + kernel_;
    stub_.text = body("");
    // The device's compiler has its own idea of an int64_t: where the source's words mean the same
    // to both, they stand as they are.
    const bool has_its_words = !is_template_ && name_.empty();
    stub_.overloaded = body(has_its_words ? ".parameters(\"" + quoted(spelled_) + "\")"
                                          : ".template parameters<" + types_ + ">()");
    return std::move(stub_);
  }

  static std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : text)
      out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out;
  }

  // `more`: beside what its own template parameters say of the instance.
  [[nodiscard]] std::string body(const std::string& more) const {
    const bool names_itself = is_template_ && specialised_.empty();
    return "{ struct AssayName { static ::std::string text() { return ::assay::Instance(\"" +
           name_ + kernel_ + specialised_ + "\")" + (names_itself ? instance_ : "") + more +
           ".text(); } }; ::assay::Kernel<AssayName>::entry.launch(" + arguments_ + "); }";
  }

  const Tokens& tokens_;
  const std::vector<std::size_t>& partners_;
  const std::size_t begin_;
  std::string name_;
  std::string kernel_{};
  std::string specialised_{};  // "<float>" behind the name
  std::string instance_{};
  std::string arguments_{};
  std::string types_{};    // of the parameters, for the host to spell
  std::string spelled_{};  // as the source does
  bool is_template_ = false;
  KernelStub stub_{};
};

}  // namespace

std::optional<KernelStub> kernel_stub(const Tokens& tokens,
                                      const std::vector<std::size_t>& partners, std::size_t begin,
                                      const std::string& scope) {
  return Reading(tokens, partners, begin, scope).run();
}

}  // namespace assay::source
