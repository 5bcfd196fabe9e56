#include "plans/optest/inputs.h"

#include <algorithm>
#include <fstream>
#include <random>

#include "engine/judge/generator.h"
#include "plans/optest/numbers.h"
#include "plans/optest/tensor_file.h"
#include "plans/optest/told_types.h"

namespace assay::optest {
namespace {

namespace fs = std::filesystem;
using contract::DType;
using nlohmann::json;

constexpr int kKeyFormat = 1;  // of what builtin generators write: another, other bytes
constexpr std::size_t kBlockElements = 1U << 16;

const Filling& filling_of(const Generator& generator, std::size_t index) {
  const auto own = generator.per_input.find(index);
  return own == generator.per_input.end() ? generator.all : own->second;
}

bool has_own_seed(const Generator& generator, std::size_t index) {
  const auto own = generator.per_input.find(index);
  return own != generator.per_input.end() && own->second.seed.has_value();
}

std::optional<std::uint64_t> seed_of(const Generator& generator, std::size_t index) {
  return has_own_seed(generator, index) ? filling_of(generator, index).seed : generator.all.seed;
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 31U) ^ device();
}

fs::path note_of(const fs::path& file) { return file.string() + ".optest.json"; }

// spoiled: ours, and changed while a run was on that nobody saw the end of.
enum class Standing { missing, ours_same, ours_other, spoiled, users };

// Whose file it is, and whether it is what the key says.
Standing standing(const fs::path& file, const std::string& key) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return Standing::missing;
  std::ifstream stream(note_of(file), std::ios::binary);
  const json note = json::parse(stream, nullptr, false);
  if (!note.is_object() || !note.value("digest", json()).is_string()) return Standing::users;
  if (digest_of_file(file) != note.at("digest").get<std::string>())
    return note.value("in_use", json()) == true ? Standing::spoiled : Standing::users;
  return note.value("key", "") == key ? Standing::ours_same : Standing::ours_other;
}

// The seed that the note beside one of our files tells.
std::optional<std::uint64_t> noted_seed(const fs::path& file) {
  std::ifstream stream(note_of(file), std::ios::binary);
  const json note = json::parse(stream, nullptr, false);
  const json made_by = note.is_object() ? note.value("made_by", json()) : json();
  const json seed = made_by.is_object() ? made_by.value("seed", json()) : json();
  if (!seed.is_number_integer()) return std::nullopt;
  return static_cast<std::uint64_t>(seed.get<std::int64_t>());
}

bool is_same(const fs::path& file, const std::string& digest) {
  try {
    return digest_of_file(file) == digest;
  } catch (const FileFault&) {
    return false;
  }
}

void leave_note(const fs::path& file, const std::string& key, const json& made_by) {
  write_file(note_of(file),
             json{{"key", key}, {"digest", digest_of_file(file)}, {"made_by", made_by}}.dump(1));
}

double amount(const json& params, const json& constants, const char* key, double otherwise) {
  for (const json* from : {&params, &constants}) {
    const auto found = from->find(key);
    if (found != from->end() && found->is_number()) return found->get<double>();
  }
  return otherwise;
}

void write_builtin(const Case& one, const ShapeEntry& shapes, std::size_t index, std::uint64_t seed,
                   const fs::path& file) {
  const DType dtype = one.dtypes[index];
  const std::size_t size = contract::size_bytes(dtype);
  const std::uint64_t count = shapes.inputs[index].elements();
  std::uint64_t first = 0;
  std::vector<std::byte> block;
  write_file(file, [&]() -> std::span<const std::byte> {
    block.resize(std::min<std::uint64_t>(kBlockElements, count - first) * size);
    fill_builtin(one.generator, index, seed, dtype, first, block);
    first += block.size() / size;
    return block;
  });
}

json seed_json(const std::optional<std::uint64_t>& seed) {
  return seed ? json(static_cast<std::int64_t>(*seed)) : json(nullptr);
}

// One run's inputs on their way.
class Making {
 public:
  Making(const Case& one, const ShapeEntry& shapes, const Resolved& resolved, const InputWish& wish)
      : one_(one), shapes_(shapes), resolved_(resolved), wish_(wish) {}

  MadeInputs make(CustomFunctions& functions, const plans::ScratchFolder& scratch,
                  const std::stop_token& stop) {
    for (std::size_t i = 0; i < resolved_.inputs.size(); ++i) look_at(i);
    if (made_.problem.empty() && std::count(wanted_.begin(), wanted_.end(), true) > 0) {
      if (one_.generator.is_custom())
        make_custom(functions, scratch, stop);
      else
        make_builtin();
    }
    for (std::size_t i = 0; i < resolved_.inputs.size() && made_.problem.empty(); ++i) {
      const std::string fault = size_fault(resolved_.inputs[i], one_.dtypes[i], shapes_.inputs[i]);
      if (fault.empty()) {
        made_.inputs[i].digest = digest_of_file(resolved_.inputs[i]);
        continue;
      }
      const bool users = made_.inputs[i].cache == "user";
      made_.problem =
          "input" + std::to_string(i) + ": " + fault +
          (users ? "; it was there before, so it is kept (--cache regen replaces it)" : "");
    }
    return std::move(made_);
  }

 private:
  void look_at(std::size_t i) {
    keys_.push_back(digest_of_text(input_key(one_, shapes_, i)));
    const Standing found = standing(resolved_.inputs[i], keys_[i]);
    if (found == Standing::spoiled && wish_.policy == CachePolicy::reuse && made_.problem.empty()) {
      made_.problem =
          "input" + std::to_string(i) + ": " + resolved_.inputs[i].string() +
          " was changed while an earlier run was cut short, perhaps by its command; --cache regen "
          "makes it anew";
    }
    const bool again = wish_.policy == CachePolicy::regen || found == Standing::missing ||
                       found == Standing::ours_other;
    wanted_.push_back(again);
    made_.inputs.push_back({.cache = again                      ? "generated"
                                     : found == Standing::users ? "user"
                                                                : "hit",
                            .seed = seed_of(one_.generator, i)});
    // Made by an earlier run, which drew it.
    if (found == Standing::ours_same && !again && !made_.inputs[i].seed)
      made_.inputs[i].seed = noted_seed(resolved_.inputs[i]);
  }

  void make_builtin() {
    const std::uint64_t shared =
        one_.generator.all.seed.value_or(wish_.seed.value_or(fresh_seed()));
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (!wanted_[i]) continue;
      const std::uint64_t seed = seed_of(one_.generator, i).value_or(shared);
      made_.inputs[i].seed = seed;
      write_builtin(one_, shapes_, i, seed, resolved_.inputs[i]);
      leave_note(resolved_.inputs[i], keys_[i],
                 {{"generator", filling_of(one_.generator, i).name}, {"seed", seed_json(seed)}});
    }
  }

  void make_custom(CustomFunctions& functions, const plans::ScratchFolder& scratch,
                   const std::stop_token& stop) {
    const fs::path folder = scratch.make("inputs");
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      paths.push_back((folder / ("input" + std::to_string(i) + ".bin")).string());
    }
    const auto& seed = one_.generator.all.seed;
    FunctionCall call{.is_generator = true,
                      .source = one_.generator.source,
                      .name = one_.generator.all.name,
                      .arguments = {{"input_paths", paths},
                                    {"shapes",
                                     {{"inputs", told_shapes(shapes_.inputs)},
                                      {"outputs", told_shapes(shapes_.outputs)}}},
                                    {"dtypes", told_dtypes(one_.dtypes)},
                                    {"params", one_.generator.all.params},
                                    {"seed", seed ? json(*seed & INT64_MAX) : json(nullptr)},
                                    {"constants", one_.generator.constants}},
                      .writable = folder};
    const FunctionEnd end = functions.call(call, std::chrono::minutes(10), stop);
    if (!end.problem.empty()) {
      made_.problem = "generator " + call.name + ": " + end.problem;
      return;
    }
    for (std::size_t i = 0; i < wanted_.size() && made_.problem.empty(); ++i) {
      if (wanted_[i]) adopt(i, paths[i]);
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  // From the scratch folder to its place.
  void adopt(std::size_t i, const std::string& from) {
    const std::string fault = size_fault(from, one_.dtypes[i], shapes_.inputs[i]);
    if (!fault.empty()) {
      made_.problem =
          "generator " + one_.generator.all.name + ", input" + std::to_string(i) + ": " + fault;
      return;
    }
    std::ifstream stream(from, std::ios::binary);
    std::vector<char> block(kBlockElements * 8);
    write_file(resolved_.inputs[i], [&]() -> std::span<const std::byte> {
      stream.read(block.data(), static_cast<std::streamsize>(block.size()));
      return std::as_bytes(std::span(block.data(), static_cast<std::size_t>(stream.gcount())));
    });
    leave_note(resolved_.inputs[i], keys_[i],
               {{"generator", one_.generator.all.name},
                {"source", one_.generator.source},
                {"seed", seed_json(one_.generator.all.seed)}});
  }

  const Case& one_;
  const ShapeEntry& shapes_;
  const Resolved& resolved_;
  const InputWish& wish_;
  std::vector<std::string> keys_{};
  std::vector<bool> wanted_{};
  MadeInputs made_{};
};

}  // namespace

void fill_builtin(const Generator& generator, std::size_t index, std::uint64_t seed, DType dtype,
                  std::uint64_t first, std::span<std::byte> out) {
  const Filling& filling = filling_of(generator, index);
  const std::size_t size = contract::size_bytes(dtype);
  const std::size_t count = out.size() / size;
  const bool is_uniform = filling.name == "builtin.uniform";
  std::vector<double> values(count, 1.0);
  const auto fill = generator.constants.find("value");
  if (fill != generator.constants.end() && fill->is_number()) {
    std::fill(values.begin(), values.end(), fill->get<double>());
  } else if (filling.name != "builtin.ones") {
    contract::TensorInit init{.kind = is_uniform ? contract::InitKind::uniform
                                                 : contract::InitKind::randn};
    if (is_uniform) {
      init.low = amount(filling.params, generator.constants, "low", -1);
      init.high = amount(filling.params, generator.constants, "high", 1);
    }
    // An input with a seed of its own has a stream of its own; those that share one seed differ by
    // their place.
    const judge::Stream stream{.seed = seed,
                               .id = has_own_seed(generator, index) ? 0 : std::uint64_t{index} + 1};
    judge::generate(init, DType::float64, 1, stream, first,
                    std::as_writable_bytes(std::span(values)));
  }
  const double scale = is_uniform ? 1 : amount(filling.params, generator.constants, "scale", 1);
  const double shift = is_uniform ? 0 : amount(filling.params, generator.constants, "shift", 0);
  const bool is_coin = dtype == DType::boolean && filling.name == "builtin.random";
  for (std::size_t i = 0; i < count; ++i) {
    double value = values[i] * scale + shift;
    if (is_coin) value = value > 0 ? 1 : 0;
    store_real(value, dtype, out.data() + i * size);
  }
}

std::string input_key(const Case& one, const ShapeEntry& shapes, std::size_t index) {
  const Generator& generator = one.generator;
  json key = {{"format", kKeyFormat}, {"constants", generator.constants}, {"index", index}};
  key["seed"] = seed_json(seed_of(generator, index));
  if (generator.is_custom()) {
    key["function"] = generator.all.name;
    key["source"] = digest_of_file(generator.source);
    key["params"] = generator.all.params;
    key["shapes"] = {told_shapes(shapes.inputs), told_shapes(shapes.outputs)};
    key["dtypes"] = told_dtypes(one.dtypes);
  } else {
    const Filling& filling = filling_of(generator, index);
    key["generator"] = filling.name;
    key["own_seed"] = has_own_seed(generator, index);
    key["params"] = filling.params;
    key["shape"] = shapes.inputs[index].extents;
    key["dtype"] = contract::name(one.dtypes[index]);
  }
  return key.dump();
}

void mark_in_use(const MadeInputs& made, const Resolved& resolved, bool in_use) {
  for (std::size_t i = 0; i < made.inputs.size(); ++i) {
    const fs::path note_file = note_of(resolved.inputs[i]);
    std::error_code error;
    if (made.inputs[i].cache == "user" || !fs::is_regular_file(note_file, error)) continue;
    std::ifstream stream(note_file, std::ios::binary);
    json note = json::parse(stream, nullptr, false);
    if (!note.is_object()) continue;
    note.erase("in_use");
    if (in_use) note["in_use"] = true;
    write_file(note_file, note.dump(1));
  }
}

std::vector<std::string> changed_inputs(const MadeInputs& made, const Resolved& resolved) {
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < made.inputs.size(); ++i) {
    const fs::path& file = resolved.inputs[i];
    if (is_same(file, made.inputs[i].digest)) continue;
    changed.push_back("input" + std::to_string(i));
    if (made.inputs[i].cache == "user") continue;
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(file, ignored))) fs::remove(file, ignored);
    fs::remove(note_of(file), ignored);
  }
  return changed;
}

bool is_users_file(const fs::path& file) {
  try {
    return standing(file, {}) == Standing::users;
  } catch (const FileFault&) {
    return false;
  }
}

MadeInputs make_inputs(const Case& one, const ShapeEntry& shapes, const Resolved& resolved,
                       const InputWish& wish, CustomFunctions& functions,
                       const plans::ScratchFolder& scratch, const std::stop_token& stop) {
  try {
    return Making(one, shapes, resolved, wish).make(functions, scratch, stop);
  } catch (const FileFault& fault) {
    return {.problem = fault.what()};
  }
}

}  // namespace assay::optest
