// Jobs as resources: on a fake engine, a real journal and a real artifact store.
#include "tools/job_resources.h"

#include <thread>

#include "engine/contract/payload.h"
#include "tests/tools/world.h"
#include "tools/job_answer.h"
#include "tools/prompts.h"

using namespace assay;
using mcp::CallContext;
using mcp::Json;
using tests::World;

namespace {

// One stage with two artifacts, then a verdict.
class LeavingEngine final : public node::Engine {
 public:
  node::Conclusion run(const node::Order& order,
                       const std::function<void(const node::StageEvent&)>& on_stage,
                       const std::stop_token& stop) override {
    if (order.kind == "disassembly") return disassemble(order, on_stage);
    if (!leaves) return {.verdict = job::Verdict::passed};
    on_stage(
        {.record = {.name = "compiled"},
         .artifacts = {{"ptx", "text/plain", ptx}, {"cubin", "application/octet-stream", cubin}}});
    while (hangs && !stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (stop.stop_requested()) return {.verdict = job::Verdict::cancelled};
    return {.verdict = job::Verdict::wrong_output, .body = {{"summary", "half of it is wrong"}}};
  }
  // Says the bytes that it was given, so that a test sees which those were.
  node::Conclusion disassemble(const node::Order& order,
                               const std::function<void(const node::StageEvent&)>& on_stage) const {
    if (breaks) return {.verdict = job::Verdict::unsupported, .body = {{"summary", "it broke"}}};
    const auto bytes =
        contract::decode_payload(order.request.at("cubin").get<std::string>(),
                                 contract::Compression::none, order.request.at("bytes"));
    on_stage({.record = {.name = "disassembled"},
              .artifacts = {{"sass", "text/plain", "MOV " + std::get<std::string>(bytes)}}});
    return {.verdict = job::Verdict::passed};
  }
  Json capabilities() override { return Json::object(); }

  bool hangs = false;
  bool leaves = true;
  bool breaks = false;
  std::string ptx =
      "a\xC3\xBC"
      "b: .version 8.0";
  std::string cubin{
      "\x7f"
      "ELF\0\1\2",
      7};
};

struct LeavingWorld : World<LeavingEngine> {
  mcp::Resources resources = tools::job_resources(jobs);
  CallContext anna{.principal = "anna"};
  CallContext bert{.principal = "bert"};

  std::string finished_job() {
    const std::string id = jobs.submit(job::kernel_kind(), Json::object(), "anna");
    const auto record =
        jobs.wait(id, "anna", std::chrono::steady_clock::now() + std::chrono::seconds(20), {},
                  [](const job::JobRecord&) {});
    REQUIRE(record);
    REQUIRE(record->verdict);
    return id;
  }
};

// What stands against reading it; empty: nothing.
std::string refusal(const mcp::Resources& resources, const std::string& uri,
                    const CallContext& context) {
  try {
    (void)resources.read(uri, context);
  } catch (const mcp::BadRequest& missing) {
    return missing.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a job's report and artifacts are read by their URIs", "[resources]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  for (const char* part : {"", "/report"}) {
    const auto report = world.resources.read("assay://jobs/" + id + part, world.anna);
    REQUIRE(report);
    CHECK(report->mime_type == "application/json");
    const Json json = Json::parse(report->bytes);
    CHECK(json["job_id"] == id);
    CHECK(json["verdict"] == "wrong_output");
    REQUIRE(json["artifacts"].size() == 2);
    for (const Json& artifact : json["artifacts"])
      CHECK(world.resources.read(artifact["uri"].get<std::string>(), world.anna));
  }
  const auto ptx = world.resources.read("assay://jobs/" + id + "/ptx", world.anna);
  REQUIRE(ptx);
  CHECK(ptx->bytes == world.engine.ptx);
  CHECK_FALSE(ptx->binary);
  const auto cubin = world.resources.read("assay://jobs/" + id + "/cubin", world.anna);
  REQUIRE(cubin);
  CHECK(cubin->bytes == world.engine.cubin);
  CHECK(cubin->binary);
}

TEST_CASE("what is not there, or somebody else's, does not exist", "[resources]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  for (const std::string& uri : std::vector<std::string>{
           "assay://jobs/", "assay://jobs", "assay://jobs/" + job::new_job_id(),
           "assay://jobs/" + id + "/sas", "assay://jobs/" + id + "/ptx/x",
           "assay://jobs/" + id + "/../ptx", "file:///etc/passwd", ""}) {
    INFO(uri);
    CHECK_FALSE(world.resources.read(uri, world.anna));
  }
  CHECK_FALSE(world.resources.read("assay://jobs/" + id, world.bert));
  CHECK_FALSE(world.resources.read("assay://jobs/" + id + "/ptx", world.bert));
  CHECK(world.resources.list(world.anna).size() == 3);
  CHECK(world.resources.list(world.bert).empty());
}

TEST_CASE("a range that is none is refused by name, and is no missing artifact", "[resources]") {
  LeavingWorld world;
  const std::string uri = "assay://jobs/" + world.finished_job() + "/ptx?";
  const auto field_at_fault = [&](const std::string& query) -> std::string {
    try {
      (void)world.resources.read(uri + query, world.anna);
    } catch (const tools::BadRange& bad) {
      return bad.field;
    }
    return "none";
  };
  CHECK(field_at_fault("offset=x") == "offset");
  CHECK(field_at_fault("offset=-1") == "offset");
  CHECK(field_at_fault("offset=99999999999999999999") == "offset");
  CHECK(field_at_fault("offset=1&length=") == "length");
  CHECK(field_at_fault("length") == "length");
  CHECK(field_at_fault("offset=1&offset=1") == "offset");
  CHECK(field_at_fault("lines=3") == "lines");
  CHECK(field_at_fault("&") == "");
  CHECK(field_at_fault("offset=18446744073709551615&length=18446744073709551615") == "none");
  CHECK(field_at_fault("") == "none");
}

TEST_CASE("machine code is there where a disassembler is, and else says what is missing",
          "[resources]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  const std::string uri = "assay://jobs/" + id + "/sass";
  const std::string missing = refusal(world.resources, uri, world.anna);
  CHECK(missing.starts_with("unsupported: "));
  CHECK(missing.find("nvidia-cuda-nvdisasm") != std::string::npos);
  CHECK(world.resources.list(world.anna).size() == 3);

  tools::Jobs jobs(world.journal, world.artifacts, world.engine, [](const std::string&) {},
                   {.has_disassembler = true});
  const mcp::Resources resources = tools::job_resources(jobs);
  const auto sass = resources.read(uri, world.anna);
  REQUIRE(sass);
  CHECK(sass->bytes == "MOV " + world.engine.cubin);
  CHECK(sass->mime_type == "text/plain");
  CHECK(resources.read(uri + "?length=3", world.anna)->bytes == "MOV");
  CHECK_FALSE(resources.read(uri, world.bert));
  CHECK(resources.list(world.anna).size() == 5);
  CHECK(resources.list(world.bert).empty());
  world.engine.breaks = true;
  CHECK(refusal(resources, uri, world.anna).find("it broke") != std::string::npos);
}

TEST_CASE("consecutive ranges make up the whole text, wherever they are cut", "[resources]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  for (std::size_t step = 1; step <= world.engine.ptx.size() + 1; ++step) {
    std::string whole;
    for (std::size_t at = 0; at <= world.engine.ptx.size(); at += step) {
      const auto part =
          world.resources.read("assay://jobs/" + id + "/ptx?offset=" + std::to_string(at) +
                                   "&length=" + std::to_string(step),
                               world.anna);
      REQUIRE(part);
      CHECK((part->bytes.empty() || (static_cast<unsigned char>(part->bytes[0]) & 0xC0U) != 0x80U));
      whole += part->bytes;
    }
    CHECK(whole == world.engine.ptx);
  }
  const auto past = world.resources.read("assay://jobs/" + id + "/ptx?offset=99999999", world.anna);
  REQUIRE(past);
  CHECK(past->bytes.empty());
  const auto middle =
      world.resources.read("assay://jobs/" + id + "/cubin?offset=1&length=3", world.anna);
  REQUIRE(middle);
  CHECK(middle->bytes == "ELF");
}

TEST_CASE("ids and names are suggested to whom they belong", "[resources]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  const auto& complete = world.resources.templates.back().complete;
  const Json none = Json::object();
  CHECK(complete("job_id", id.substr(0, 4), none, world.anna) == std::vector<std::string>{id});
  CHECK(complete("job_id", "no such", none, world.anna).empty());
  CHECK(complete("job_id", "", none, world.bert).empty());
  CHECK(complete("artifact", "p", none, world.anna) == std::vector<std::string>{"ptx"});
  CHECK(complete("offset", "", none, world.anna).empty());
}

TEST_CASE("what is suggested of a job that is named can be read, and is all of its",
          "[resources]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  world.engine.leaves = false;
  const std::string bare = world.finished_job();
  const auto& complete = world.resources.templates.back().complete;
  const auto of = [&](const std::string& job, const CallContext& who) {
    return complete("artifact", "", {{"job_id", job}}, who);
  };
  CHECK(of(bare, world.anna) == std::vector<std::string>{"report"});
  const auto names = of(id, world.anna);
  CHECK(std::find(names.begin(), names.end(), "ptx") != names.end());
  for (const auto& name : names) {
    INFO(name);
    CHECK(world.resources.read("assay://jobs/" + id + "/" + name, world.anna));
  }
  CHECK(of("no-such-job", world.anna).empty());
  CHECK(of(id, world.bert).empty());
  CHECK(complete("artifact", "", {{"job_id", 5}}, world.anna).size() >= names.size());
}

TEST_CASE("every prompt names tools that exist and the job it is about", "[prompts]") {
  LeavingWorld world;
  const std::string id = world.finished_job();
  const auto prompts = tools::prompts(world.jobs);
  REQUIRE(prompts.size() == 3);
  for (const auto& prompt : prompts) {
    INFO(prompt.name);
    mcp::PromptArguments arguments;
    for (const auto& argument : prompt.arguments)
      if (argument.required) arguments[argument.name] = id;
    const auto messages = prompt.get(arguments, world.anna).messages;
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].content["text"].get<std::string>().find(id) != std::string::npos);
  }
  CHECK(prompts[0].arguments[1].complete("t", world.anna) ==
        std::vector<std::string>{"triton", "torch_cuda", "torch"});
  CHECK(prompts[2].arguments[0].complete("", world.anna) == std::vector<std::string>{id});
  CHECK(prompts[2].arguments[0].complete("", world.bert).empty());
}

TEST_CASE("a job that takes long is a task to a client that can hold one", "[tasks]") {
  LeavingWorld world;
  world.engine.hangs = true;
  const mcp::Tasks tasks = tools::job_tasks(world.jobs);
  CallContext holder{.principal = "anna", .may_become_task = true};
  const std::string id = world.jobs.submit(job::kernel_kind(), Json::object(), "anna");
  const auto created = tools::answer_for_new_job(world.jobs, id, Json::object(), holder);
  REQUIRE(created.task);
  CHECK(created.task->id == id);
  CHECK(created.task->status == mcp::TaskStatus::working);

  const auto working = tasks.get(id, world.anna);
  REQUIRE(working);
  CHECK(working->handle.status == mcp::TaskStatus::working);
  CHECK_FALSE(working->result);
  CHECK_FALSE(tasks.get(id, world.bert));
  CHECK_FALSE(tasks.cancel(id, world.bert));
  CHECK(tasks.update(id, Json::object(), world.anna));
  CHECK_FALSE(tasks.update(id, Json::object(), world.bert));

  CHECK(tasks.cancel(id, world.anna));
  const auto ended =
      world.jobs.wait(id, "anna", std::chrono::steady_clock::now() + std::chrono::seconds(20), {},
                      [](const job::JobRecord&) {});
  REQUIRE(ended);
  CHECK(tasks.get(id, world.anna)->handle.status == mcp::TaskStatus::cancelled);
}

TEST_CASE("a job that is quick is answered at once, and its task is its report", "[tasks]") {
  LeavingWorld world;
  const mcp::Tasks tasks = tools::job_tasks(world.jobs);
  CallContext holder{.principal = "anna", .may_become_task = true};
  const std::string id = world.jobs.submit(job::kernel_kind(), Json::object(), "anna");
  const auto answer = tools::answer_for_new_job(world.jobs, id, Json::object(), holder);
  CHECK_FALSE(answer.task);
  CHECK(answer.structured["verdict"] == "wrong_output");
  const auto task = tasks.get(id, world.anna);
  REQUIRE(task);
  REQUIRE(task->result);
  CHECK(task->handle.status == mcp::TaskStatus::completed);
  CHECK(task->result->structured == answer.structured);
}

TEST_CASE("a task in another server's hands is shown, and not said to be cancelled", "[tasks]") {
  LeavingWorld world;
  world.engine.hangs = true;
  const std::string id = world.jobs.submit(job::kernel_kind(), Json::object(), "anna");
  {
    journal::Journal journal{world.folder.path(), {.kinds = {job::kernel_kind()}}};
    LeavingEngine engine;
    tools::Jobs elsewhere{journal, world.artifacts, engine, [](const std::string&) {}};
    const mcp::Tasks tasks = tools::job_tasks(elsewhere);
    REQUIRE(tasks.get(id, world.anna));
    CHECK(tasks.get(id, world.anna)->handle.status == mcp::TaskStatus::working);
    CHECK_THROWS_AS(tasks.cancel(id, world.anna), mcp::BadRequest);
    CHECK_FALSE(tasks.cancel(id, world.bert));
  }
  CHECK(tools::job_tasks(world.jobs).cancel(id, world.anna));
}
