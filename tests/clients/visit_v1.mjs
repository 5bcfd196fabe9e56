// The TypeScript SDK 1.x: initialize and the revisions before 2026-07-28, on each of its three transports.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { readPlan, visit } from "./visit.mjs";

const plan = await readPlan();
const headers = { Authorization: `Bearer ${plan.token}` };
const transports = {
  stdio: () => new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1), env: process.env }),
  http: () => new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers } }),
  sse: () => new SSEClientTransport(new URL(plan.url), { requestInit: { headers } }),
};
const client = new Client({ name: "visitor", version: "1" });
await client.connect(transports[plan.transport]());
const seen = await visit(client, (params, options) => client.callTool(params, undefined, options), plan);
await client.close();
console.log(JSON.stringify(seen));
