#include "plans/generators/direct_run.h"

#include <fstream>
#include <iterator>

namespace assay::generators {
namespace {

// Calls run_test with what it takes of the three options; argv: the script.
constexpr const char* kCall =
    "import inspect, os, runpy, sys; s = sys.argv[1]; "
    "sys.path[:0] = [os.getcwd(), os.path.dirname(s)]; f = runpy.run_path(s)['run_test']; "
    "print(f(**{k: v for k, v in WISHES.items() if k in inspect.signature(f).parameters}))";
// Generators of the older kind expect (seconds, result) of timeit.timeit.
constexpr const char* kTimeit =
    "import timeit; timeit.template = 'def inner(_it, _timer{init}):\\n {setup}\\n _t0 = _timer()"
    "\\n for _i in _it:\\n  retval = {stmt}\\n return _timer() - _t0, retval\\n'; ";

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string python_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string called(const GeneratorCall& call) {
  const std::string wishes = std::string("dict(eqcheck=") + (call.eqcheck ? "True" : "False") +
                             ", reference=" + (call.reference ? "True" : "False") +
                             ", prefix=" + python_text(call.prefix) + ")";
  // Always, as in the harness: what the script imports may time, too.
  std::string code = std::string(kTimeit) + kCall;
  const std::string place = "WISHES";
  return code.replace(code.find(place), place.size(), wishes);
}

}  // namespace

plans::Step direct_step(const GeneratorCall& call) {
  std::ifstream stream(call.script, std::ios::binary);
  const std::string script{std::istreambuf_iterator<char>(stream), {}};
  plans::Step step{.name = "generator",
                   .argv = call.python,
                   .cwd = call.workdir,
                   .environment = call.environment};
  const auto add = [&](std::string word) { step.argv.push_back(std::move(word)); };
  add("-B");
  if (!contains(script, "__main__")) {
    add("-c");
    add(called(call));
    add(call.script);
    return step;
  }
  add(call.script);
  if (contains(script, "\"output_file\"") || contains(script, "'output_file'")) add("timings.txt");
  if (call.eqcheck) add("--eqcheck");
  if (call.reference) add("--reference");
  if (!call.prefix.empty()) {
    add(contains(script, "--file_prefix") ? "--file_prefix" : "--prefix");
    add(call.prefix);
  }
  return step;
}

}  // namespace assay::generators
