// The referee: the trusted process that makes inputs, holds expected outputs and compares. It runs
// no user code; a runner's output bytes are all it meets of one.
//
//   → {type: "prepare", nvrtc} + cubin    on a GPU, once; it compiles what it is not given
//   ← {type: "prepared"} + what it compiled, or
//     {type: "unprepared", message}: it examines on the host then
//   → {type: "open", contract, secret: [low, high], atol?, rtol?, expected?: {argument: base64},
//      on_host?}
//   ← {type: "opened", total_bytes, on_device, placements: [{name, argument, offset, bytes}]}
//   → {type: "fill", trial, slot?, otherwise?}
//      (+ memory of the same layout, whose inputs are to be taken)
//   ← {type: "filled"} + arena descriptor
//   → {type: "expect", slot?}
//   ← {type: "expected", findings}
//   → {type: "fill_wide"}                 what was filled last, in double
//   ← {type: "filled"} + arena descriptor
//   → {type: "expect_wide"}
//   ← {type: "expected"}
//   → {type: "expect_in_double", part: "high" | "low"}
//   ← {type: "expected"}
//   → {type: "check", slots: [slot]}
//   ← {type: "checked", said: [{ok, outputs, findings}]}
//   → {type: "outline", slot, trial}      held against the answers of that trial
//   ← {type: "outlined", outputs}         only whether they are the same
//   → {type: "weak_oracle"}
//   ← {type: "weak_oracle", warnings, expected}   (examiner.h)
//   → {type: "vary", total_bytes, seed, masks_too, tensors: [{offset, bytes, dtype, row}]}
//      + memory                           no "open" before it is needed
//   ← {type: "varied"}                    in that memory
//   → {type: "close", keep}               keep: whoever was lent an arena has let go of it
//   ← {type: "closed"}                    ready for another job
// Any of them may be answered {type: "no_memory", message}: the device has not enough.
#include <memory>
#include <stdexcept>

#include "engine/judge/varied.h"
#include "engine/runner/awake.h"
#include "engine/runner/device_examination.h"
#include "engine/runner/gpu_space.h"
#include "engine/runner/role.h"

namespace assay::runner {
namespace {

using frames::Frame;
using nlohmann::json;

std::optional<double> optional_number(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

Frame frame_of(json body) {
  Frame frame;
  frame.body = std::move(body);
  return frame;
}

class Bench {
 public:
  Frame answer(Frame request) {
    try {
      return answer_in_time(request);
    } catch (const OutOfMemory& error) {
      return frame_of({{"type", "no_memory"}, {"message", error.what()}});
    }
  }
  [[nodiscard]] bool is_on_device() const { return space_ != nullptr; }

 private:
  Frame answer_in_time(Frame& request) {
    const std::string verb = request.type();
    if (verb == "prepare") return prepare(request);
    if (verb == "open") return open(request.body);
    if (verb == "close") {
      finish_job(request.body.at("keep").get<bool>());
      return frame_of({{"type", "closed"}});
    }
    if (verb == "vary") return vary_all(request);
    if (!examination_) throw std::runtime_error("asked to " + verb + " before open");
    Frame reply;
    if (verb == "fill") {
      reply.descriptors.push_back(examination_->fill(request.body.at("trial").get<std::uint32_t>(),
                                                     request.body.value("slot", 0U)));
      if (!request.descriptors.empty()) {
        examination_->take_inputs(std::move(request.descriptors.front()));
      }
      if (request.body.value("otherwise", false)) examination_->draw_otherwise();
      reply.body = {{"type", "filled"}};
    } else if (verb == "expect") {
      if (request.body.contains("slot")) examination_->select(request.body.at("slot"));
      reply.body = examination_->expect();
      reply.body["type"] = "expected";
    } else if (verb == "expect_in_double") {
      const bool is_high = request.body.at("part") == "high";
      examination_->expect_in_double(is_high ? Examiner::Part::high : Examiner::Part::low);
      reply.body = {{"type", "expected"}};
    } else if (verb == "fill_wide") {
      reply.descriptors.push_back(examination_->fill_wide());
      reply.body = {{"type", "filled"}};
    } else if (verb == "expect_wide") {
      examination_->expect_wide();
      reply.body = {{"type", "expected"}};
    } else if (verb == "check") {
      const auto slots = request.body.at("slots").get<std::vector<std::uint32_t>>();
      reply.body = {{"type", "checked"}, {"said", examination_->check_all(slots)}};
    } else if (verb == "outline") {
      examination_->select(request.body.at("slot"));
      examination_->count_as(request.body.at("trial"));
      reply.body = examination_->outline();
      reply.body["type"] = "outlined";
    } else if (verb == "weak_oracle") {
      reply.body = examination_->weak_oracle();
      reply.body["type"] = "weak_oracle";
    } else {
      throw std::runtime_error("unknown request '" + verb + "'");
    }
    return reply;
  }

  // Tensors that lie in memory of the engine's.
  static Frame vary_all(const Frame& request) {
    const auto total = request.body.at("total_bytes").get<std::uint64_t>();
    const auto memory = posix::SharedMemory::adopt(request.descriptors.at(0).duplicate(), total);
    std::uint64_t seed = request.body.at("seed");
    const bool masks_too = request.body.at("masks_too");
    for (const auto& tensor : request.body.at("tensors")) {
      const std::uint64_t offset = tensor.at("offset");
      const std::uint64_t bytes = tensor.at("bytes");
      const auto dtype = contract::parse_dtype(tensor.at("dtype").get<std::string>());
      const auto there = memory.bytes().subspan(offset, bytes);
      if (masks_too) {
        judge::vary_masks_too(there, dtype.value(), seed++, tensor.at("row"));
      } else {
        judge::vary(there, dtype.value(), seed++);
      }
    }
    return frame_of({{"type", "varied"}});
  }

  void finish_job(bool keep_lent) {
    examination_.reset();
    if (space_ && !keep_lent) space_->give_up_lent();
  }

  Frame prepare(const Frame& request) {
    std::string cubin = request.blob;
    try {
      space_ = make_gpu_space(request.body.at("nvrtc").get<std::string>(), cubin);
    } catch (const std::runtime_error& error) {
      return frame_of({{"type", "unprepared"}, {"message", error.what()}});
    }
    Frame reply = frame_of({{"type", "prepared"}});
    if (cubin != request.blob) reply.blob = std::move(cubin);
    return reply;
  }

  Frame open(const json& body) {
    auto parsed = contract::parse(body.at("contract"), "", {.open_grid = true});
    auto* contract = std::get_if<contract::Parsed>(&parsed);
    // The engine has parsed the same text: a refusal here is a disagreement between us.
    if (contract == nullptr) throw std::runtime_error("the contract was refused by the referee");
    const contract::ToleranceRequest tolerance{.atol = optional_number(body, "atol"),
                                               .rtol = optional_number(body, "rtol")};
    const judge::Secret secret{.low = body.at("secret").at(0), .high = body.at("secret").at(1)};
    if (examination_) finish_job(false);  // its memory first
    const auto expected = body.find("expected");
    // Outputs that are given from outside, or in double, are the host's to compare with.
    const bool on_host = expected != body.end() || body.value("on_host", false);
    if (space_ && !on_host && DeviceExamination::suits(contract->contract)) {
      examination_ =
          std::make_unique<DeviceExamination>(contract->contract, tolerance, secret, *space_);
    } else {
      auto examination =
          std::make_unique<Examination>(std::move(contract->contract), tolerance, secret);
      if (expected != body.end()) examination->expect_always(*expected);
      examination_ = std::move(examination);
    }
    Frame reply;
    json placements = json::array();
    for (const auto& placement : examination_->layout().placements) {
      placements.push_back({{"name", placement.name},
                            {"argument", placement.arg_index},
                            {"offset", placement.offset},
                            {"bytes", placement.bytes}});
    }
    reply.body = {{"type", "opened"},
                  {"total_bytes", examination_->layout().total_bytes},
                  {"on_device", examination_->is_on_device()},
                  {"placements", std::move(placements)}};
    return reply;
  }

  std::unique_ptr<DeviceSpace> space_{};
  std::unique_ptr<Examiner> examination_{};
};

}  // namespace

int serve_referee(frames::Channel& channel) {
  Bench bench;
  while (auto request = channel.receive()) {
    channel.send(bench.answer(std::move(*request)));
    if (bench.is_on_device()) stay_awake(channel);
  }
  return 0;
}

}  // namespace assay::runner
