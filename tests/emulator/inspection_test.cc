// Inspections: a corpus of planted mistakes, none of which may be missed, and of kernels without
// any, about which nothing may be said. mistakes.cu, misuse.cu, pipelines.cu, neighbours.cu,
// meetings.cu, numbers.cu, decisions.cu, phases.cu and masks.cu have their sources, with the rules
// of naming.
#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr Inspection kAll{.races = true,
                          .initialised = true,
                          .heap = true,
                          .barriers = true,
                          .numbers = true,
                          .counters = true};

std::shared_ptr<const Module> mistakes() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("mistakes"));
  return module;
}

std::shared_ptr<const Module> misuse() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("misuse"));
  return module;
}

std::shared_ptr<const Module> pipelines() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("pipelines"));
  return module;
}

std::shared_ptr<const Module> neighbours() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("neighbours"));
  return module;
}

std::shared_ptr<const Module> meetings() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("meetings"));
  return module;
}

std::shared_ptr<const Module> numbers() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("numbers"));
  return module;
}

std::shared_ptr<const Module> decisions() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("decisions"));
  return module;
}

std::shared_ptr<const Module> phases() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("phases"));
  return module;
}

std::shared_ptr<const Module> masks() {
  static const std::shared_ptr<const Module> module = parsed(ptx_file("masks"));
  return module;
}

std::vector<std::shared_ptr<const Module>> corpus() {
  return {mistakes(), misuse(),    pipelines(), neighbours(), meetings(),
          numbers(),  decisions(), phases(),    masks()};
}

Outcome inspect(const std::string& kernel, const Inspection& inspection = kAll,
                const std::shared_ptr<const Module>& module = mistakes()) {
  std::vector<float> a(256), b(256);
  std::vector<int> c(64);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7 + 1);
  return Call(kernel, {2}, {128})
      .buffer("a", a)
      .output("b", b)
      .buffer("c", c)
      .value(256)
      .inspect(inspection)
      .budget({.thread_instructions = 3'000'000, .local_bytes_per_thread = 8192, .threads = 1})
      .run(module);
}

// `shared_race__without_barrier` promises shared_race.
std::string promise(const std::string& kernel) { return kernel.substr(0, kernel.find("__")); }

std::string told(const Outcome& o) {
  std::string s(name(o.ending));
  s += " " + o.message;
  for (const Finding& f : o.findings) s += "\n  " + std::string(name(f.kind)) + ": " + f.message;
  return s;
}

bool keeps_promise(const std::string& kernel, const Outcome& o) {
  const std::string kind = promise(kernel);
  if (o.ending == Ending::faulted && name(o.fault.kind) == kind) return true;
  if (name(o.ending) == kind) return true;
  return std::any_of(o.findings.begin(), o.findings.end(),
                     [&](const Finding& f) { return name(f.kind) == kind; });
}

}  // namespace

TEST_CASE("every planted mistake is found, by the name it has") {
  std::map<std::string, int> of_kind;
  int planted = 0;
  for (const auto& module : corpus()) {
    for (const KernelInfo& k : module->kernels()) {
      if (promise(k.name) == "clean") continue;
      const Outcome o = inspect(k.name, kAll, module);
      INFO(k.name << ": " << told(o));
      CHECK(keeps_promise(k.name, o));
      ++of_kind[promise(k.name)];
      ++planted;
    }
  }
  REQUIRE(planted >= 180);
  REQUIRE(of_kind.size() >= 20);
}

TEST_CASE("about kernels without mistakes nothing is said") {
  int clean = 0;
  for (const auto& module : corpus()) {
    for (const KernelInfo& k : module->kernels()) {
      if (promise(k.name) != "clean") continue;
      const Outcome o = inspect(k.name, kAll, module);
      INFO(k.name << ": " << told(o));
      CHECK(o.ending == Ending::completed);
      CHECK(o.findings.empty());
      ++clean;
    }
  }
  REQUIRE(clean >= 144);
}

TEST_CASE("an inspection changes no result and runs the same way every time") {
  for (const auto& module : corpus()) {
    for (const KernelInfo& k : module->kernels()) {
      if (promise(k.name) != "clean") continue;
      std::vector<std::vector<float>> results;
      for (const bool inspected : {false, true}) {
        std::vector<float> a(256), b(256);
        std::vector<int> c(64);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7 + 1);
        Call call(k.name, {2}, {128});
        call.buffer("a", a).output("b", b).buffer("c", c).value(256);
        if (inspected) call.inspect(kAll);
        INFO(k.name);
        REQUIRE(call.run(module).ending == Ending::completed);
        results.push_back(b);
      }
      INFO(k.name);
      REQUIRE(results[0] == results[1]);
    }
  }
  REQUIRE(told(inspect("global_race__sum_without_atomic")) ==
          told(inspect("global_race__sum_without_atomic")));
}

TEST_CASE("a finding names line, threads, tensor and element, and counts its repeats") {
  const Outcome o = inspect("shared_race__missing_barrier_after_fill");
  const auto race = std::find_if(o.findings.begin(), o.findings.end(), [](const Finding& f) {
    return f.kind == FindingKind::shared_race;
  });
  REQUIRE(race != o.findings.end());
  const Finding& f = *race;
  REQUIRE(f.where.line > 0);
  REQUIRE(f.where.file.find("mistakes.cu") != std::string::npos);
  REQUIRE(f.thread.x != f.other_thread.x);
  REQUIRE(f.buffer.find("s") != std::string::npos);
  REQUIRE(f.access_bytes == 4);
  REQUIRE(f.count > 1);
  const Outcome u = inspect("uninitialised_global__adds_to_the_output");
  REQUIRE(u.findings.size() == 1);
  REQUIRE(u.findings[0].buffer == "b");
  REQUIRE(u.findings[0].count == 256);
  REQUIRE(u.findings[0].message.find("element 0 of 'b'") != std::string::npos);
}

TEST_CASE("of neighbours in one word each has its own marks") {
  for (const std::string how :
       {"by_both_blocks", "read_by_the_next_block", "written_by_the_next_block"}) {
    const Outcome o = inspect("global_race__halves_" + how, {.races = true}, misuse());
    INFO(how << ": " << told(o));
    REQUIRE(o.findings.size() == 1);
    REQUIRE(o.findings[0].count == 128);
    REQUIRE(o.findings[0].access_bytes == 2);
  }
  const Outcome bytes = inspect("global_race__bytes_by_both_blocks", {.races = true}, misuse());
  REQUIRE(bytes.findings.at(0).count == 128);
}

TEST_CASE("a copy that nobody waited for is told with both lines and what was forgotten") {
  const Outcome o =
      inspect("shared_race__copy_not_waited_for_but_a_barrier", {.races = true}, pipelines());
  INFO(told(o));
  REQUIRE(o.findings.size() == 1);
  const Finding& f = o.findings[0];
  REQUIRE(f.count == 256);
  REQUIRE(f.buffer == "s");
  REQUIRE(f.where.line > 0);
  REQUIRE(f.where.line != f.other_where.line);
  REQUIRE(f.message.find("cp.async.wait_group") != std::string::npos);
  const Outcome u =
      inspect("shared_race__copy_of_own_not_waited_for", {.initialised = true}, pipelines());
  REQUIRE(u.findings.size() == 1);
  REQUIRE(u.findings[0].kind == FindingKind::uninitialised_shared);
}

TEST_CASE("an mbarrier that others use before they know of it is told so") {
  const Outcome o =
      inspect("shared_race__barrier_used_before_initialised", {.races = true}, pipelines());
  INFO(told(o));
  REQUIRE(o.findings.size() == 1);
  REQUIRE(o.findings[0].buffer == "bar");
  REQUIRE(o.findings[0].message.find("mbarrier") != std::string::npos);
}

// As a job runs it: without a limit on instructions, on several threads, in every order.
Outcome run_alone(const std::string& kernel, bool to_the_barrier, bool copies_at_once) {
  std::vector<float> a(256, 1), b(256);
  std::vector<int> c(64);
  Call call(kernel, {2}, {128});
  call.buffer("a", a).output("b", b).buffer("c", c).value(256);
  if (to_the_barrier) call.to_the_barrier();
  if (copies_at_once) call.copies_at_once();
  return call.budget({.wall = std::chrono::seconds(60), .threads = 2}).run(pipelines());
}

TEST_CASE("threads that wait for a phase that nobody can end are told at once, others wait on") {
  for (const KernelInfo& k : pipelines()->kernels()) {
    for (const unsigned order : {0U, 1U, 2U, 3U}) {
      const std::string kind = promise(k.name);
      if (kind != "deadlock" && kind != "clean") continue;
      const Outcome o = run_alone(k.name, (order & 1U) != 0, (order & 2U) != 0);
      INFO(k.name << " " << order << ": " << told(o));
      REQUIRE(o.ending == (kind == "clean" ? Ending::completed : Ending::faulted));
      if (kind == "clean") continue;
      REQUIRE(o.fault.kind == FaultKind::deadlock);
      REQUIRE(o.fault.where.line > 0);
      REQUIRE(o.counters.thread_instructions < 1'000'000);
    }
  }
  const Outcome bytes = run_alone("deadlock__barrier_of_more_bytes_than_are_copied", false, false);
  REQUIRE(bytes.message.find("mbarrier 'full' has 1 of 1 arrivals and 256 of 512 expected bytes") !=
          std::string::npos);
  const Outcome both =
      run_alone("deadlock__producer_and_consumer_wait_for_each_other", false, false);
  REQUIRE(both.message.find("'empty' has 0 of 96 arrivals") != std::string::npos);
  REQUIRE(both.message.find("'full' has 0 of 1 arrivals") != std::string::npos);
}

TEST_CASE("only what was asked for is looked at") {
  REQUIRE(inspect("uninitialised_global__adds_to_the_output", {.races = true}).findings.empty());
  REQUIRE(inspect("shared_race__tree_without_barrier", {.initialised = true}).findings.empty());
  REQUIRE(inspect("divergent_barrier__in_one_branch", {.numbers = true}).findings.empty());
  REQUIRE(inspect("infinity__one_over_zero", {.barriers = true}).findings.empty());
  REQUIRE(inspect("clean__tree", {.races = true}).profile.metrics.empty());
}
