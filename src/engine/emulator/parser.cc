#include "engine/emulator/parser.h"

#include <algorithm>

namespace assay::emulator {
namespace {

constexpr std::uint64_t kMostRoom = 64U << 10;
constexpr std::uint64_t kMostConstantBytes = 64U << 10;  // of a module, on every device

}  // namespace

std::optional<ParseError> ModuleParser::parse(Program& program) {
  program_ = &program;
  if (!reader_.lexer().peek().is_directive(".version")) {
    reader_.fail("a PTX text begins with .version");
  }
  while (!reader_.failed() && reader_.lexer().peek().kind != TokenKind::end) statement();
  if (!reader_.failed()) lay_out_globals();
  return reader_.error();
}

void ModuleParser::statement() {
  Lexer& lexer = reader_.lexer();
  const Token t = lexer.peek();
  if (t.is(';')) {
    lexer.next();
    return;
  }
  if (t.kind != TokenKind::directive) {
    reader_.fail("expected a directive");
    return;
  }
  const std::string_view d = t.text;
  lexer.next();
  if (d == ".visible" || d == ".extern" || d == ".weak" || d == ".common" || d == ".managed") {
    return;  // linkage: one module is all there is
  }
  if (d == ".version") {
    version();
  } else if (d == ".target") {
    reader_.expect_word("a target");
    while (lexer.take(',')) {
      if (reader_.expect_word("a target option") == "debug") program_->is_debug = true;
    }
  } else if (d == ".address_size") {
    if (reader_.expect_size("an address size") != 64) reader_.fail("address size is not 64");
  } else if (d == ".file") {
    file();
  } else if (d == ".section") {
    lexer.next();
    reader_.skip_braces();
  } else if (d == ".pragma" || d == ".alias") {
    reader_.skip_statement();
  } else if (d == ".entry" || d == ".func") {
    function(d == ".entry");
  } else if (d == ".global" || d == ".tex") {
    variable(Space::global);
  } else if (d == ".const") {
    variable(Space::constant);
  } else if (d == ".shared") {
    variable(Space::shared);
  } else if (d == ".loc") {
    for (int i = 0; i < 3 && !reader_.failed(); ++i) reader_.expect_size("a number");
  } else if (d.starts_with(".@@") || d == ".reg" || d == ".local" || d == ".param") {
    reader_.fail_at(t.line, "'" + std::string(d) + "' outside a function");
  } else {
    reader_.fail_at(t.line, "unknown directive '" + std::string(d) + "'");
  }
}

void ModuleParser::version() {
  const Constant c = reader_.constant_expression();
  if (!reader_.failed() && !c.is_float) reader_.fail("expected a version");
}

void ModuleParser::file() {
  Lexer& lexer = reader_.lexer();
  const std::uint64_t number = reader_.expect_size("a file number");
  if (lexer.peek().kind != TokenKind::string) {
    reader_.fail("expected a file name");
    return;
  }
  program_->files[static_cast<int>(number)] = std::string(lexer.next().text);
  while (!reader_.failed() && lexer.take(',')) reader_.expect_size("a number");
}

void ModuleParser::variable(Space space) {
  const Reader::Declaration head = reader_.declaration_head();
  if (reader_.failed()) return;
  do {
    add_variable(reader_.declarator(head, space));
  } while (!reader_.failed() && reader_.lexer().take(','));
  reader_.expect(';');
}

void ModuleParser::add_variable(Variable variable) {
  if (reader_.failed()) return;
  const auto [at, fresh] =
      program_->variable_index.try_emplace(variable.name, program_->variables.size());
  if (fresh) {
    program_->variables.push_back(std::move(variable));
  } else if (Variable& old = program_->variables[at->second];
             old.size_bytes < variable.size_bytes || !variable.initial.empty()) {
    old = std::move(variable);  // the definition of what was declared .extern
  }
}

std::vector<Formal> ModuleParser::formals() {
  std::vector<Formal> result;
  reader_.expect('(');
  while (!reader_.failed() && !reader_.lexer().peek().is(')')) {
    result.push_back(reader_.formal());
    if (!reader_.lexer().take(',')) break;
  }
  reader_.expect(')');
  return result;
}

void ModuleParser::function_attributes(FunctionSource& function) {
  Lexer& lexer = reader_.lexer();
  while (!reader_.failed() && lexer.peek().kind == TokenKind::directive) {
    const std::string_view d = lexer.next().text;
    if (d == ".maxntid" || d == ".reqntid") {
      std::uint64_t product = 1;
      do {
        product *= std::min<std::uint64_t>(reader_.expect_size("a thread count"), 1U << 20);
      } while (!reader_.failed() && lexer.take(','));
      function.max_threads = static_cast<unsigned>(std::min<std::uint64_t>(product, 1U << 30));
    } else if (d == ".reqnctapercluster" || d == ".maxclusterrank") {
      cluster(function, d == ".reqnctapercluster");
    } else if (d == ".pragma") {
      while (lexer.peek().kind == TokenKind::string || lexer.peek().is(',')) lexer.next();
      reader_.expect(';');
    } else if (d == ".attribute") {
      reader_.expect('(');
      while (!reader_.failed() && !lexer.take(')')) {
        if (lexer.peek().kind == TokenKind::end) reader_.fail("expected ')'");
        lexer.next();
      }
    } else {
      // .minnctapersm 2, .maxnreg 64, .noreturn, .blocksareclusters …
      while (!reader_.failed() && lexer.peek().kind == TokenKind::number) {
        reader_.expect_size("a number");
        lexer.take(',');
      }
    }
  }
}

void ModuleParser::cluster(FunctionSource& function, bool is_required) {
  std::size_t dimension = 0;
  do {
    const std::uint64_t blocks = reader_.expect_size("a block count");
    if (!is_required || dimension == function.cluster.size()) continue;
    if (blocks > 1) program_->has_clusters = true;
    function.cluster[dimension++] =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, 1U << 20));
  } while (!reader_.failed() && reader_.lexer().take(','));
}

void ModuleParser::function(bool is_entry) {
  Lexer& lexer = reader_.lexer();
  FunctionSource f{.is_entry = is_entry};
  while (lexer.peek().is_directive(".attribute")) function_attributes(f);
  if (!is_entry && lexer.peek().is('(')) f.results = formals();
  f.name = reader_.expect_word("a function name");
  if (lexer.peek().is('(')) f.parameters = formals();
  function_attributes(f);
  if (reader_.failed()) return;
  if (lexer.peek().is('{')) {
    f.has_body = true;
    f.body_offset = lexer.peek().offset;
    f.body_line = lexer.peek().line;
    reader_.skip_braces();
  } else {
    reader_.expect(';');
  }
  add_function(std::move(f));
}

void ModuleParser::add_function(FunctionSource function) {
  if (reader_.failed()) return;
  const auto [at, fresh] =
      program_->function_index.try_emplace(function.name, program_->functions.size());
  if (fresh) {
    program_->functions.push_back(std::move(function));
    return;
  }
  FunctionSource& old = program_->functions[at->second];
  if (old.has_body && function.has_body) {
    reader_.fail("function '" + function.name + "' has two bodies");
  } else if (function.has_body) {
    old = std::move(function);
  }
}

void ModuleParser::lay_out_globals() {
  std::uint64_t at = 0;
  std::uint64_t constant_bytes = 0;
  for (Variable& v : program_->variables) {
    if (v.space == Space::shared) continue;
    at = (at + 255) & ~std::uint64_t{255};
    v.address = kGlobalsBase + at;
    // Room between variables: an overrun of one does not land in the next unseen.
    at += v.size_bytes + std::clamp<std::uint64_t>(v.size_bytes, 256, kMostRoom);
    if (v.space == Space::constant) constant_bytes += v.size_bytes;
    if (at > kWindowBytes * 16) {
      reader_.fail("variables larger than any device memory");
      return;
    }
  }
  if (constant_bytes > kMostConstantBytes) {
    reader_.fail("more than 65536 bytes of __constant__ variables");
    return;
  }
  program_->global_bytes = at;
}

}  // namespace assay::emulator
