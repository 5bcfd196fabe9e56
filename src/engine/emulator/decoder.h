// One function body into Ops: registers to rows, operands to offsets, opcodes to handlers. What
// cannot be executed is noted in the Function and becomes an op that says so; malformed text is an
// error.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/emulator/anchored_loads.h"
#include "engine/emulator/atomic_ops.h"
#include "engine/emulator/module.h"
#include "engine/emulator/parser.h"
#include "engine/emulator/register_lives.h"
#include "engine/emulator/video_ops.h"

namespace assay::emulator {

struct Operand {
  enum class Kind : std::uint8_t { word, constant, memory, list, sink };
  Kind kind = Kind::word;
  std::string_view word{};       // register, symbol, label; the base of an address
  std::string_view second{};     // q of p|q
  bool negated = false;          // !p
  bool minus = false;            // -a, which few instructions take
  unsigned half = 0;             // of a register of 128 bits: 1 the lower, 2 the upper one
  Constant constant{};           // of a memory operand: the offset
  std::vector<Operand> items{};  // {a, b} or (a, b)
};

// State shared by the functions of a module while it is decoded.
struct ModuleState {
  Module::Text& text;
  std::unordered_map<std::string, std::uint32_t> shared_index{};
  std::map<std::tuple<int, int, int>, std::int32_t> locations{};
};

// Modifiers that several families share (decode_memory.cc).
void take_cache_hints(Form& form);
bool take_ordering(Form& form);      // true: volatile, relaxed, acquire, release …
bool is_ordering(const Form& form);  // acquire or release among them; takes nothing
Space take_space(Form& form);

class FunctionDecoder {
 public:
  FunctionDecoder(ModuleState& module, std::uint32_t function);
  [[nodiscard]] std::optional<ParseError> decode();

 private:
  enum class SymbolKind : std::uint8_t { reg, frame_param, kernel_param, local, shared };
  struct Symbol {
    SymbolKind kind = SymbolKind::reg;
    Type type = Type::none;
    std::uint32_t offset = 0;  // row, byte in the parameter block or in local memory, shared index
    std::uint32_t bytes = 0;
    bool may_share = false;  // its row, with others
  };
  struct Range {  // .reg .b32 %r<100>
    Type type = Type::none;
    std::uint64_t count = 0;
  };
  struct Fixup {
    std::size_t op = 0;  // into code, or a jump table's entry
    std::int32_t table = -1;
    std::string_view label{};
    int line = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol> symbols{};
    std::unordered_map<std::string_view, Range> ranges{};
    std::unordered_map<std::string_view, std::uint32_t> labels{};
    std::unordered_map<std::string_view, std::uint32_t> tables{};
    std::vector<Fixup> fixups{};
  };

  // --- decoder.cc: statements and declarations ---
  void declare_formals();
  void statement();
  void directive();
  void declare_registers();
  void declare_variables(Space space);
  void location();
  void labelled(const Token& label);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  void resolve(const Fixup& fixup,
               const std::unordered_map<std::string_view, std::uint32_t>& labels);
  void instruction();
  void finish();
  // --- placeless.cc ---
  void note_placeless();
  void place_the_placeless();

  // --- operands.cc ---
  bool parse_operands();
  Operand parse_operand(int depth);
  [[nodiscard]] std::optional<Symbol> find_symbol(std::string_view name);
  void note_writes(std::string_view opcode);
  // Row of a source or result of type `type`; kNowhere (and unfit_) if the operand is none.
  std::uint32_t source(const Operand& operand, Type type);
  std::uint32_t result(const Operand& operand, Type type);
  std::uint32_t source_at(std::size_t i, Type type);
  std::uint32_t result_at(std::size_t i, Type type);
  std::uint32_t special_register(std::string_view name, Type type);
  std::uint32_t symbol_address(std::string_view name, std::int64_t addend, Type type);
  // The register behind an operand, of whatever type; nullopt for anything else.
  std::optional<Symbol> register_of(const Operand& operand);
  [[nodiscard]] static std::uint64_t immediate_bits(const Constant& c, Type type);
  std::int32_t shared_variable(const Variable& v);

  // --- register_rows.cc ---
  std::uint32_t allocate_row(Type type);
  std::uint32_t register_row(std::string_view name, Type type);
  void note_register(std::string_view name, const Symbol& symbol);
  void note_last_use(std::string_view name, const Symbol& symbol);
  void release_rows();
  std::uint32_t allocate_words(std::size_t bytes);
  std::uint32_t constant_row(unsigned lane_bytes, std::uint64_t bits, std::int32_t shared = -1);

  // --- decode_compute.cc ---
  bool decode_selected(Form& form);
  bool emit_selected(const Selection& s);
  bool decode_lop3_predicate(Form& form);
  bool decode_move(Form& form);
  bool decode_pack(Type type);
  bool decode_wide_move();
  Operand halves(const Operand& wide);
  bool decode_convert(Form& form);
  bool decode_compare(Form& form);
  bool decode_address(Form& form);  // cvta
  bool decode_isspacep(Form& form);
  // --- decode_memory.cc ---
  bool decode_load_store(Form& form, bool is_load);
  bool decode_atomic(Form& form, bool returns);
  bool decode_atomic_vector(const AtomicForm& atomic, Space space, unsigned elements, bool returns);
  bool memory_operand(const Operand& operand, Space& space, Op& op, AddressClass& address);
  Handlers load_handlers(MemoryForm form, std::string_view base, Op& op);
  unsigned data_rows(const Operand& data, bool is_load, const MemoryForm& memory, Op& op);
  // --- decode_async.cc ---
  bool decode_async_copy(Form& form);
  bool decode_async_arrive(Form& form);
  std::uint32_t unless(const Symbol& predicate, std::uint32_t value);
  void emit_async_wait(std::uint32_t groups_left);
  bool decode_bulk_copy(Form& form, bool reduces);
  bool decode_mbarrier(Form& form);
  bool emit_mbarrier(Space space, std::uint32_t what, bool expects);
  bool emit_mbarrier_test(Space space, bool by_parity);
  std::uint32_t address_row(const Operand& operand, Space space);
  // --- decode_matrix.cc ---
  bool decode_matrix(Form& form);
  bool decode_matrix_rows(Form& form, bool is_load);
  bool decode_matrix_move(Form& form);
  bool decode_fragment_transfer(Form& form, bool is_load);
  bool fragment_rows(const Operand& list, Fragment& fragment, bool is_result);
  bool wide_address(const Operand& operand, Space& space, Op& op);
  // --- decode_product.cc ---
  bool decode_mma(Form& form);
  bool decode_wmma(Form& form);
  bool decode_quads(MatrixProduct& product);
  bool decode_sparsity(MatrixProduct& product, Shape shape);
  bool product_fragments(MatrixProduct& product, Shape shape, bool opaque);
  void emit_product(MatrixProduct product);
  // --- decode_video.cc ---
  bool decode_video(Form& form);
  std::string_view take_selector(Operand& operand, bool& is_minus);
  bool emit_video_word(VideoForm form, const std::array<std::string_view, 4>& selectors,
                       std::uint8_t minus);
  bool emit_video_parts(VideoForm form, const std::array<std::string_view, 4>& selectors,
                        unsigned parts);
  // --- decode_texture.cc ---
  bool decode_texture(Form& form);
  // --- decode_control.cc ---
  bool decode_branch(Form& form);
  bool decode_branch_table(Form& form);
  bool decode_call(Form& form);
  bool decode_cluster(Form& form);
  bool decode_barrier(Form& form);
  void paired_results(Op& op);
  bool decode_shuffle(Form& form);
  bool decode_vote(Form& form);
  bool decode_match(Form& form);
  bool decode_redux(Form& form);
  bool decode_elect();
  bool decode_warp(Form& form);
  bool decode_simple(Form& form);
  bool decode_stack(Form& form);
  bool decode_instruction(Form& form);
  bool slots(const Operand& list, std::vector<FormalSlot>& out);

  void emit(Handlers handlers, Op op);
  void emit_control(Handlers handlers, Op op);    // may park or move the group
  void emit_unguarded(Handlers handlers, Op op);  // looks at its guard itself
  void emit_unsupported(std::string_view text);
  void watch(WatchedSite site);
  void watch_number(const Selection& s);
  void watch_number_copy(Type type, std::uint8_t sources);
  void watch_conversion(Type to, Type from, unsigned sources);
  void watch_index(std::string_view base, std::string_view opcode, const Selection& s);
  void unfit() { unfit_ = true; }

  ModuleState& module_;
  Module::Text& text_;
  const FunctionSource& source_;
  std::uint32_t index_;
  Function function_{};
  Reader reader_;
  std::vector<Scope> scopes_{};
  // The instruction being decoded.
  std::vector<Operand> operands_{};
  std::uint32_t guard_ = kNowhere;
  Site site_{};
  bool unfit_ = false;
  std::int32_t location_ = -1;
  bool is_of_no_line_ = false;                  // the instruction at hand
  std::vector<std::uint32_t> placeless_pcs_{};  // divisions that are
  std::size_t last_checkpoint_ = 0;
  // Registers of one straight line hand their rows on.
  RegisterLives lives_;
  std::map<unsigned, std::vector<std::uint32_t>> free_rows_{};    // by bytes of a lane
  std::vector<std::pair<unsigned, std::uint32_t>> dying_rows_{};  // after the instruction at hand
  AnchoredLoads anchored_loads_{};
  // Frame layout.
  std::uint64_t frame_bytes_ = 0;
  std::uint32_t predicate_block_ = 0;
  unsigned predicates_left_ = 0;
  std::uint32_t carry_ = kNowhere;
  std::map<std::tuple<unsigned, std::uint64_t, std::int32_t>, std::uint32_t> constants_{};
  std::map<std::tuple<Special, unsigned>, std::uint32_t> special_rows_{};
};

}  // namespace assay::emulator
