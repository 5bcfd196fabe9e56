#include "engine/emulator/profile.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/matrix_ops.h"

namespace assay::emulator {
namespace {

// As Nsight Compute groups instructions (smsp__sass_thread_inst_executed_op_…_pred_on.sum).
enum class Group : std::uint8_t {
  fp16,
  fp32,
  fp64,
  integer,
  bit,
  control,
  conversion,
  memory,
  inter_thread_communication,
  misc
};
constexpr std::array<std::string_view, 10> kGroupNames{
    "fp16",       "fp32",   "fp64",
    "integer",    "bit",    "control",
    "conversion", "memory", "inter_thread_communication",
    "misc"};
// fadd, fmul, ffma and their kin: by width, then by operation.
constexpr std::array<std::string_view, 9> kArithmeticNames{"hadd", "hmul", "hfma", "fadd", "fmul",
                                                           "ffma", "dadd", "dmul", "dfma"};

struct Opcode {
  std::string base{};
  Type type = Type::none;  // the last one it names
  unsigned elements = 1;   // of a packed type
};

Opcode opcode_of(std::string_view instruction) {
  if (!instruction.empty() && instruction.front() == '@') {
    const std::size_t end = instruction.find_first_of(" \t");
    instruction.remove_prefix(end == instruction.npos ? instruction.size() : end);
  }
  const std::size_t begin = instruction.find_first_not_of(" \t");
  if (begin == instruction.npos) return {};
  instruction.remove_prefix(begin);
  Opcode o;
  std::size_t at = 0;
  const std::string_view text = instruction.substr(0, instruction.find_first_of(" \t\n"));
  while (at <= text.size()) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    const std::string_view part = text.substr(at, dot - at);
    if (at == 0) o.base = part;
    if (const Type t = type_of(part); t != Type::none) o.type = t;
    at = dot + 1;
  }
  if (o.type == Type::f16x2 || o.type == Type::bf16x2) o.elements = 2;
  return o;
}

bool any_of(std::string_view base, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), base) != names.end();
}

Group group_of(const Opcode& o) {
  if (any_of(o.base, {"bra", "brx", "ret", "exit", "call", "bar", "barrier", "trap", "brkpt",
                      "nanosleep"})) {
    return Group::control;
  }
  if (o.base == "cvt") return Group::conversion;
  if (any_of(o.base, {"ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "prefetch",
                      "mbarrier"})) {
    return Group::memory;
  }
  if (any_of(o.base, {"shfl", "vote", "match", "redux", "activemask", "elect"})) {
    return Group::inter_thread_communication;
  }
  if (any_of(o.base, {"mov", "cvta", "selp", "membar", "fence", "isspacep", "wmma", "mma"}))
    return Group::misc;
  if (any_of(o.base, {"and", "or", "xor", "not", "shl", "shr", "shf", "lop3", "bfe", "bfi", "prmt",
                      "popc", "clz", "brev", "bfind"})) {
    return Group::bit;
  }
  switch (o.type) {
    case Type::f32:
      return Group::fp32;
    case Type::f64:
      return Group::fp64;
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return Group::fp16;
    default:
      return Group::integer;
  }
}

// Index into kArithmeticNames, or -1.
int arithmetic_of(const Opcode& o, Group group) {
  if (group != Group::fp16 && group != Group::fp32 && group != Group::fp64) return -1;
  const int width = group == Group::fp16 ? 0 : group == Group::fp32 ? 3 : 6;
  if (o.base == "add" || o.base == "sub") return width;
  if (o.base == "mul") return width + 1;
  if (o.base == "fma" || o.base == "mad") return width + 2;
  return -1;
}

struct Sums {
  double warps = 0;
  double threads = 0;
  std::array<double, kGroupNames.size()> groups{};
  std::array<double, kArithmeticNames.size()> arithmetic{};
  double branches = 0;
  double divergent = 0;
  double flops = 0;
  std::array<Requests, 2> global{};  // loads, stores
  std::array<Requests, 2> shared{};
};

void add(Requests& to, const Requests& r) {
  to.requests += r.requests;
  to.sectors += r.sectors;
  to.ideal += r.ideal;
  to.bytes += r.bytes;
}

// Multiplications and additions of one warp's matrix product.
double product_flops(const Module::Text& text, const Op& op) {
  const Handler h = op.inner != nullptr ? op.inner : op.full;
  if (h != &op_matrix_product) return 0;
  const MatrixProduct& p = text.products[op.aux];
  if (is_whole(p.a.element)) return 0;
  return 2.0 * p.multiplications();
}

void count(Sums& sums, const ProfileSource& s, std::size_t pc, double warps, double threads) {
  const Opcode o = opcode_of(s.text.instruction_at(static_cast<std::uint32_t>(pc)));
  const Group group = group_of(o);
  sums.warps += warps;
  sums.threads += threads;
  sums.groups[static_cast<std::size_t>(group)] += threads;
  if (const int a = arithmetic_of(o, group); a >= 0) {
    sums.arithmetic[static_cast<std::size_t>(a)] += threads;
    sums.flops += threads * o.elements * (a % 3 == 2 ? 2 : 1);
  }
  sums.flops += warps * product_flops(s.text, s.text.code[pc]);
  if (o.base == "bra") sums.branches += warps;
  sums.divergent += static_cast<double>(s.divergent[pc]);
  const std::size_t store = s.traffic.is_store[pc];
  add(sums.global[store], s.traffic.global[pc]);
  add(sums.shared[store], s.traffic.shared[pc]);
}

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

void traffic_metrics(std::vector<Metric>& out, const Sums& s) {
  constexpr std::array<std::string_view, 2> kOp{"ld", "st"};
  const auto put = [&](std::string name, double v) { out.push_back({std::move(name), v}); };
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string op(kOp[i]);
    const Requests& g = s.global[i];
    put("l1tex__t_requests_pipe_lsu_mem_global_op_" + op + ".sum", static_cast<double>(g.requests));
    put("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum", static_cast<double>(g.sectors));
    put("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_" + op + ".ratio",
        ratio(static_cast<double>(g.sectors), static_cast<double>(g.requests)));
    const Requests& h = s.shared[i];
    put("smsp__inst_executed_op_shared_" + op + ".sum", static_cast<double>(h.requests));
    put("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + op + ".sum",
        static_cast<double>(h.sectors));
    put("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + op + ".sum",
        static_cast<double>(h.sectors - h.ideal));
  }
}

std::vector<Metric> metrics_of(const Sums& s) {
  std::vector<Metric> out;
  const auto put = [&](std::string name, double v) { out.push_back({std::move(name), v}); };
  put("smsp__inst_executed.sum", s.warps);
  put("smsp__thread_inst_executed.sum", s.threads);
  put("smsp__thread_inst_executed_per_inst_executed.ratio", ratio(s.threads, s.warps));
  for (std::size_t i = 0; i < kGroupNames.size(); ++i) {
    put("smsp__sass_thread_inst_executed_op_" + std::string(kGroupNames[i]) + "_pred_on.sum",
        s.groups[i]);
  }
  for (std::size_t i = 0; i < kArithmeticNames.size(); ++i) {
    put("smsp__sass_thread_inst_executed_op_" + std::string(kArithmeticNames[i]) + "_pred_on.sum",
        s.arithmetic[i]);
  }
  put("smsp__sass_branch_targets.sum", s.branches);
  put("smsp__sass_branch_targets_threads_divergent.sum", s.divergent);
  traffic_metrics(out, s);
  return out;
}

void note_stride(LineCounts& line, const Traffic& traffic, std::size_t pc) {
  const Stride& stride = traffic.strides[pc];
  line.is_irregular = line.is_irregular || stride.kind == Stride::Kind::irregular;
  if (stride.kind != Stride::Kind::one) return;
  const auto add = [&](std::vector<std::int64_t>& to) {
    const auto at = std::lower_bound(to.begin(), to.end(), stride.bytes);
    if (at == to.end() || *at != stride.bytes) to.insert(at, stride.bytes);
  };
  if (traffic.global[pc].requests != 0) add(line.global_strides_bytes);
  if (traffic.shared[pc].requests != 0) add(line.shared_strides_bytes);
}

}  // namespace

Profile make_profile(const ProfileSource& s) {
  Sums sums;
  std::map<std::pair<std::string, int>, LineCounts> lines;
  std::int64_t warps = 0;
  std::int64_t threads = 0;
  for (std::size_t pc = 0; pc < s.text.code.size(); ++pc) {
    warps += s.executed[pc].warps;
    threads += s.executed[pc].threads;
    const Op& op = s.text.code[pc];
    if (warps == 0 || op.full == &op_checkpoint) continue;
    count(sums, s, pc, static_cast<double>(warps), static_cast<double>(threads));
    const SourceLine where = s.text.where_pc(static_cast<std::uint32_t>(pc));
    LineCounts& line = lines[{where.file, where.line}];
    line.where = where;
    line.where.column = 0;
    line.warp_instructions += static_cast<std::uint64_t>(warps);
    line.thread_instructions += static_cast<std::uint64_t>(threads);
    line.global_requests += s.traffic.global[pc].requests;
    line.global_sectors += s.traffic.global[pc].sectors;
    line.shared_requests += s.traffic.shared[pc].requests;
    line.shared_wavefronts += s.traffic.shared[pc].sectors;
    note_stride(line, s.traffic, pc);
  }
  Profile profile;
  profile.metrics = metrics_of(sums);
  profile.flops = sums.flops;
  profile.global_bytes_requested = sums.global[0].bytes + sums.global[1].bytes;
  for (const ByteSet& touched : s.traffic.sectors) {
    profile.global_bytes_unique += touched.count() * 32;
  }
  for (auto& [place, line] : lines) profile.lines.push_back(line);
  std::stable_sort(profile.lines.begin(), profile.lines.end(),
                   [](const LineCounts& a, const LineCounts& b) {
                     return a.warp_instructions > b.warp_instructions;
                   });
  return profile;
}

}  // namespace assay::emulator
