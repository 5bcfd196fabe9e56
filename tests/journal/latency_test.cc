// Not a claim but a measurement; run by name: test_journal "[measure]".
#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/journal/fixture.h"

namespace assay::journal {
namespace {

using Clock = std::chrono::steady_clock;

struct Series {
  const char* name;
  std::vector<double> ms{};
  template <typename Call>
  void time(Call&& call) {
    const auto start = Clock::now();
    call();
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  void print() {
    std::sort(ms.begin(), ms.end());
    std::printf("%-10s p50 %.3f ms  p99 %.3f ms  (%zu)\n", name, ms[ms.size() / 2],
                ms[ms.size() * 99 / 100], ms.size());
  }
};

TEST_CASE("measure: what a write and a start cost", "[.][measure]") {
  const Folder folder;
  Series submit{.name = "submit"};
  Series append{.name = "append"};
  Series conclude{.name = "conclude"};
  Series find{.name = "find"};
  Series open{.name = "open"};
  Series create{.name = "create"};
  {
    Journal journal(folder.path(), options());
    for (int i = 0; i < 1000; ++i) {
      const auto record = new_job();
      submit.time([&] { journal.submit(record); });
      for (std::uint64_t seq = 0; seq < 3; ++seq) {
        append.time([&] {
          journal.append(record.id, seq,
                         {.name = "compiled", .body = {{"log", std::string(2'000, 'x')}}});
        });
      }
      conclude.time([&] {
        (void)journal.conclude(record.id, job::Verdict::passed, job::State::completed,
                               nlohmann::json::object());
      });
      find.time([&] { (void)journal.find(record.id, "alice"); });
    }
  }
  for (int i = 0; i < 50; ++i) {
    open.time([&] { const Journal journal(folder.path(), options()); });
    create.time([&] { const Journal journal(folder.path() / std::to_string(i), options()); });
  }
  for (Series* series : {&submit, &append, &conclude, &find, &open, &create}) series->print();
}

}  // namespace
}  // namespace assay::journal
