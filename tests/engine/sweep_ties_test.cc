// Who is the best of a sweep, who shares its rank, and who may not.
#include <algorithm>

#include "tests/engine/sweep_bench.h"

using namespace assay;
using namespace assay::sweep_bench;

TEST_CASE("a variant that cannot be told from the best shares its rank") {
  FakeJudge judge{.times_ns = {{"a", 50'000}, {"b", 51'000}, {"c", 52'000}, {"d", 90'000}},
                  .alike = {"b", "d"}};
  Told told;
  const json body = swept(judge, request_of({"a", "b", "c", "d"}), told);
  CHECK(body.at("table")[1].at("rank") == 1);
  CHECK(body.at("table")[1].at("tied_with_best") == true);
  CHECK(body.at("table")[2].at("rank") == 3);
  CHECK(!body.at("table")[2].contains("tied_with_best"));
  // Too far away to be worth a comparison.
  CHECK(!body.at("table")[3].contains("against_best"));
}

TEST_CASE("as many variants share the first rank as cannot be told from it") {
  FakeJudge judge;
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    names.push_back("v" + std::to_string(i));
    judge.times_ns[names.back()] = 50'000.0 + 100 * i;
    judge.alike.insert(names.back());
  }
  Told told;
  // All of them in the last round: a tie of what was timed by fewer runs is none.
  const json body = swept(judge, request_of(names, 10), told);
  for (const auto& line : body.at("table")) CHECK(line.at("rank") == 1);
}

TEST_CASE("who is faster beside the best is the best") {
  FakeJudge judge{
      .times_ns = {{"a", 50'000}, {"b", 50'500}, {"c", 51'000}}, .alike = {"a"}, .faster = {"b"}};
  Told told;
  const json body = swept(judge, request_of({"a", "b", "c"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"b", "a", "c"});
  CHECK(body.at("best").at("name") == "b");
  CHECK(body.at("table")[1].at("tied_with_best") == true);
}

TEST_CASE("variants are ranked by one clock, whichever it is") {
  FakeJudge judge{.times_ns = {{"short", 14'900}, {"long", 15'100}},
                  .faster = {"long"},
                  .graphs_ns = {{"short", 13'000}, {"long", 4'000}}};
  Told told;
  const json body = swept(judge, request_of({"short", "long"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"long", "short"});
  const json& second = body.at("table")[1];
  CHECK((second.at("cost_ns") == 13'000 && second.at("cost_basis") == "graph"));
  CHECK((second.at("median_ns") == 14'900 && second.at("graph_ns") == 13'000));
  for (const json& one : told.stages) {
    if (one.contains("median_ns")) CHECK(one.at("median_ns") >= 14'900);
  }

  FakeJudge one{.times_ns = {{"short", 14'900}, {"long", 15'100}}, .graphs_ns = {{"long", 4'000}}};
  CHECK(names_of(swept(one, request_of({"short", "long"}), told)) ==
        std::vector<std::string>{"short", "long"});
}

TEST_CASE("a slope that is not there side by side is not the best, nor ranked before it") {
  FakeJudge judge{
      .times_ns = {{"honest", 14'900}, {"leans", 15'100}, {"other", 15'200}, {"slow", 30'000}},
      .graphs_ns = {{"honest", 13'000}, {"leans", 4'000}, {"other", 13'500}, {"slow", 28'000}}};
  Told told;
  const json body = swept(judge, request_of({"leans", "honest", "other", "slow"}), told);
  CHECK(body.at("best").at("name") == "honest");
  CHECK(body.at("best").at("cost_ns") == 13'000);
  for (const json& line : body.at("table")) {
    CHECK(line.at("cost_ns") >= 13'000);
    CHECK(line.at("median_ns") >= 14'900);  // as it was measured, whatever it is ranked by
    if (line.at("name") == "leans") {
      CHECK(line.at("cost_basis") == "beside_best");
      CHECK(line.at("graph_ns") == 4'000);
    }
  }
  // It was the candidate that was looked at, beside the quickest of those launched alone.
  const auto is_its = [](const json& one) {
    return one.at("kernel").at("name") == "leans" && one.contains("ref_kernel") &&
           one.at("ref_kernel").at("name") == "honest";
  };
  CHECK(std::any_of(judge.asked.begin(), judge.asked.end(), is_its));
}

TEST_CASE("who is quickest alone by chance is no best by a slope that is not there side by side") {
  const auto best_of = [](std::set<std::string> alike) {
    FakeJudge judge{.times_ns = {{"leans", 5'500}, {"honest", 5'900}, {"slow", 5'700}},
                    .graphs_ns = {{"leans", 1'100}, {"honest", 1'700}, {"slow", 2'300}}};
    judge.alike = std::move(alike);
    Told told;
    return swept(judge, request_of({"leans", "honest", "slow"}), told);
  };
  const json doubted = best_of({"honest", "leans"});
  CHECK(doubted.at("best").at("name") == "honest");
  for (const json& line : doubted.at("table")) {
    CHECK(line.at("cost_ns") >= 1'700);
    if (line.at("name") == "leans") CHECK(line.at("rank") == 1);
    if (line.at("name") == "slow") CHECK(line.at("rank") == 3);
  }
  CHECK(best_of({}).at("best").at("name") == "leans");  // beside it the others are slower
}

TEST_CASE("who is suspect beside the quickest alone shields it from nobody") {
  FakeJudge judge{.times_ns = {{"leans", 5'500}, {"cheat", 5'600}, {"honest", 5'900}},
                  .graphs_ns = {{"leans", 1'100}, {"cheat", 1'500}, {"honest", 1'700}}};
  judge.alike = {"leans", "honest"};
  judge.beside = {{"cheat", "suspect"}};
  Told told;
  const json body = swept(judge, request_of({"leans", "cheat", "honest"}), told);
  CHECK(body.at("best").at("name") == "honest");
}

TEST_CASE("two that lean by different slopes shield each other from nobody") {
  FakeJudge judge{.times_ns = {{"leans", 5'500}, {"too", 5'600}, {"honest", 5'900}},
                  .graphs_ns = {{"leans", 1'100}, {"too", 1'300}, {"honest", 1'700}}};
  judge.alike = {"leans", "too", "honest"};
  Told told;
  const json body = swept(judge, request_of({"leans", "too", "honest"}), told);
  CHECK(body.at("best").at("name") == "honest");
  for (const json& line : body.at("table")) CHECK(line.at("cost_ns") >= 1'700);
}

TEST_CASE("who is faster beside whoever was no slower beside it keeps its lead") {
  FakeJudge judge{.times_ns = {{"a", 5'000}, {"b", 5'100}},
                  .graphs_ns = {{"a", 1'000}, {"b", 5'000}}};
  judge.alike = {"b"};
  judge.faster = {"a"};
  Told told;
  const json body = swept(judge, request_of({"a", "b"}), told);
  CHECK(body.at("best").at("name") == "a");
  CHECK(body.at("best").at("cost_ns") == 1'000);
}

TEST_CASE("what is seen of a variant beside the best counts: suspect there is suspect") {
  FakeJudge judge{.times_ns = {{"honest", 14'900}, {"cheat", 15'000}, {"other", 15'200}},
                  .faster = {"cheat"},
                  .beside = {{"cheat", "suspect"}}};
  Told told;
  const json body = swept(judge, request_of({"cheat", "honest", "other"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"honest", "other", "cheat"});
  CHECK(body.at("table")[2].at("trust") == "suspect");
  CHECK(body.at("best").at("trust") == "verified");
}

TEST_CASE("who became suspect beside the best shares no rank with whoever is best then") {
  FakeJudge judge{.times_ns = {{"honest", 14'900}, {"cheat", 15'050}, {"finer", 15'000}},
                  .alike = {"honest", "cheat"},
                  .faster = {"finer"},
                  .beside = {{"cheat", "suspect"}}};
  Told told;
  const json body = swept(judge, request_of({"cheat", "honest", "finer"}), told);
  CHECK(names_of(body) == std::vector<std::string>{"finer", "honest", "cheat"});
  CHECK(body.at("table")[1].at("rank") == 1);
  CHECK(body.at("table")[2].at("rank") == 3);
  CHECK_FALSE(body.at("table")[2].contains("tied_with_best"));
}

TEST_CASE("a comparison that failed is told, and its variant ranked by what it took alone") {
  FakeJudge judge{.times_ns = {{"honest", 14'100}, {"odd", 15'510}},
                  .graphs_ns = {{"honest", 13'000}, {"odd", 4'000}},
                  .beside = {{"odd", "wrong_output"}}};
  Told told;
  const json body = swept(judge, request_of({"odd", "honest"}), told);
  CHECK(body.at("best").at("name") == "honest");
  const json& odd = body.at("table")[1];
  CHECK(odd.at("verdict") == "passed");
  CHECK(odd.at("against_best").at("verdict") == "not_compared");
  CHECK(odd.at("against_best").at("why") == "not as the other: odd");
  CHECK(odd.at("relative").get<double>() == Approx(1.1));
}

TEST_CASE("the quickest of those launched alone goes on, however many slopes are before it") {
  FakeJudge judge;
  std::vector<std::string> names;
  for (int i = 0; i < 16; ++i) {
    names.push_back("v" + std::to_string(i));
    judge.times_ns[names.back()] = 15'100;
    judge.graphs_ns[names.back()] = 2'000 + i;
  }
  judge.times_ns["v15"] = 14'000;
  judge.graphs_ns["v15"] = 12'000;
  judge.times_ns["v14"] = 3'000;  // which takes no place from it
  judge.trusts["v14"] = "suspect";
  Told told;
  const json body = swept(judge, request_of(names, 160), told);
  CHECK(body.at("best").at("name") == "v15");
  CHECK(body.at("best").at("runs") == 160);
}

TEST_CASE("what something speaks against is not the best, unless all are so") {
  FakeJudge judge{.times_ns = {{"idle", 3'000}, {"honest", 50'000}},
                  .trusts = {{"idle", "suspect"}}};
  Told told;
  const json body = swept(judge, request_of({"idle", "honest"}), told);
  CHECK(body.at("best").at("name") == "honest");
  CHECK(body.at("table")[1].at("trust") == "suspect");
  CHECK(body.at("summary").get<std::string>().find("2 passed (1 of them suspect)") !=
        std::string::npos);

  FakeJudge all{.times_ns = {{"a", 3'000}, {"b", 50'000}},
                .trusts = {{"a", "suspect"}, {"b", "suspect"}}};
  CHECK(swept(all, request_of({"a", "b"}), told).at("best").at("name") == "a");
}
