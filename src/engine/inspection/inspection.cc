#include "engine/inspection/inspection.h"

#include <stdexcept>
#include <string>

namespace assay::inspection {

using nlohmann::json;

namespace {

// Of a kernel's lines, in an answer.
constexpr std::size_t kToldLines = 100;

json line_counts(const emulator::LineCounts& line) {
  json item = {{"where", describe_place(line.where)},
               {"warp_instructions", line.warp_instructions},
               {"thread_instructions", line.thread_instructions}};
  if (line.global_requests != 0) {
    item["global_requests"] = line.global_requests;
    item["global_sectors"] = line.global_sectors;
    item["global_sectors_per_request"] =
        static_cast<double>(line.global_sectors) / static_cast<double>(line.global_requests);
    item["global_strides_bytes"] = line.global_strides_bytes;
  }
  if (line.shared_requests != 0) {
    item["shared_requests"] = line.shared_requests;
    item["shared_wavefronts"] = line.shared_wavefronts;
    item["shared_strides_bytes"] = line.shared_strides_bytes;
  }
  if (line.is_irregular) item["irregular"] = true;
  return item;
}

json finding(const emulator::Finding& f) {
  json item = {{"kind", emulator::name(f.kind)},
               {"severity", f.is_warning ? "warning" : "error"},
               {"message", f.message},
               {"instruction", f.instruction},
               {"where", describe_place(f.where)},
               {"block", describe_triple(f.block)},
               {"thread", describe_triple(f.thread)},
               {"count", f.count}};
  for (const emulator::SourceLine& caller : f.inlined_at) {
    item["inlined_at"].push_back(describe_place(caller));
  }
  const bool two_sides = f.kind == emulator::FindingKind::shared_race ||
                         f.kind == emulator::FindingKind::global_race ||
                         f.kind == emulator::FindingKind::warp_race;
  if (two_sides) {
    item["other"] = {{"where", describe_place(f.other_where)},
                     {"block", describe_triple(f.other_block)},
                     {"thread", describe_triple(f.other_thread)}};
  } else if (f.kind == emulator::FindingKind::mismatched_barrier ||
             f.kind == emulator::FindingKind::index_wrapped) {
    item["other"] = {{"where", describe_place(f.other_where)}};
  }
  if (f.buffer.empty()) return item;
  item["memory"] = f.buffer;
  item["offset_bytes"] = f.buffer_offset_bytes;
  if (f.access_bytes != 0 &&
      f.buffer_offset_bytes % static_cast<std::int64_t>(f.access_bytes) == 0) {
    item["element"] = f.buffer_offset_bytes / static_cast<std::int64_t>(f.access_bytes);
  }
  return item;
}

}  // namespace

emulator::Inspection decode_inspection(const json& order) {
  emulator::Inspection wanted;
  wanted.checked_blocks = order.at("checked_blocks");
  for (const auto& item : order.at("inspect")) {
    const auto name = item.get<std::string>();
    if (name == "races") {
      wanted.races = true;
    } else if (name == "memory") {
      wanted.heap = true;
    } else if (name == "initialised") {
      wanted.initialised = true;
    } else if (name == "locals") {
      wanted.locals = true;
    } else if (name == "barriers") {
      wanted.barriers = true;
    } else if (name == "numbers") {
      wanted.numbers = true;
    } else if (name == "counters") {
      wanted.counters = true;
    } else {
      throw std::runtime_error("unknown inspection '" + name + "'");
    }
  }
  return wanted;
}

json describe_place(const emulator::SourceLine& where) {
  // NVRTC puts its working folder before the name it was given; the user knows the name alone.
  const std::string file = where.file.substr(where.file.find_last_of('/') + 1);
  return {{"file", file}, {"line", where.line}, {"column", where.column}};
}

json describe_triple(const emulator::Dim3& dim) { return json::array({dim.x, dim.y, dim.z}); }

json describe_fault(const emulator::Fault& fault) {
  return {{"kind", emulator::name(fault.kind)},
          {"message", fault.message},
          {"instruction", fault.instruction},
          {"where", describe_place(fault.where)},
          {"block", describe_triple(fault.block)},
          {"thread", describe_triple(fault.thread)},
          {"address", fault.address},
          {"access_bytes", fault.access_bytes},
          {"tensor", fault.buffer},
          {"tensor_offset_bytes", fault.buffer_offset_bytes}};
}

json describe_findings(const std::vector<emulator::Finding>& findings) {
  json list = json::array();
  for (const emulator::Finding& f : findings) list.push_back(finding(f));
  return list;
}

json describe_profile(const emulator::Profile& profile) {
  json metrics = json::array();
  for (const emulator::Metric& m : profile.metrics) {
    metrics.push_back({{"name", m.name}, {"value", m.value}});
  }
  json lines = json::array();
  for (const emulator::LineCounts& line : profile.lines) {
    if (lines.size() == kToldLines) break;
    lines.push_back(line_counts(line));
  }
  return {{"metrics", std::move(metrics)},
          {"lines", std::move(lines)},
          {"flops", profile.flops},
          {"global_bytes_requested", profile.global_bytes_requested},
          {"global_bytes_unique", profile.global_bytes_unique}};
}

}  // namespace assay::inspection
