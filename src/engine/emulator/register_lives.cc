#include "engine/emulator/register_lives.h"

#include <algorithm>
#include <array>

namespace assay::emulator {
namespace {

// Instructions whose first operand is written in every lane that executes them.
constexpr std::array<std::string_view, 53> kWritesFirst{
    "abs",  "add",   "addc",  "and",  "bfe",  "bfi",  "bfind", "brev",  "clz",  "cnot", "cos",
    "cvt",  "cvta",  "div",   "dp2a", "dp4a", "ex2",  "fma",   "ld",    "lg2",  "lop3", "mad",
    "madc", "max",   "min",   "mov",  "mul",  "neg",  "not",   "or",    "popc", "prmt", "rcp",
    "rem",  "rsqrt", "sad",   "selp", "shf",  "shl",  "shr",   "sin",   "slct", "sqrt", "sub",
    "subc", "tanh",  "mul24", "xor",  "fns",  "bmsk", "mad24", "szext", "tex",
};

// Others that write no more than it.
constexpr std::array<std::string_view, 16> kWritesAtMostFirst{
    "atom", "bra",      "copysign", "elect", "fence", "ldmatrix", "match", "membar",
    "mma",  "prefetch", "red",      "redux", "set",   "setp",     "shfl",  "st",
};

constexpr std::array<std::string_view, 7> kLeaves{"bra", "brx",  "call", "exit",
                                                  "ret", "trap", "brkpt"};

std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view opcode) {
  return std::find(names.begin(), names.end(), base_of(opcode)) != names.end();
}

bool is_register(const Token& t) { return t.kind == TokenKind::word && t.text.front() == '%'; }

}  // namespace

bool writes_first_only(std::string_view opcode) {
  return is_among(kWritesFirst, opcode) || is_among(kWritesAtMostFirst, opcode);
}

RegisterLives::RegisterLives(std::string_view text, std::size_t body_offset) {
  Lexer lexer(text, body_offset);
  if (!read_body(lexer)) lives_.clear();
}

std::optional<std::size_t> RegisterLives::last_use(std::string_view name) const {
  const auto found = lives_.find(name);
  if (found == lives_.end() || !found->second.is_local) return std::nullopt;
  return found->second.last;
}

bool RegisterLives::read_body(Lexer& lexer) {
  do {
    const Token& t = lexer.peek();
    if (t.kind == TokenKind::end || t.kind == TokenKind::invalid) return false;
    if (lexer.take('{')) {
      ++depth_;
    } else if (lexer.take('}')) {
      --depth_;
    } else if (t.is_directive(".loc")) {
      if (!read_location(lexer)) return false;
    } else if (t.is_directive(".reg")) {
      if (!read_registers(lexer)) return false;
    } else if (!read_statement(lexer)) {
      return false;
    }
  } while (depth_ > 0);
  return true;
}

// Registers of inner braces may hide others of the same name; compilers do not name theirs so.
bool RegisterLives::read_registers(Lexer& lexer) {
  while (!lexer.peek().is(';')) {
    const Token t = lexer.next();
    if (t.kind == TokenKind::end || (depth_ > 1 && is_register(t))) return false;
  }
  return true;
}

// Has no end of its own: three numbers, and attributes after commas.
bool RegisterLives::read_location(Lexer& lexer) {
  const auto numbers = [&](int n) {
    bool good = true;
    for (; n > 0 && good; --n) good = lexer.next().kind == TokenKind::number;
    return good;
  };
  lexer.next();
  if (!numbers(3)) return false;
  while (lexer.take(',')) {
    const std::string_view what = lexer.next().text;
    if (what == "function_name") {
      if (lexer.next().kind != TokenKind::word) return false;
      if (lexer.take('+') && !numbers(1)) return false;
    } else if (!numbers(what == "inlined_at" ? 3 : 1)) {
      return false;
    }
  }
  return true;
}

bool RegisterLives::read_statement(Lexer& lexer) {
  if (lexer.take(';')) return true;
  const std::size_t start = lexer.peek().offset;
  bool writes = true;  // until something says no
  if (lexer.take('@')) {
    writes = false;
    lexer.take('!');
    name(lexer.next().text, start, false);
  }
  const Token opcode = lexer.next();
  if (lexer.take(':')) {
    ++line_;
    return true;
  }
  writes = writes && opcode.kind == TokenKind::word && is_among(kWritesFirst, opcode.text);
  bool in_brackets = false;
  bool in_braces = false;
  for (; !lexer.peek().is(';'); lexer.next()) {
    const Token& t = lexer.peek();
    if (t.kind == TokenKind::end || t.kind == TokenKind::invalid) return false;
    if (t.is('[') || t.is(']')) in_brackets = t.is('[');
    if (t.is('{') || t.is('}')) in_braces = t.is('{');
    if (t.is(',') && !in_braces) writes = false;
    // %r1.b2 is a part of %r1, to video instructions.
    if (is_register(t)) name(t.text.substr(0, t.text.find('.')), start, writes && !in_brackets);
  }
  lexer.next();
  if (opcode.kind != TokenKind::word || is_among(kLeaves, opcode.text)) ++line_;
  return true;
}

void RegisterLives::name(std::string_view word, std::size_t statement, bool is_written) {
  const auto [at, fresh] = lives_.try_emplace(word, Life{statement, statement, line_, is_written});
  if (fresh) return;
  Life& life = at->second;
  // What is read by the statement that first writes it was there before.
  const bool reads_itself = life.first == statement && !is_written;
  life.is_local = life.is_local && life.line == line_ && !reads_itself;
  life.last = statement;
}

}  // namespace assay::emulator
