// The TypeScript SDK 2.x: both eras, chosen by plan.mode ("legacy", "auto", {pin: revision}).
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { readPlan, visit } from "./visit.mjs";

const plan = await readPlan();
const headers = { Authorization: `Bearer ${plan.token}` };
const transports = {
  stdio: () => new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1), env: process.env }),
  http: () => new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers } }),
  sse: () => new SSEClientTransport(new URL(plan.url), { requestInit: { headers } }),
};
const client = new Client({ name: "visitor", version: "2" }, { versionNegotiation: { mode: plan.mode } });
await client.connect(transports[plan.transport]());
const seen = await visit(client, (params, options) => client.callTool(params, options), plan);
seen.revision = client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify(seen));
