#include "engine/emulator/decoder.h"

#include <algorithm>

#include "engine/emulator/control_ops.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxOps = 1U << 24;
constexpr int kMaxDepth = 64;
constexpr std::size_t kCheckpointInterval = 2048;

}  // namespace

FunctionDecoder::FunctionDecoder(ModuleState& module, std::uint32_t function)
    : module_(module),
      text_(module.text),
      source_(module.text.program.functions[function]),
      index_(function),
      reader_(module.text.ptx, source_.body_offset, source_.body_line),
      lives_(module.text.ptx, source_.body_offset) {
  function_.name = source_.name;
  function_.is_entry = source_.is_entry;
  function_.index = function;
}

std::optional<ParseError> FunctionDecoder::decode() {
  function_.entry_pc = static_cast<std::uint32_t>(text_.code.size());
  last_checkpoint_ = text_.code.size();
  open_scope();
  declare_formals();
  reader_.expect('{');
  int depth = 1;
  Lexer& lexer = reader_.lexer();
  while (!reader_.failed() && depth > 0) {
    if (lexer.take('{')) {
      if (++depth > kMaxDepth) reader_.fail("braces nested too deeply");
      open_scope();
    } else if (lexer.peek().is('}')) {
      --depth;
      if (depth == 0) break;
      lexer.next();
      close_scope();
    } else {
      statement();
    }
  }
  if (!reader_.failed()) finish();
  return reader_.error();
}

// The end of a body returns, whether it says so or not.
void FunctionDecoder::finish() {
  guard_ = kNowhere;
  site_ = {.ptx_line = reader_.lexer().peek().line, .location = location_};
  emit_unguarded({&op_return, &op_return}, {});
  close_scope();
  place_the_placeless();
  function_.end_pc = static_cast<std::uint32_t>(text_.code.size());
  function_.frame_bytes = static_cast<std::uint32_t>(frame_bytes_);
  function_.compiled = true;
  text_.functions[index_] = std::move(function_);
}

void FunctionDecoder::declare_formals() {
  std::uint64_t at = 0;
  for (const Formal& f : source_.parameters) {
    Symbol s{.kind = SymbolKind::frame_param,
             .type = f.type,
             .offset = 0,
             .bytes = static_cast<std::uint32_t>(f.size_bytes)};
    if (source_.is_entry) {
      at = (at + f.align_bytes - 1) & ~(std::uint64_t{f.align_bytes} - 1);
      s.kind = SymbolKind::kernel_param;
      s.offset = static_cast<std::uint32_t>(at);
      at += f.size_bytes;
    } else if (f.is_register) {
      s = {.kind = SymbolKind::reg, .type = f.type, .offset = allocate_row(f.type)};
      function_.parameters.push_back({s.offset, register_bytes(f.type), register_bytes(f.type)});
    } else {
      s.offset = allocate_words(f.size_bytes);
      function_.parameters.push_back({s.offset, s.bytes, 4});
    }
    scopes_.back().symbols[f.name] = s;
  }
  for (const Formal& f : source_.results) {
    Symbol s{.kind = SymbolKind::frame_param,
             .type = f.type,
             .offset = 0,
             .bytes = static_cast<std::uint32_t>(f.size_bytes)};
    if (f.is_register) {
      s = {.kind = SymbolKind::reg, .type = f.type, .offset = allocate_row(f.type)};
      function_.results.push_back({s.offset, register_bytes(f.type), register_bytes(f.type)});
    } else {
      s.offset = allocate_words(f.size_bytes);
      function_.results.push_back({s.offset, s.bytes, 4});
    }
    scopes_.back().symbols[f.name] = s;
  }
}

void FunctionDecoder::statement() {
  Lexer& lexer = reader_.lexer();
  const Token t = lexer.peek();
  if (t.kind == TokenKind::end) {
    reader_.fail("expected '}'");
  } else if (t.is(';')) {
    lexer.next();
  } else if (t.kind == TokenKind::directive) {
    directive();
  } else if (t.kind == TokenKind::word || t.is('@')) {
    if (t.kind == TokenKind::word) {
      lexer.next();
      if (lexer.take(':')) {
        labelled(t);
        return;
      }
      lexer.rewind(t);
    }
    instruction();
  } else {
    reader_.fail("expected an instruction");
  }
}

void FunctionDecoder::directive() {
  Lexer& lexer = reader_.lexer();
  const std::string_view d = lexer.next().text;
  if (d == ".reg") {
    declare_registers();
  } else if (d == ".loc") {
    location();
  } else if (d == ".param" || d == ".local" || d == ".shared" || d == ".global" || d == ".const") {
    declare_variables(d == ".param"    ? Space::param
                      : d == ".local"  ? Space::local
                      : d == ".shared" ? Space::shared
                                       : Space::global);
  } else if (d == ".pragma") {
    reader_.skip_statement();
  } else if (d == ".extern" || d == ".weak" || d == ".visible") {
    // linkage of a variable declared in a body
  } else {
    reader_.fail("unknown directive '" + std::string(d) + "'");
  }
}

void FunctionDecoder::declare_registers() {
  Lexer& lexer = reader_.lexer();
  const Reader::Declaration head = reader_.declaration_head();
  anchored_loads_.forget_all();  // the name may be one of an outer brace
  while (!reader_.failed()) {
    const std::string_view name = reader_.expect_word("a register name");
    if (lexer.take('<')) {
      const Constant count = reader_.constant_expression();
      reader_.expect('>');
      scopes_.back().ranges[name] = {head.type, count.integer};
    } else {
      // Rows are made when a register is first used.
      scopes_.back().symbols[name] = {
          .kind = SymbolKind::reg, .type = head.type, .offset = kNowhere};
      if (head.vector != 1) reader_.fail("vector registers are not supported");
    }
    if (!lexer.take(',')) break;
  }
  reader_.expect(';');
}

void FunctionDecoder::declare_variables(Space space) {
  const Reader::Declaration head = reader_.declaration_head();
  if (reader_.failed()) return;
  do {
    const Token at = reader_.lexer().peek();
    const Variable v = reader_.declarator(head, space);
    if (reader_.failed()) return;
    const std::string_view name = at.text;
    Symbol s{.type = v.type, .bytes = static_cast<std::uint32_t>(v.size_bytes)};
    if (v.size_bytes > (1U << 30)) {
      reader_.fail("variable larger than any local or shared memory");
    } else if (space == Space::param) {
      s.kind = SymbolKind::frame_param;
      s.offset = allocate_words(v.size_bytes);
    } else if (space == Space::local) {
      s.kind = SymbolKind::local;
      const std::uint64_t mask = v.align_bytes - 1;
      const std::uint64_t begin = (function_.local_bytes + mask) & ~mask;
      s.offset = static_cast<std::uint32_t>(begin);
      if (begin + v.size_bytes > (1U << 30)) reader_.fail("local memory larger than any device's");
      function_.local_bytes = static_cast<std::uint32_t>(begin + v.size_bytes);
    } else if (space == Space::shared) {
      s.kind = SymbolKind::shared;
      s.offset = static_cast<std::uint32_t>(shared_variable(v));
    } else {
      reader_.fail_at(at.line, "global variable inside a function");
    }
    scopes_.back().symbols[name] = s;
  } while (!reader_.failed() && reader_.lexer().take(','));
  reader_.expect(';');
}

// .loc file line column [, function_name label [+ n], inlined_at file line column]
void FunctionDecoder::location() {
  Lexer& lexer = reader_.lexer();
  Location where;
  where.file = static_cast<int>(reader_.expect_size("a file number"));
  where.line = static_cast<int>(reader_.expect_size("a line"));
  where.column = static_cast<int>(reader_.expect_size("a column"));
  // Of no line is what the compiler added to the one before.
  is_of_no_line_ = where.line == 0 && location_ >= 0;
  while (!reader_.failed() && lexer.take(',')) {
    const std::string_view what = reader_.expect_word("function_name or inlined_at");
    if (what == "function_name") {
      reader_.expect_word("a label");
      if (lexer.take('+')) reader_.expect_size("an offset");
    } else if (what == "inlined_at") {
      const auto file = static_cast<int>(reader_.expect_size("a file number"));
      const auto line = static_cast<int>(reader_.expect_size("a line"));
      const auto column = static_cast<int>(reader_.expect_size("a column"));
      const auto caller = module_.locations.find({file, line, column});
      if (caller != module_.locations.end()) {
        where.inlined_at = caller->second;
      } else {
        where.inlined_at = static_cast<std::int32_t>(text_.locations.size());
        text_.locations.push_back({.file = file, .line = line, .column = column});
        module_.locations[{file, line, column}] = where.inlined_at;
      }
    } else if (what != "discriminator" && what != "is_stmt") {
      reader_.fail("unknown attribute of .loc");
    } else {
      reader_.expect_size("a number");
    }
  }
  if (is_of_no_line_) return;
  location_ = static_cast<std::int32_t>(text_.locations.size());
  text_.locations.push_back(where);
  module_.locations[{where.file, where.line, where.column}] = location_;
}

void FunctionDecoder::labelled(const Token& label) {
  Lexer& lexer = reader_.lexer();
  if (lexer.peek().is_directive(".branchtargets")) {
    lexer.next();
    const auto table = static_cast<std::int32_t>(text_.jump_tables.size());
    text_.jump_tables.emplace_back();
    do {
      const Token target = lexer.peek();
      reader_.expect_word("a label");
      auto& entries = text_.jump_tables.back();
      scopes_.back().fixups.push_back({entries.size(), table, target.text, target.line});
      entries.push_back(0);
    } while (!reader_.failed() && lexer.take(','));
    reader_.expect(';');
    scopes_.back().tables[label.text] = static_cast<std::uint32_t>(table);
    return;
  }
  if (lexer.peek().is_directive(".callprototype") || lexer.peek().is_directive(".calltargets")) {
    reader_.skip_statement();
    return;
  }
  anchored_loads_.forget_all();
  const auto pc = static_cast<std::uint32_t>(text_.code.size());
  if (!scopes_.back().labels.try_emplace(label.text, pc).second) {
    reader_.fail_at(label.line, "label '" + std::string(label.text) + "' defined twice");
  }
}

void FunctionDecoder::resolve(const Fixup& fixup,
                              const std::unordered_map<std::string_view, std::uint32_t>& labels) {
  const auto found = labels.find(fixup.label);
  if (found == labels.end()) {
    if (scopes_.empty()) {
      reader_.fail_at(fixup.line, "undefined label '" + std::string(fixup.label) + "'");
    } else {
      scopes_.back().fixups.push_back(fixup);
    }
  } else if (fixup.table >= 0) {
    text_.jump_tables[static_cast<std::size_t>(fixup.table)][fixup.op] = found->second;
  } else {
    text_.code[fixup.op].target = found->second;
  }
}

// Of the instruction at hand; no opcode: of one that is not known.
void FunctionDecoder::note_writes(std::string_view opcode) {
  if (!writes_first_only(opcode)) {
    anchored_loads_.forget_all();
    return;
  }
  if (operands_.empty()) return;
  const Operand& first = operands_.front();
  if (!first.second.empty()) anchored_loads_.forget(first.second);
  if (first.kind == Operand::Kind::word) anchored_loads_.forget(first.word);
  for (const Operand& o : first.items) anchored_loads_.forget(o.word);
}

// Labels belong to the braces they stand in, and are seen from those inside.
void FunctionDecoder::close_scope() {
  const Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const Fixup& f : closed.fixups) resolve(f, closed.labels);
  if (!closed.symbols.empty()) anchored_loads_.forget_all();
}

void FunctionDecoder::instruction() {
  Lexer& lexer = reader_.lexer();
  const Token start = lexer.peek();
  guard_ = kNowhere;
  if (text_.code.size() - last_checkpoint_ > kCheckpointInterval) {
    emit({&op_checkpoint, &op_checkpoint}, {});
    anchored_loads_.forget_all();
    last_checkpoint_ = text_.code.size();
  }
  unfit_ = false;
  operands_.clear();
  site_ = {.text_offset = static_cast<std::uint32_t>(start.offset),
           .text_bytes = 0,
           .ptx_line = start.line,
           .location = location_};
  if (lexer.take('@')) {
    const bool negated = lexer.take('!');
    const std::string_view name = reader_.expect_word("a predicate");
    const auto p = register_of({.word = name});
    if (!p || p->type != Type::pred) {
      reader_.fail_at(start.line, "'" + std::string(name) + "' is no predicate");
      return;
    }
    guard_ = p->offset | (negated ? 1U : 0U);
  }
  const Token opcode = lexer.peek();
  reader_.expect_word("an instruction");
  if (reader_.failed()) return;
  const bool well_formed = parse_operands();
  if (reader_.failed()) return;
  const std::size_t end = std::max(lexer.peek().offset, start.offset);
  const std::string_view body =
      std::string_view(text_.ptx).substr(start.offset, end - start.offset);
  site_.text_bytes = static_cast<std::uint32_t>(std::min(body.find(';'), body.size()));
  Form form(opcode.text);
  const std::size_t before = text_.code.size();
  const std::size_t fixups = scopes_.back().fixups.size();
  const bool known = well_formed && decode_instruction(form) && !unfit_ && form.exhausted();
  if (reader_.failed()) return;
  release_rows();
  note_writes(known ? opcode.text : std::string_view{});
  if (!known) {
    text_.code.resize(before);
    text_.sites.resize(before);
    while (!text_.watched.empty() && text_.watched.back().pc >= before) text_.watched.pop_back();
    scopes_.back().fixups.resize(fixups);
    emit_unsupported(body.substr(0, site_.text_bytes));
  }
  if (text_.code.size() > kMaxOps) reader_.fail("more instructions than can be held");
}

void FunctionDecoder::emit(Handlers handlers, Op op) {
  op.full = handlers.full;
  op.masked = handlers.masked;
  if (guard_ != kNowhere) {
    op.guard = guard_;
    op.inner = handlers.masked;
    op.full = &op_guarded;
    op.masked = &op_guarded;
  }
  text_.code.push_back(op);
  text_.sites.push_back(site_);
}

// The op emitted last is one that an inspection looks at.
void FunctionDecoder::watch(WatchedSite site) {
  site.pc = static_cast<std::uint32_t>(text_.code.size() - 1);
  text_.watched.push_back(site);
  if (site.kind == SiteKind::division) note_placeless();
}

void FunctionDecoder::emit_control(Handlers handlers, Op op) {
  emit(handlers, op);
  if (guard_ == kNowhere) return;
  text_.code.back().full = &op_guarded_control;
  text_.code.back().masked = &op_guarded_control;
}

void FunctionDecoder::emit_unguarded(Handlers handlers, Op op) {
  op.full = handlers.full;
  op.masked = handlers.masked;
  op.guard = guard_;
  text_.code.push_back(op);
  text_.sites.push_back(site_);
}

void FunctionDecoder::emit_unsupported(std::string_view instruction) {
  if (function_.unsupported.empty()) {
    function_.unsupported = instruction;
    function_.unsupported_ptx_line = site_.ptx_line;
    function_.unsupported_where = text_.where(site_.location);
  }
  emit({&op_unsupported, &op_unsupported}, {});
}

}  // namespace assay::emulator
