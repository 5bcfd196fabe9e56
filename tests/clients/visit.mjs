// What every TypeScript client does with the server, whatever its version: visit(client, call, plan) → what it saw.
// `call(params, options)` is the version's own way to call a tool; plan: {evaluate, forever} arguments.

const jobs = async (call) => (await call({ name: "get_job", arguments: {} })).structuredContent.jobs;

// Given up on at its first progress; then the server is asked what became of the job.
async function cancelled(call, plan) {
  const giveUp = new AbortController();
  let rejected = null;
  await call({ name: "evaluate", arguments: plan.forever }, { signal: giveUp.signal, onprogress: () => giveUp.abort("changed my mind") })
    .catch((error) => { rejected = String(error.message ?? error); });
  for (let turn = 0; turn < 300; ++turn) {
    const state = (await jobs(call))[0].state;
    if (["cancelled", "completed", "failed", "interrupted"].includes(state)) return { rejected, state };
    await new Promise((done) => setTimeout(done, 100));
  }
  return { rejected, state: "unfinished" };
}

export async function visit(client, call, plan) {
  const seen = { server: client.getServerVersion()?.name ?? null, instructions: (client.getInstructions() ?? "").length };
  seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
  const events = [];
  const report = await call({ name: "evaluate", arguments: plan.evaluate }, { onprogress: (event) => events.push(event) });
  seen.verdict = report.structuredContent.verdict;
  seen.text = report.content[0].text.length;
  seen.progress = events.map((event) => event.progress);
  seen.refused = (await call({ name: "evaluate", arguments: { kernel: 3 } })).isError === true;
  seen.resources = (await client.listResources()).resources.map((resource) => resource.uri);
  seen.guide = (await client.readResource({ uri: "assay://guide/cuda" })).contents[0].text.includes("__global__");
  seen.source = (await client.readResource({ uri: `assay://jobs/${report.structuredContent.job_id}/source` })).contents[0].text;
  seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  seen.prompt = (await client.getPrompt({ name: "write_kernel", arguments: { task: "adds" } })).messages[0].content.text.includes("adds");
  const uri = "assay://jobs/{job_id}";
  seen.completion = (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name: "job_id", value: "" } })).completion.values;
  seen.job = report.structuredContent.job_id;
  seen.cancelled = await cancelled(call, plan);
  return seen;
}

export async function readPlan() {
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  return JSON.parse(text);
}
