#!/usr/bin/env python3
"""HTTP beside the TypeScript SDK, in one run: the same echo, the same load, in turns.

usage: bench_http_server [PATH/TO/assay]      (default: the assay beside this file)

Three programs beside this one: echo_server (the protocol layer with one tool), http_load, assay. The SDK is that of
`./dev conformance` (.deps/conformance); without it, or without Node, its half is left out and said to be.
Nothing here passes or fails; each line names its goal.
"""

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.realpath(__file__))
ASSAY = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "assay")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SUITE = os.path.join(ROOT, ".deps", "conformance")
COUNTERPART = os.path.join(ROOT, "benchmarks", "echo_server.mjs")
MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
FIRST_ID = 10000000
WORDS = "what is said is said again"
ROUNDS, ROUND_S = 5, 2

ADD = """__global__ void add(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + %d.0f;
}
"""


@contextlib.contextmanager
def started(*command, port_in=None):
    """The program and the port that it prints."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE if port_in else None, text=True)
    try:
        if port_in is None:
            port = int(process.stdout.readline())
        else:
            line = next(line for line in process.stderr if port_in in line)
            port = int(line.rsplit(":", 1)[1].split("/")[0])
            threading.Thread(target=process.stderr.read, daemon=True).start()
        yield process, port
    finally:
        process.kill()
        process.wait()


def bytes_of(port, body, **fields):
    text = json.dumps(body)
    head = {"Host": f"127.0.0.1:{port}", **ACCEPT, **fields, "Content-Length": str(len(text))}
    return ("POST /mcp HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()) + "\r\n" + text).encode()


def message(method, params, id=FIRST_ID):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def session(port):
    """A session of the legacy era, as both servers have it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    hello = message("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}, 1)
    connection.request("POST", "/mcp", json.dumps(hello), ACCEPT)
    answer = connection.getresponse()
    answer.read()
    fields = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": LEGACY}
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), {**ACCEPT, **fields})
    connection.getresponse().read()
    connection.close()
    return fields


def legacy_call(port, tool, arguments):
    return bytes_of(port, message("tools/call", {"name": tool, "arguments": arguments}), **session(port))


def modern_call(port, tool, arguments):
    return bytes_of(port, message("tools/call", {"name": tool, "arguments": arguments, "_meta": META}),
                    **{"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool})


def load(port, connections, requests, marker, seconds=0, count=0):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, request in enumerate(requests):
            files.append(os.path.join(folder, str(i)))
            with open(files[-1], "wb") as file:
                file.write(request)
        done = subprocess.run([os.path.join(HERE, "http_load"), str(port), str(connections), str(seconds), str(count), marker, *files],
                              capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    told["per_s"] = told["requests"] / told["seconds"]
    return told


def median(rounds, name):
    return statistics.median(one[name] for one in rounds)


def line(name, rounds):
    errors = sum(one["errors"] for one in rounds)
    print(f"    {name}: {median(rounds, 'per_s'):.0f} requests/s, p50 {median(rounds, 'p50_us') / 1e3:.2f} ms, "
          f"p99 {median(rounds, 'p99_us') / 1e3:.2f} ms, {errors} errors {next((o['first_error'] for o in rounds if o['errors']), '')}")


def memory_mib(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(one.split()[1]) for one in file if one.startswith("VmRSS")) / 1024


def cpu_s(pid):
    """Processor time of the process so far, all threads."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def node():
    own = os.path.join(SUITE, "node_modules", "node", "bin", "node")
    return own if os.path.exists(own) else None


def echo_beside_the_sdk():
    with contextlib.ExitStack() as stack:
        servers = {"ours": stack.enter_context(started(os.path.join(HERE, "echo_server")))}
        if node() and os.path.isdir(os.path.join(SUITE, "node_modules", "@modelcontextprotocol", "sdk")):
            servers["TypeScript SDK"] = stack.enter_context(started(node(), COUNTERPART, SUITE))
        else:
            print("not run: the TypeScript SDK (./dev conformance fetches it)")
        for connections in (1, 16):
            requests = {name: [legacy_call(port, "echo", {"text": WORDS}) for _ in range(connections)] for name, (_, port) in servers.items()}
            requests["ours, 2026-07-28"] = [modern_call(servers["ours"][1], "echo", {"text": WORDS})]
            asked = {**servers, "ours, 2026-07-28": servers["ours"]}
            rounds = {name: [] for name in requests}
            for number in range(ROUNDS + 1):
                for name in requests:
                    process, port = asked[name]
                    before = cpu_s(process.pid)
                    told = load(port, connections, requests[name], WORDS, seconds=ROUND_S)
                    told["cpu_us"] = (cpu_s(process.pid) - before) / told["requests"] * 1e6
                    if number > 0:  # the first is for warming up
                        rounds[name].append(told)
            print(f"echo, {connections} connection{'s' if connections > 1 else ''}, {ROUNDS} rounds of {ROUND_S} s in turns:")
            for name in rounds:
                line(name, rounds[name])
                print(f"        processor time of the server per request: {median(rounds[name], 'cpu_us'):.0f} us")
            if "TypeScript SDK" in rounds:
                ratios = [a["per_s"] / b["per_s"] for a, b in zip(rounds["ours"], rounds["TypeScript SDK"])]
                print(f"    ratio of the requests per second: {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f}; goal 10); "
                      f"of the p99: {median(rounds['ours'], 'p99_us') / median(rounds['TypeScript SDK'], 'p99_us'):.2f} (goal below 1)")
        for name, (process, _) in servers.items():
            print(f"    memory of {name} after that: {memory_mib(process.pid):.1f} MiB")


def contract(n):
    def tensor(name, role="input", **more):
        return {"name": name, "type": "tensor", "role": role, "tensor_spec": {"shape": [n], "dtype": "float32", **more}}

    return {"args": [tensor("a", init={"kind": "randn", "seed": 1}), tensor("out", "output"), {"name": "n", "type": "int", "value": n}],
            "launch": {"grid": {"x": (n + 255) // 256}, "block": {"x": 256}}}


def evaluate(port, i, wait):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = {"kernel": {"source_code": ADD % i, "kernel_type": "cuda", "io": contract(1024)}, "num_trials": 10, "device": "emulator"}
    connection.request("POST", "/evaluate" + wait, json.dumps(body), {"Content-Type": "application/json"})
    told = json.loads(connection.getresponse().read())
    connection.close()
    return told


def the_product():
    with tempfile.TemporaryDirectory() as state, \
            started(ASSAY, "serve", "--http", "0", "--conformance-fixtures", "--state", state, port_in="http://") as (process, port):
        simple = [modern_call(port, "test_simple_text", {})]
        told = load(port, 16, simple, "simple text response", count=100_000)
        print(f"assay serve, 100,000 calls of a fixture on 16 connections: {told['per_s']:.0f} requests/s, {told['errors']} errors, "
              f"then {memory_mib(process.pid):.1f} MiB (goal 40)")
        told = load(port, 256, simple, "simple text response", count=50_000)
        line("256 clients, 50,000 calls (goal 0 errors)", [told])

        job_id = evaluate(port, 0, "")["job_id"]
        ended = threading.Event()
        made = []

        def keep_busy(worker):
            while not ended.is_set():
                made.append(evaluate(port, 1 + worker * 100_000 + len(made), "")["verdict"])

        workers = [threading.Thread(target=keep_busy, args=(k,)) for k in range(2)]
        for worker in workers:
            worker.start()
        ask = [modern_call(port, "get_job", {"job_id": job_id})]
        # One at a time, with a pause, as clients do: http_load by itself would be the load.
        rounds = [load(port, 4, ask, job_id, count=40) for _ in range(50)]
        ended.set()
        for worker in workers:
            worker.join()
        p99 = sorted(one["p99_us"] for one in rounds)
        print(f"get_job while two evaluations run all the time ({len(made)} of them, {set(made)}), 4 connections: "
              f"p50 {median(rounds, 'p50_us') / 1e3:.2f} ms, p99 {statistics.median(p99) / 1e3:.2f} ms, worst {p99[-1] / 1e3:.2f} ms (goal p99 20 ms), "
              f"{sum(one['errors'] for one in rounds)} errors")
        print(f"memory then: {memory_mib(process.pid):.1f} MiB")


def main():
    print(f"{ASSAY}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    echo_beside_the_sdk()
    the_product()


if __name__ == "__main__":
    main()
