#include "mcp/pattern.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

using Step = Pattern::Step;
using Class = Pattern::Class;

// Counted repetitions are unrolled; this bounds what a schema may ask for.
constexpr std::size_t kMaxSteps = 20'000;
constexpr std::uint32_t kMaxRepetition = 1'000;

struct Node {
  enum class Kind { empty, character, begin, end, sequence, choice, repeat };
  Kind kind = Kind::empty;
  std::uint32_t character_class = 0;
  std::vector<std::unique_ptr<Node>> children{};
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  bool unbounded = false;
};
using NodePtr = std::unique_ptr<Node>;

NodePtr make(Node::Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}

// Recursive descent over the expression; the depth is that of our own schemas' parentheses.
class Parser {
 public:
  Parser(std::string_view expression, std::vector<Class>& classes)
      : text_(expression), classes_(classes) {}

  NodePtr parse() {
    NodePtr root = choice();
    if (!done()) fail("unmatched )");
    return root;
  }

 private:
  [[nodiscard]] bool done() const { return position_ >= text_.size(); }
  [[nodiscard]] char peek() const { return done() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (done() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument("pattern \"" + std::string(text_) + "\": " + why);
  }

  NodePtr choice() {
    NodePtr node = make(Node::Kind::choice);
    do node->children.push_back(sequence());
    while (take('|'));
    return node->children.size() == 1 ? std::move(node->children.front()) : std::move(node);
  }

  NodePtr sequence() {
    NodePtr node = make(Node::Kind::sequence);
    while (!done() && peek() != '|' && peek() != ')') node->children.push_back(repetition());
    return node;
  }

  NodePtr repetition() {
    NodePtr item = atom();
    while (true) {
      NodePtr repeat = make(Node::Kind::repeat);
      if (take('*')) {
        repeat->unbounded = true;
      } else if (take('+')) {
        repeat->least = 1;
        repeat->unbounded = true;
      } else if (take('?')) {
        repeat->most = 1;
      } else if (take('{')) {
        counts(*repeat);
      } else {
        return item;
      }
      take('?');  // laziness changes what is captured, never whether something matches
      repeat->children.push_back(std::move(item));
      item = std::move(repeat);
    }
  }

  void counts(Node& repeat) {
    repeat.least = repeat.most = number();
    if (take(',')) {
      if (peek() == '}')
        repeat.unbounded = true;
      else
        repeat.most = number();
    }
    if (!take('}')) fail("{ without }");
    if (!repeat.unbounded && repeat.most < repeat.least) fail("{m,n} with m above n");
  }

  std::uint32_t number() {
    if (peek() < '0' || peek() > '9') fail("a number is missing in {}");
    std::uint32_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + static_cast<std::uint32_t>(text_[position_++] - '0');
      if (value > kMaxRepetition) fail("a repetition above 1000");
    }
    return value;
  }

  NodePtr atom() {
    if (take('(')) return group();
    if (take('^')) return make(Node::Kind::begin);
    if (take('$')) return make(Node::Kind::end);
    if (take('.')) return character({.ranges = {{'\n', '\n'}, {'\r', '\r'}}, .negated = true});
    if (take('[')) return character(bracket());
    if (take('\\')) return character(escape());
    if (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{') fail("nothing to repeat");
    const char32_t c = next_code_point(text_, position_);
    return character({.ranges = {{c, c}}});
  }

  NodePtr group() {
    if (take('?') && !take(':')) fail("only (?:…) is understood after (?");
    NodePtr inner = choice();
    if (!take(')')) fail("( without )");
    return inner;
  }

  NodePtr character(Class which) {
    NodePtr node = make(Node::Kind::character);
    node->character_class = static_cast<std::uint32_t>(classes_.size());
    classes_.push_back(std::move(which));
    return node;
  }

  Class bracket() {
    Class set;
    set.negated = take('^');
    while (!take(']')) {
      if (done()) fail("[ without ]");
      const Class item = bracket_item();
      const bool single = item.ranges.size() == 1 && item.ranges[0].first == item.ranges[0].last;
      if (single && !item.negated && peek() == '-' && position_ + 1 < text_.size() &&
          text_[position_ + 1] != ']') {
        ++position_;
        const Class upper = bracket_item();
        if (upper.ranges.size() != 1 || upper.ranges[0].first < item.ranges[0].first)
          fail("a range with its ends exchanged");
        set.ranges.push_back({item.ranges[0].first, upper.ranges[0].first});
        continue;
      }
      if (item.negated) fail("\\D, \\W and \\S inside [] are not understood");
      set.ranges.insert(set.ranges.end(), item.ranges.begin(), item.ranges.end());
    }
    return set;
  }

  Class bracket_item() {
    if (take('\\')) return escape();
    const char32_t c = next_code_point(text_, position_);
    return {.ranges = {{c, c}}};
  }

  Class escape() {
    if (done()) fail("ends in a backslash");
    const char c = text_[position_++];
    switch (c) {
      case 'd':
        return {.ranges = {{'0', '9'}}};
      case 'D':
        return {.ranges = {{'0', '9'}}, .negated = true};
      case 'w':
        return {.ranges = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}};
      case 'W':
        return {.ranges = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}, .negated = true};
      case 's':
        return {.ranges = {{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x2028, 0x2029}}};
      case 'S':
        return {.ranges = {{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x2028, 0x2029}},
                .negated = true};
      case 'n':
        return {.ranges = {{'\n', '\n'}}};
      case 'r':
        return {.ranges = {{'\r', '\r'}}};
      case 't':
        return {.ranges = {{'\t', '\t'}}};
      case 'x':
        return code_unit(2);
      case 'u':
        return code_unit(4);
      default:
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
          fail("the escape " + std::string(1, c) + " is not understood");
        return {.ranges = {{static_cast<unsigned char>(c), static_cast<unsigned char>(c)}}};
    }
  }

  Class code_unit(std::size_t digits) {
    if (position_ + digits > text_.size()) fail("a truncated code");
    const std::string hex(text_.substr(position_, digits));
    if (hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) fail("a bad code");
    position_ += digits;
    const auto c = static_cast<char32_t>(std::stoul(hex, nullptr, 16));
    return {.ranges = {{c, c}}};
  }

  std::string_view text_;
  std::vector<Class>& classes_;
  std::size_t position_ = 0;
};

// Thompson's construction.
class Compiler {
 public:
  explicit Compiler(std::vector<Step>& steps) : steps_(steps) {}

  void emit(const Node& node) {
    using enum Node::Kind;
    switch (node.kind) {
      case empty:
        return;
      case character:
        add(Step::Kind::character, node.character_class);
        return;
      case begin:
        add(Step::Kind::begin);
        return;
      case end:
        add(Step::Kind::end);
        return;
      case sequence:
        for (const NodePtr& child : node.children) emit(*child);
        return;
      case choice:
        emit_choice(node);
        return;
      case repeat:
        emit_repeat(node);
        return;
    }
  }

  std::uint32_t add(Step::Kind kind, std::uint32_t a = 0, std::uint32_t b = 0) {
    if (steps_.size() >= kMaxSteps) throw std::invalid_argument("a pattern of too many steps");
    steps_.push_back({kind, a, b});
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }

 private:
  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(steps_.size()); }

  void emit_choice(const Node& node) {
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i + 1 < node.children.size(); ++i) {
      const std::uint32_t fork = add(Step::Kind::fork, here() + 1);
      emit(*node.children[i]);
      ends.push_back(add(Step::Kind::jump));
      steps_[fork].b = here();
    }
    emit(*node.children.back());
    for (const std::uint32_t jump : ends) steps_[jump].a = here();
  }

  void emit_repeat(const Node& node) {
    const Node& item = *node.children.front();
    for (std::uint32_t i = 0; i < node.least; ++i) emit(item);
    if (node.unbounded) {
      const std::uint32_t fork = add(Step::Kind::fork, here() + 1);
      emit(item);
      add(Step::Kind::jump, fork);
      steps_[fork].b = here();
      return;
    }
    std::vector<std::uint32_t> exits;
    for (std::uint32_t i = node.least; i < node.most; ++i) {
      exits.push_back(add(Step::Kind::fork, here() + 1));
      emit(item);
    }
    for (const std::uint32_t fork : exits) steps_[fork].b = here();
  }

  std::vector<Step>& steps_;
};

// The set of steps that are alive at one position of the text.
class Threads {
 public:
  explicit Threads(const std::vector<Step>& steps) : steps_(&steps), seen_(steps.size(), 0) {}

  void clear() {
    alive_.clear();
    ++generation_;
  }

  // Follows everything that consumes nothing. True: a match.
  bool add(std::uint32_t start, bool at_begin, bool at_end) {
    pending_.assign(1, start);
    bool matched = false;
    while (!pending_.empty()) {
      const std::uint32_t index = pending_.back();
      pending_.pop_back();
      if (std::exchange(seen_[index], generation_) == generation_) continue;
      const Step& step = (*steps_)[index];
      switch (step.kind) {
        case Step::Kind::character:
          alive_.push_back(index);
          break;
        case Step::Kind::jump:
          pending_.push_back(step.a);
          break;
        case Step::Kind::fork:
          pending_.push_back(step.a);
          pending_.push_back(step.b);
          break;
        case Step::Kind::begin:
          if (at_begin) pending_.push_back(index + 1);
          break;
        case Step::Kind::end:
          if (at_end) pending_.push_back(index + 1);
          break;
        case Step::Kind::match:
          matched = true;
          break;
      }
    }
    return matched;
  }

  [[nodiscard]] const std::vector<std::uint32_t>& alive() const { return alive_; }

 private:
  const std::vector<Step>* steps_;
  std::vector<std::uint64_t> seen_;
  std::vector<std::uint32_t> alive_{};
  std::vector<std::uint32_t> pending_{};
  std::uint64_t generation_ = 1;
};

}  // namespace

bool Pattern::Class::has(char32_t c) const {
  const bool inside =
      c != kBadByte && std::any_of(ranges.begin(), ranges.end(), [c](const Range& range) {
        return range.first <= c && c <= range.last;
      });
  return inside != negated;
}

Pattern::Pattern(std::string_view expression) {
  const NodePtr root = Parser(expression, classes_).parse();
  Compiler compiler(steps_);
  compiler.emit(*root);
  compiler.add(Step::Kind::match);
}

bool Pattern::found_in(std::string_view text) const {
  Threads now(steps_);
  Threads next(steps_);
  // A pattern that begins with ^ can be given up as soon as nothing is alive.
  const bool anchored = steps_.front().kind == Step::Kind::begin;
  std::size_t position = 0;
  now.clear();
  if (now.add(0, true, text.empty())) return true;
  while (position < text.size()) {
    const char32_t c = next_code_point(text, position);
    const bool at_end = position == text.size();
    next.clear();
    for (const std::uint32_t index : now.alive())
      if (classes_[steps_[index].a].has(c) && next.add(index + 1, false, at_end)) return true;
    if (!anchored && next.add(0, false, at_end)) return true;
    if (anchored && next.alive().empty()) return false;
    std::swap(now, next);
  }
  return false;
}

}  // namespace assay::mcp
