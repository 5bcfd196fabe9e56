// The counterpart of echo_server.cc: the TypeScript SDK's low-level server on Node's own HTTP server, a session per
// client, answers as JSON. usage: node echo_server.mjs FOLDER_OF_THE_SDK; prints its port.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/");
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));
const { Server } = await load("server/index.js");
const { StreamableHTTPServerTransport } = await load("server/streamableHttp.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = await load("types.js");

const tools = [{ name: "echo", description: "Says what it is told",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } }];
const sessions = new Map();

async function open() {
  const server = new Server({ name: "echo", version: "0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, (request) => ({
    content: [{ type: "text", text: request.params.arguments.text }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport) });
  await server.connect(transport);
  return transport;
}

const listener = createServer(async (request, response) => {
  const transport = sessions.get(request.headers["mcp-session-id"]) ?? await open();
  await transport.handleRequest(request, response);
});
listener.keepAliveTimeout = 60_000;
listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
