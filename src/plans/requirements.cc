#include "plans/requirements.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "plans/container_engine.h"
#include "plans/python.h"

namespace assay::plans {
namespace {

using nlohmann::json;

constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;

// "sm_90" or "sm_90a" → 90.
int sm_of(const std::string& arch) {
  const std::size_t digits = arch.find_first_of("0123456789");
  int number = 0;
  if (digits != std::string::npos)
    std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return number;
}

// The digits and points of the first number in a text such as "NVRTC 13.0".
std::string version_in(const std::string& text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return {};
  const std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
  std::string version = text.substr(begin, end - begin);
  while (version.ends_with('.')) version.pop_back();
  return version;
}

struct Machine {
  std::vector<int> sms{};
  std::vector<double> memories_gb{};
  std::string cuda_version{};  // of the compiler, else of the driver
  std::string no_gpu{};
};

Machine machine_of(const json& capabilities) {
  Machine machine;
  for (const auto& device : capabilities.value("devices", json::array())) {
    if (device.value("kind", "") != "gpu") continue;
    machine.sms.push_back(sm_of(device.value("arch", "")));
    machine.memories_gb.push_back(device.value("memory_bytes", 0.0) / kBytesPerGb);
    if (machine.cuda_version.empty()) {
      machine.cuda_version = version_in(device.value("driver", std::string()));
    }
  }
  const json toolkit = capabilities.value("toolkit", json::object());
  const json compiler = toolkit.value("compiler", json());
  if (compiler.is_string()) machine.cuda_version = version_in(compiler.get<std::string>());
  const json reason = capabilities.value("no_gpu", json());
  machine.no_gpu = reason.is_string() ? reason.get<std::string>() : "no GPU";
  return machine;
}

std::string bound_text(const json& need) {
  if (need.is_string()) return need.get<std::string>();
  return need.dump();
}

class Checker {
 public:
  Checker(const json& capabilities, const StepRunner& runner, std::string python,
          const std::stop_token& stop)
      : machine_(machine_of(capabilities)),
        runner_(runner),
        python_(std::move(python)),
        stop_(stop) {}

  void check(const std::string& key, const json& need) {
    if (key == "cuda")
      check_cuda(need);
    else if (key == "gpus")
      note(key, need, machine_.sms.size(),
           version_meets(std::to_string(machine_.sms.size()), bound_text(need)));
    else if (key == "sm")
      check_sm(need);
    else if (key == "cuda_version")
      note(
          key, need, or_none(machine_.cuda_version),
          !machine_.cuda_version.empty() && version_meets(machine_.cuda_version, bound_text(need)));
    else if (key == "memory_gb")
      check_memory(need);
    else if (key == "python")
      check_modules(need);
    else if (key == "tools")
      check_tools(need);
    else if (key == "engine")
      check_engine(need);
    else if (key == "feature")
      check_features(need);
    else
      note(key, need, nullptr, false, "is no requirement known here");
  }

  RequirementsAnswer finish() { return std::move(answer_); }

 private:
  static json or_none(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

  static std::vector<std::string> list_of(const json& need) {
    if (need.is_string()) return {need.get<std::string>()};
    std::vector<std::string> list;
    for (const auto& one : need) {
      if (one.is_string()) list.push_back(one.get<std::string>());
    }
    return list;
  }

  void note(const std::string& requirement, const json& need, const json& have, bool ok,
            const std::string& why = {}) {
    json item = {{"requirement", requirement}, {"need", need}, {"have", have}, {"ok", ok}};
    if (!why.empty()) item["why"] = why;
    answer_.items.push_back(std::move(item));
    if (ok) return;
    answer_.supported = false;
    answer_.summary += (answer_.summary.empty() ? "CAPABILITY_UNSUPPORTED: " : "; ") + requirement +
                       " needs " + bound_text(need) + ", here: " + bound_text(have) +
                       (why.empty() ? "" : " (" + why + ")");
  }

  void check_cuda(const json& need) {
    const bool wanted = !need.is_boolean() || need.get<bool>();
    const bool have = !machine_.sms.empty();
    note("cuda", need, have, !wanted || have, have ? "" : machine_.no_gpu);
  }

  void check_sm(const json& need) {
    const bool ok = std::any_of(machine_.sms.begin(), machine_.sms.end(), [&](int sm) {
      return version_meets(std::to_string(sm), bound_text(need));
    });
    note("sm", need, machine_.sms, ok, machine_.sms.empty() ? machine_.no_gpu : "");
  }

  void check_memory(const json& need) {
    const bool ok =
        std::any_of(machine_.memories_gb.begin(), machine_.memories_gb.end(),
                    [&](double gb) { return version_meets(std::to_string(gb), bound_text(need)); });
    note("memory_gb", need, machine_.memories_gb, ok, machine_.sms.empty() ? machine_.no_gpu : "");
  }

  // Looked for, not imported: importing runs code.
  void check_modules(const json& need) {
    const auto modules = list_of(need);
    constexpr const char* kQuestion =
        "import sys, json, importlib.util\n"
        "def there(name):\n"
        "    try:\n"
        "        return importlib.util.find_spec(name) is not None\n"
        "    except (ImportError, ValueError, AttributeError):\n"
        "        return False\n"
        "print(json.dumps({name: there(name) for name in sys.argv[1:]}))\n";
    std::vector<std::string> argv{python_.empty() ? "python3" : python_, "-c", kQuestion};
    for (const auto& module : modules) argv.push_back(module);
    const StepEnd end = runner_.run(
        {.name = "modules", .argv = argv, .cwd = "/", .timeout = std::chrono::seconds(60)}, stop_);
    const json seen = json::parse(end.standard_output, nullptr, false);
    for (const auto& module : modules) {
      const bool ok = seen.is_object() && seen.value(module, false);
      note("python", module, ok, ok,
           !end.succeeded() ? argv[0] + ": " + describe(end)
           : ok             ? ""
                            : argv[0] + " finds no module of that name");
    }
  }

  void check_tools(const json& need) {
    for (const auto& tool : list_of(need)) {
      const std::string path = find_program(tool);
      note("tool", tool, or_none(path), !path.empty());
    }
  }

  void check_engine(const json& need) {
    std::string rest = bound_text(need);
    json have = json::array();
    bool ok = false;
    std::string why;
    while (!rest.empty()) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      const ContainerEngine engine = look_at_engine(runner_, rest.substr(0, bar), stop_);
      rest.erase(0, bar + 1);
      have.push_back(to_json(engine));
      ok = ok || engine.usable;
      if (!engine.usable) why += (why.empty() ? "" : "; ") + engine.name + ": " + engine.reason;
    }
    note("engine", need, have, ok, ok ? "" : why);
  }

  void check_features(const json& need) {
    const auto cuda = version_numbers(machine_.cuda_version).value_or(std::vector<int>{});
    for (const auto& feature : list_of(need)) {
      const json have = {{"sm", machine_.sms}, {"cuda_version", or_none(machine_.cuda_version)}};
      if (feature == "fp8_cutlass") {
        const bool ok = std::any_of(machine_.sms.begin(), machine_.sms.end(),
                                    [&](int sm) { return has_fp8_cutlass(sm, cuda); });
        note("feature", feature, have, ok, "SM 90 and newer from CUDA 12.0, SM 89 from CUDA 12.4");
      } else {
        note("feature", feature, have, false, "is no feature known here (fp8_cutlass is)");
      }
    }
  }

  const Machine machine_;
  const StepRunner& runner_;
  const std::string python_;
  const std::stop_token& stop_;
  RequirementsAnswer answer_{};
};

}  // namespace

std::optional<std::vector<int>> version_numbers(const std::string& text) {
  std::vector<int> numbers;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t point = std::min(rest.find('.'), rest.size());
    int number = 0;
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + point, number);
    if (fault != std::errc() || end != rest.data() + point) return std::nullopt;
    numbers.push_back(number);
    rest.remove_prefix(std::min(point + 1, rest.size()));
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

bool version_meets(const std::string& have, const std::string& bound) {
  const std::size_t digits = bound.find_first_of("0123456789");
  if (digits == std::string::npos) return false;
  std::string relation = bound.substr(0, digits);
  std::erase(relation, ' ');
  auto left = version_numbers(have);
  auto right = version_numbers(bound.substr(digits));
  if (!left || !right) return false;
  const std::size_t length = std::max(left->size(), right->size());
  left->resize(length, 0);
  right->resize(length, 0);
  if (relation.empty() || relation == ">=") return *left >= *right;
  if (relation == ">") return *left > *right;
  if (relation == "<=") return *left <= *right;
  if (relation == "<") return *left < *right;
  return (relation == "==" || relation == "=") && *left == *right;
}

bool has_fp8_cutlass(int sm, const std::vector<int>& cuda) {
  if (sm >= 90) return cuda >= std::vector<int>{12};
  return sm == 89 && cuda >= std::vector<int>{12, 4};
}

RequirementsAnswer check_requirements(const json& needs, const json& capabilities,
                                      const StepRunner& runner, const std::string& python,
                                      const std::stop_token& stop) {
  Checker checker(capabilities, runner, python, stop);
  for (const auto& [key, need] : needs.items()) checker.check(key, need);
  return checker.finish();
}

json to_json(const RequirementsAnswer& answer) {
  return {{"verdict", answer.supported ? "SUPPORTED" : "CAPABILITY_UNSUPPORTED"},
          {"supported", answer.supported},
          {"items", answer.items},
          {"summary", answer.summary}};
}

}  // namespace assay::plans
