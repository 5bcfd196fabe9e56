// The TypeScript SDK 1.x with a call that lets it hang up: it comes back for the answer by itself.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { readPlan } from "./visit.mjs";

const plan = await readPlan();
const gets = [];
const watched = (url, init) => {
  const lastEvent = new Headers(init.headers).get("Last-Event-ID");
  if (lastEvent) gets.push(lastEvent);
  return fetch(url, init);
};
const requestInit = { headers: { Authorization: `Bearer ${plan.token}` } };
const client = new Client({ name: "visitor", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(plan.url), { requestInit, fetch: watched }));
const answer = await client.callTool({ name: "test_reconnection", arguments: {} });
await client.close();
console.log(JSON.stringify({ gets, answer }));
