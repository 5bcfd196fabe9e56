// What a process tells of findings has their form in a report, or is refused.
#include "engine/node/finding_claim.h"

#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

json finding(const std::string& more = {}) {
  return json::parse(R"({"kind": "shared_race", "severity": "error", "message": "m", "count": 3,
      "where": {"file": "kernel.py", "line": 7, "column": 2}, "block": [1, 0, 0],
      "thread": [5, 0, 0], "kernel": "k", "memory": "tile", "offset_bytes": -4, "element": -1,
      "other": {"where": {"file": "kernel.py", "line": 9, "column": 1}, "block": [1, 0, 0],
                "thread": [6, 0, 0]},
      "instruction": "ld", "inlined_at": [{"file": "kernel.py", "line": 3, "column": 0}])" +
                     more + "}");
}

json body(const std::string& findings, const std::string& more = {}) {
  return json::parse(R"({"type": "inspected", "launches": 2, "notes": ["n"], "raised": "",
      "blocks": {"checked": 4, "of": 8}, "findings": )" +
                     findings + more + "}");
}

}  // namespace

TEST_CASE("a finding is taken member by member, and what it is not asked for is left out") {
  json told = finding(R"(, "verdict": "passed")");
  json taken = node::finding_claim(told, "emulator");
  told.erase("verdict");
  told["by"] = "emulator";
  CHECK(taken == told);
}

TEST_CASE("a finding that lacks a member, or has another kind of value there, is none") {
  for (const char* key : {"kind", "severity", "message", "count", "where"}) {
    json told = finding();
    told.erase(key);
    CHECK_THROWS_AS(node::finding_claim(told, "emulator"), json::exception);
  }
  for (const char* value : {"-1", "1e300", "\"1\"", "null", "[]", "{}"}) {
    for (const char* key : {"count", "block", "thread", "element", "where", "other", "kernel"}) {
      json told = finding();
      told[key] = json::parse(value);
      const bool may_be = (std::string(key) == "element" && std::string(value) == "-1") ||
                          (std::string(key) == "kernel" && std::string(value) == "\"1\"");
      INFO(key << " = " << value);
      if (may_be) {
        CHECK_NOTHROW(node::finding_claim(told, "emulator"));
      } else {
        CHECK_THROWS_AS(node::finding_claim(told, "emulator"), json::exception);
      }
    }
  }
}

TEST_CASE("texts, numbers and lists of findings are bounded") {
  json told = finding();
  told["message"] = std::string(node::kMostFindingTextBytes + 1, 'm');
  told["severity"] = "fatal";
  told["where"]["line"] = std::uint64_t{1} << 60;
  for (int i = 0; i < 1000; ++i) told["inlined_at"].push_back(told["where"]);
  const json taken = node::finding_claim(told, "emulator");
  CHECK(taken.at("message") == "(too long)");
  CHECK(taken.at("severity") == "warning");
  CHECK(taken.at("where").at("line") == 2147483647);
  CHECK(taken.at("inlined_at").size() < 100);
}

TEST_CASE("what was told of a call is bounded, and has kinds that the emulator has") {
  const auto call = node::inspected_call_claim(body("[" + finding().dump() + "]"));
  CHECK(call.findings.size() == 1);
  CHECK(call.findings[0].at("kind") == "shared_race");
  CHECK((call.launches == 2 && call.checked_blocks == 4 && call.blocks == 8));
  CHECK(call.notes == json::array({"n"}));

  json other = finding();
  other["kind"] = "virtue";
  json many = json::array();
  for (int i = 0; i < 1000; ++i) many.push_back(other);
  json told = body(many.dump());
  for (int i = 0; i < 1000; ++i) told["notes"].push_back(std::string(9999, 'n'));
  told["raised"] = std::string(1500, 'r');
  const auto bounded = node::inspected_call_claim(told);
  CHECK(bounded.findings.size() == node::kMostFindings);
  CHECK(bounded.findings[0].at("kind") == "unknown");
  CHECK(bounded.notes.size() <= 20);
  CHECK(bounded.notes[5] == "(too long)");
  CHECK(bounded.raised == "(too long)");
}

TEST_CASE("what is no answer to an inspection is refused") {
  for (const char* key : {"findings", "notes", "launches", "blocks", "raised"}) {
    json told = body("[]");
    told.erase(key);
    CHECK_THROWS_AS(node::inspected_call_claim(told), json::exception);
    told[key] = -1.5;
    CHECK_THROWS_AS(node::inspected_call_claim(told), json::exception);
  }
  CHECK_THROWS_AS(node::inspected_call_claim(body("[7]")), json::exception);
  CHECK_THROWS_AS(node::inspected_call_claim(body("[[]]")), json::exception);
}
