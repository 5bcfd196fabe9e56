// The tasks extension's own client (ext-tasks) on the SDK 2.x: a call that becomes a task, its end, and a task cancelled.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import { readPlan } from "./visit.mjs";

const revision = "2026-07-28";
const plan = await readPlan();
const clientInfo = { name: "visitor", version: "2" };
const clientCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const methods = [];

// The SDK's codec knows no task results: ext-tasks has its host send the requests itself.
let last = 1000;
async function rawDispatch(request, options) {
  methods.push({ method: request.method, taskId: request.params?.taskId });
  const name = request.params?.name ?? request.params?.taskId;
  const answer = await fetch(plan.url, {
    method: "POST",
    signal: options?.signal,
    headers: {
      "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: `Bearer ${plan.token}`,
      "MCP-Protocol-Version": revision, "Mcp-Method": request.method, ...(name ? { "Mcp-Name": name } : {}),
    },
    body: JSON.stringify({ ...request, jsonrpc: "2.0", id: ++last }),
  });
  const text = await answer.text();
  const lines = text.startsWith("{") ? [text] : text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  const message = lines.map((line) => JSON.parse(line)).find((one) => one.id === last);
  return message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result };
}

const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode: { pin: revision } } });
await client.connect(new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: { Authorization: `Bearer ${plan.token}` } } }));
const session = createTaskSessionFromClient(client, {
  endpointId: "assay", rawDispatch, v2RequestFraming: { protocolVersion: revision, clientInfo, clientCapabilities },
});

const quick = await (await session.callTool("evaluate", plan.evaluate)).settle();
const slow = await session.callTool("evaluate", plan.slow);
const slowEnd = await slow.settle();
const forever = await session.callTool("evaluate", plan.forever);
await forever.cancel();
const foreverEnd = await forever.settle().catch((error) => ({ outcome: { status: String(error) } }));
await session.close();
// The acknowledgement is no end: the job tells when it has one.
const { taskId } = methods.find((one) => one.method === "tasks/cancel");
const job = await client.callTool({ name: "get_job", arguments: { job_id: taskId, wait_s: 30 } });
await client.close();
console.log(JSON.stringify({
  methods, quick: quick.outcome, slow: slowEnd.outcome, cancelled: foreverEnd.outcome,
  job: job.structuredContent.state,
}));
