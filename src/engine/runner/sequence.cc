#include "engine/runner/sequence.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "engine/runner/cubin.h"

namespace assay::runner {
namespace {

using nlohmann::json;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("a sequence with ") + what);
}

// What the blob has left, from the front.
class Blob {
 public:
  explicit Blob(std::string_view bytes) : left_(bytes) {}
  std::string_view take(std::size_t bytes) {
    require(bytes <= left_.size(), "less than it says");
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view left_;
};

bool within(std::uint64_t begin, std::uint64_t bytes, std::uint64_t size) {
  return begin <= size && bytes <= size - begin;
}

emulator::Dim3 dim(const json& list) { return {list.at(0), list.at(1), list.at(2)}; }

SequenceStep decode_launch(const json& item, const Sequence& sequence, Blob& blob) {
  SequenceStep step;
  step.program = item.at("program");
  require(step.program < sequence.programs.size(), "a program that is not there");
  step.launch.kernel = item.at("entry");
  step.launch.grid = dim(item.at("grid"));
  step.launch.block = dim(item.at("block"));
  step.launch.dynamic_shared_bytes = item.at("shared_bytes");
  const auto block = std::as_bytes(std::span(blob.take(item.at("parameter_bytes"))));
  step.launch.parameters.assign(block.begin(), block.end());
  step.pointer_offsets = item.at("pointers").get<std::vector<std::size_t>>();
  for (const std::size_t offset : step.pointer_offsets) {
    require(within(offset, sizeof(std::uint64_t), block.size()), "a pointer beside its parameters");
  }
  for (const auto& trait : item.at("traits")) {
    step.traits.push_back({.id = trait.at(0), .value = {trait.at(1), trait.at(2), trait.at(3)}});
  }
  return step;
}

SequenceStep decode_move(const json& item, const Sequence& sequence, SequenceStep::Kind kind) {
  SequenceStep step{.kind = kind, .to = item.at("to"), .bytes = item.at("bytes")};
  require(within(step.to, step.bytes, sequence.memory_bytes), "a step beside its memory");
  if (kind == SequenceStep::Kind::copy) {
    step.from = item.at("from");
    require(within(step.from, step.bytes, sequence.memory_bytes), "a step beside its memory");
    return step;
  }
  step.value = item.at("value");
  step.width = item.at("width");
  require(step.width == 1 || step.width == 2 || step.width == 4, "a fill of an odd width");
  require(step.to % step.width == 0 && step.bytes % step.width == 0, "a fill out of step");
  return step;
}

}  // namespace

bool Sequence::has_variables() const {
  return std::any_of(programs.begin(), programs.end(), [](const std::string& program) {
    const auto sections = cubin_sections(program);
    return sections.empty() || std::any_of(sections.begin(), sections.end(), [](const auto& one) {
             return one.name.starts_with(".nv.global") && one.bytes > 0;
           });
  });
}

Sequence decode_sequence(const json& body, std::string_view blob_bytes) {
  Blob blob(blob_bytes);
  Sequence sequence{.scratch_begin = body.at("scratch_begin"),
                    .memory_bytes = body.at("memory_bytes")};
  require(sequence.scratch_begin <= sequence.memory_bytes && sequence.scratch_begin % 4 == 0 &&
              sequence.memory_bytes % 4 == 0,
          "scratch beside its memory");
  for (const auto& bytes : body.at("programs")) sequence.programs.emplace_back(blob.take(bytes));
  for (const auto& item : body.at("steps")) {
    const auto what = item.at("do").get<std::string>();
    if (what == "launch") {
      sequence.steps.push_back(decode_launch(item, sequence, blob));
    } else {
      require(what == "copy" || what == "fill", "a step of no kind");
      sequence.steps.push_back(decode_move(
          item, sequence, what == "copy" ? SequenceStep::Kind::copy : SequenceStep::Kind::fill));
    }
  }
  return sequence;
}

}  // namespace assay::runner
