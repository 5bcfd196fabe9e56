"""The Python SDK, 1.x or 2.x, whichever this interpreter has: reads a plan from standard input, prints what it saw."""

import json
import os
import sys

import anyio
import mcp
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

try:
    from mcp import Client  # 2.x
    import httpx2 as httpx
except ImportError:
    Client = None
    import httpx

FINAL = ("cancelled", "completed", "failed", "interrupted")


def transport(plan):
    headers = {"Authorization": f"Bearer {plan['token']}"}
    if plan["transport"] == "stdio":
        parameters = StdioServerParameters(command=plan["command"][0], args=plan["command"][1:], env=dict(os.environ))
        return stdio_client(parameters)
    if plan["transport"] == "sse":
        return sse_client(plan["url"], headers=headers)
    return streamable_http_client(plan["url"], http_client=httpx.AsyncClient(headers=headers, timeout=60))


def structured(result):
    """2.x spells its members as Python does."""
    return result.structured_content if Client else result.structuredContent


async def cancelled(client, plan):
    with anyio.CancelScope() as scope:
        async def give_up(progress, total, message):
            scope.cancel()
        await client.call_tool("evaluate", plan["forever"], progress_callback=give_up)
    if not Client:
        # 1.x tells no server that it gave up: the job runs on until somebody cancels it by name.
        running = structured(await client.call_tool("get_job", {}))["jobs"][0]["job_id"]
        await client.call_tool("cancel_job", {"job_id": running})
    for _ in range(300):
        state = structured(await client.call_tool("get_job", {}))["jobs"][0]["state"]
        if state in FINAL:
            return {"given_up": scope.cancelled_caught, "state": state}
        await anyio.sleep(0.1)
    return {"given_up": scope.cancelled_caught, "state": "unfinished"}


async def visit(client, plan):
    tools = (await client.list_tools()).tools
    seen = {"tools": [tool.name for tool in tools], "progress": []}

    async def told(progress, total, message):
        seen["progress"].append(progress)

    report = await client.call_tool("evaluate", plan["evaluate"], progress_callback=told)
    refused = await client.call_tool("evaluate", {"kernel": 3})
    job = structured(report)["job_id"]
    source = await client.read_resource(f"assay://jobs/{job}/source")
    prompt = await client.get_prompt("write_kernel", {"task": "adds"})
    seen.update(verdict=structured(report)["verdict"], text=len(report.content[0].text), job=job, source=source.contents[0].text,
                refused=refused.is_error if Client else refused.isError,
                prompts=[one.name for one in (await client.list_prompts()).prompts], prompt="adds" in prompt.messages[0].content.text)
    seen["cancelled"] = await cancelled(client, plan)
    return seen


async def main():
    plan = json.load(sys.stdin)
    if Client:
        async with Client(transport(plan), mode=plan["mode"]) as client:
            seen = await visit(client, plan)
            seen.update(revision=client.protocol_version, server=client.server_info.name if client.server_info else None)
    else:
        async with transport(plan) as streams, mcp.ClientSession(streams[0], streams[1]) as session:
            hello = await session.initialize()
            seen = await visit(session, plan)
            seen.update(revision=hello.protocolVersion, server=hello.serverInfo.name)
    print(json.dumps(seen))


anyio.run(main)
