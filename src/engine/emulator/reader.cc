#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "engine/emulator/parser.h"

namespace assay::emulator {
namespace {

constexpr int kMaxNesting = 64;
constexpr std::size_t kMaxVariableBytes = 1ULL << 40;
constexpr std::size_t kMaxAlignment = 1024;
constexpr std::size_t kMaxSharedAlignment = 65536;

struct BinaryOperator {
  std::string_view text{};
  int precedence = 0;
};
// `&&`, `||` and comparisons are legal in PTX but no compiler writes them.
constexpr BinaryOperator kOperators[] = {{"<<", 4}, {">>", 4}, {"+", 5}, {"-", 5}, {"*", 6},
                                         {"/", 6},  {"&", 3},  {"^", 2}, {"|", 1}};

std::uint64_t apply(std::string_view op, std::uint64_t a, std::uint64_t b) {
  if (op == "<<") return b > 63 ? 0 : a << b;
  if (op == ">>") return b > 63 ? 0 : a >> b;
  switch (op.front()) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b == 0 ? 0 : a / b;
    case '&':
      return a & b;
    case '^':
      return a ^ b;
    default:
      return a | b;
  }
}

}  // namespace

void Reader::fail(std::string message) { fail_at(lexer_.peek().line, std::move(message)); }

void Reader::fail_at(int line, std::string message) {
  if (error_) return;
  const Token& t = lexer_.peek();
  if (t.kind == TokenKind::end) {
    message += ", but the text ends";
  } else {
    message += ", found '" + std::string(t.text.substr(0, 40)) + "'";
  }
  error_ = ParseError{.ptx_line = line, .message = std::move(message)};
}

void Reader::expect(char punctuation) {
  if (!lexer_.take(punctuation)) fail(std::string("expected '") + punctuation + "'");
}

std::string_view Reader::expect_word(std::string_view what) {
  if (lexer_.peek().kind != TokenKind::word) {
    fail("expected " + std::string(what));
    return {};
  }
  return lexer_.next().text;
}

std::uint64_t Reader::expect_size(std::string_view what) {
  const Constant c = constant_expression();
  if (!failed() && (c.is_float || c.integer > kMaxVariableBytes)) {
    fail("expected " + std::string(what));
    return 0;
  }
  return c.integer;
}

void Reader::skip_braces() {
  int depth = 0;
  do {
    const Token t = lexer_.next();
    if (t.kind == TokenKind::end) {
      fail("expected '}'");
      return;
    }
    if (t.is('{')) ++depth;
    if (t.is('}')) --depth;
  } while (depth > 0);
}

void Reader::skip_statement() {
  for (;;) {
    const Token t = lexer_.next();
    if (t.is(';')) return;
    if (t.kind == TokenKind::end) {
      fail("expected ';'");
      return;
    }
  }
}

Constant Reader::literal(std::string_view text) {
  Constant c;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char second = text.size() > 1 ? static_cast<char>(text[1] | 0x20) : '\0';
  if (text.front() == '0' && (second == 'f' || second == 'd')) {
    const auto [p, ec] = std::from_chars(begin + 2, end, c.integer, 16);
    c.is_float = true;
    c.float_bits = second == 'f' ? 32 : 64;
    c.number = second == 'f' ? std::bit_cast<float>(static_cast<std::uint32_t>(c.integer))
                             : std::bit_cast<double>(c.integer);
    if (ec != std::errc() || p != end || (second == 'f' && c.integer >> 32 != 0)) {
      fail("malformed floating-point literal");
    }
    return c;
  }
  if (text.find('.') != std::string_view::npos ||
      (second != 'x' && text.find_first_of("eE") != std::string_view::npos)) {
    c.is_float = true;
    const auto [p, ec] = std::from_chars(begin, end, c.number);
    if (ec != std::errc() || p != end) fail("malformed floating-point literal");
    return c;
  }
  int base = 10;
  const char* digits = begin;
  if (text.front() == '0' && (second == 'x' || second == 'b')) {
    base = second == 'x' ? 16 : 2;
    digits += 2;
  } else if (text.front() == '0' && text.size() > 1 && second != 'u') {
    base = 8;
  }
  const auto [p, ec] = std::from_chars(digits, end, c.integer, base);
  const bool suffix = p + 1 == end && (*p == 'U' || *p == 'u');
  if (ec != std::errc() || (p != end && !suffix)) fail("malformed integer literal");
  return c;
}

Constant Reader::unary(int depth) {
  if (depth > kMaxNesting) {
    fail("expression nested too deeply");
    return {};
  }
  if (lexer_.take('-')) {
    Constant c = unary(depth + 1);
    if (c.float_bits != 0) c.integer ^= c.float_bits == 32 ? 1ULL << 31 : 1ULL << 63;
    if (c.is_float) {
      c.number = -c.number;
    } else {
      c.integer = 0 - c.integer;
    }
    return c;
  }
  if (lexer_.take('+')) return unary(depth + 1);
  if (lexer_.take('~')) {
    Constant c = unary(depth + 1);
    c.integer = ~c.integer;
    return c;
  }
  if (lexer_.take('!')) {
    Constant c = unary(depth + 1);
    c.integer = c.integer == 0 ? 1 : 0;
    return c;
  }
  if (lexer_.take('(')) {
    const Constant c = binary(0, depth + 1);
    expect(')');
    return c;
  }
  if (lexer_.peek().kind != TokenKind::number) {
    fail("expected a constant");
    return {};
  }
  const std::string_view text = lexer_.peek().text;
  const Constant c = literal(text);
  if (!failed()) lexer_.next();
  return c;
}

Constant Reader::binary(int min_precedence, int depth) {
  Constant left = unary(depth);
  while (!failed()) {
    const Token start = lexer_.peek();
    if (start.kind != TokenKind::punctuation) return left;
    const BinaryOperator* found = nullptr;
    for (const BinaryOperator& op : kOperators) {
      if (lexer_.text().substr(start.offset).starts_with(op.text)) {
        found = &op;
        break;
      }
    }
    if (found == nullptr || found->precedence < min_precedence || left.is_float) return left;
    for (std::size_t i = 0; i < found->text.size(); ++i) lexer_.next();
    const Constant right = binary(found->precedence + 1, depth + 1);
    left.integer = apply(found->text, left.integer, right.integer);
  }
  return left;
}

Reader::Declaration Reader::declaration_head() {
  Declaration head;
  while (!failed() && lexer_.peek().kind == TokenKind::directive) {
    const std::string_view d = lexer_.next().text.substr(1);
    if (d == "align") {
      head.align_bytes = expect_size("an alignment");
      if (head.align_bytes == 0 || (head.align_bytes & (head.align_bytes - 1)) != 0 ||
          head.align_bytes > kMaxSharedAlignment) {
        fail("alignment is no power of two up to 65536");
      }
    } else if (d == "v2" || d == "v4") {
      head.vector = d == "v2" ? 2 : 4;
    } else if (d == "ptr") {
      // The pointee's space and alignment, told to the assembler only.
      while (lexer_.peek().kind == TokenKind::directive) {
        const std::string_view a = lexer_.peek().text;
        if (a == ".align") {
          lexer_.next();
          expect_size("an alignment");
        } else if (a == ".global" || a == ".shared" || a == ".local" || a == ".const") {
          lexer_.next();
        } else {
          break;
        }
      }
    } else if (d == "attribute") {
      expect('(');
      while (!failed() && !lexer_.take(')')) {
        if (lexer_.peek().kind == TokenKind::end) fail("expected ')'");
        lexer_.next();
      }
    } else if (const Type t = type_of(d); t != Type::none) {
      head.type = t;
    } else {
      fail("unknown attribute '." + std::string(d) + "'");
    }
  }
  if (head.type == Type::none) fail("expected a type");
  return head;
}

void Reader::initial_value(Variable& variable, unsigned element_bytes) {
  const std::size_t at = variable.initial.size();
  std::uint64_t bits = 0;
  if (lexer_.peek().kind == TokenKind::word) {
    AddressInitialiser address{.offset_bytes = at, .width_bytes = element_bytes};
    const std::string_view name = lexer_.next().text;
    const bool generic = name == "generic" && lexer_.take('(');
    address.symbol = generic ? expect_word("a variable") : name;
    if (generic) expect(')');
    if (lexer_.take('+')) {
      address.addend = static_cast<std::int64_t>(constant_expression().integer);
    }
    variable.addresses.push_back(std::move(address));
  } else {
    const Constant c = constant_expression();
    bits = c.integer;
    if (c.is_float && c.float_bits == 0) {
      bits = element_bytes == 8 ? std::bit_cast<std::uint64_t>(c.number)
                                : std::bit_cast<std::uint32_t>(static_cast<float>(c.number));
    } else if (c.is_float && c.float_bits == 64 && element_bytes == 4) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(c.number));
    } else if (!c.is_float && variable.type == Type::f32) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(c.integer)));
    } else if (!c.is_float && variable.type == Type::f64) {
      bits =
          std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(c.integer)));
    }
  }
  variable.initial.resize(at + element_bytes);
  std::memcpy(variable.initial.data() + at, &bits, element_bytes < 8 ? element_bytes : 8);
}

// Nested braces of PTX arrays are always complete rows, so a flat sequence is the same bytes.
void Reader::initialiser(Variable& variable, unsigned element_bytes, int depth) {
  if (depth > kMaxNesting) {
    fail("initialiser nested too deeply");
    return;
  }
  if (!lexer_.take('{')) {
    initial_value(variable, element_bytes);
    return;
  }
  while (!failed() && !lexer_.peek().is('}')) {
    initialiser(variable, element_bytes, depth + 1);
    if (!lexer_.take(',')) break;
  }
  expect('}');
}

Variable Reader::declarator(const Declaration& head, Space space) {
  Variable v{.space = space, .type = head.type};
  v.name = expect_word("a name");
  const unsigned element = bytes_of(head.type) * head.vector;
  v.align_bytes = head.align_bytes != 0 ? head.align_bytes : element;
  if (v.align_bytes > kMaxAlignment && space != Space::shared) fail("alignment above 1024");
  std::size_t count = 1;
  bool infer = false;
  while (!failed() && lexer_.take('[')) {
    if (lexer_.take(']')) {
      infer = true;
      continue;
    }
    const std::size_t n = expect_size("an array length");
    expect(']');
    if (n != 0 && count > kMaxVariableBytes / n) {
      fail("variable larger than any memory");
      return v;
    }
    count *= n;
  }
  if (lexer_.take('=')) {
    if (head.type == Type::texref || head.type == Type::samplerref || head.type == Type::surfref) {
      skip_braces();
    } else {
      initialiser(v, bytes_of(head.type), 0);
    }
  }
  v.size_bytes = infer ? v.initial.size() : count * element;
  v.unsized = infer && v.initial.empty();
  if (v.initial.size() > v.size_bytes) fail("more initial values than elements");
  return v;
}

Formal Reader::formal() {
  Formal f;
  if (lexer_.peek().is_directive(".reg")) {
    f.is_register = true;
  } else if (!lexer_.peek().is_directive(".param")) {
    fail("expected .param or .reg");
    return f;
  }
  lexer_.next();
  const Declaration head = declaration_head();
  if (failed()) return f;
  const Variable v = declarator(head, Space::param);
  f.name = v.name;
  f.type = v.type;
  f.align_bytes = v.align_bytes;
  f.size_bytes = v.size_bytes;
  // A device accepts 4 KiB of parameters, 32 KiB since compute capability 7.0.
  if (f.size_bytes > (64U << 10)) fail("parameter larger than 64 KiB");
  return f;
}

}  // namespace assay::emulator
