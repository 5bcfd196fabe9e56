#!/usr/bin/env python3
"""What an agent sees: a real MCP exchange with `assay serve --stdio`.

Lists the tools, then has four kernels judged: a right one, one that does not match its reference, one
that never ends and one that writes out of bounds. Exit code 0 only if every verdict is the expected one.

usage: demo.py PATH/TO/assay
"""

import json
import subprocess
import sys
import time

MODERN = "2026-07-28"

ADD = """
__global__ void vector_add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""

FORGETS_THE_TAIL = """
__global__ void vector_add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - n % 256) out[i] = a[i] + b[i];
    else if (i < n) out[i] = 0.0f;
}
"""

NEVER_ENDS = """
__global__ void vector_add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float* waits = out;
    while (waits[0] != 42.0f) {
    }
    if (i < n) out[i] = a[i] + b[i];
}
"""

OUT_OF_BOUNDS = """
__global__ void vector_add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i % n] + b[i % n];
}
"""


def contract(n=1000):
    def tensor(name, role, **init):
        spec = {"shape": [n], "dtype": "float32"}
        if init:
            spec["init"] = init
        return {"name": name, "type": "tensor", "role": role, "tensor_spec": spec}

    return {
        "args": [
            tensor("a", "input", kind="randn", seed=42),
            tensor("b", "input", kind="randn", seed=43),
            tensor("out", "output"),
            {"name": "n", "type": "int", "value": n},
        ],
        "launch": {"grid": {"x": (n + 255) // 256}, "block": {"x": 256}},
    }


def kernel(source):
    return {"source_code": source, "kernel_type": "cuda", "io": contract()}


CASES = [
    ("a right kernel, judged against a reference", "passed",
     {"kernel": kernel(ADD), "ref_kernel": kernel(ADD)}),
    ("a kernel that forgets the tail", "wrong_output",
     {"kernel": kernel(FORGETS_THE_TAIL), "ref_kernel": kernel(ADD)}),
    ("a kernel that never ends", "timed_out",
     {"kernel": kernel(NEVER_ENDS), "timeout": 5}),
    ("a kernel that writes out of bounds", "crashed",
     {"kernel": kernel(OUT_OF_BOUNDS)}),
]


class Client:
    def __init__(self, executable):
        self.server = subprocess.Popen([executable, "serve", "--stdio"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.next_id = 0

    def ask(self, method, **params):
        self.next_id += 1
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "assay-demo", "version": "1"},
            "progressToken": f"p{self.next_id}",
        }
        request = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        while True:
            line = self.server.stdout.readline()
            if not line:
                sys.exit("the server has gone")
            message = json.loads(line)
            if message.get("method") == "notifications/progress":
                print("   …", message["params"].get("message", ""))
            elif message.get("id") == self.next_id:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]

    def close(self):
        self.server.stdin.close()
        return self.server.wait(timeout=30)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    client = Client(sys.argv[1])
    found = client.ask("server/discover")
    info = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    print(f"server: {info['name']} {info['version']}, MCP {', '.join(found['supportedVersions'])}")
    print("tools:", ", ".join(tool["name"] for tool in client.ask("tools/list")["tools"]))
    seen = client.ask("tools/call", name="check_capabilities", arguments={})["structuredContent"]
    print("device:", ", ".join(d["name"] for d in seen["devices"]),
          "· isolation seen in force:", seen["isolation"]["level"])

    wrong = 0
    for title, expected, arguments in CASES:
        print(f"\n== {title}")
        start = time.monotonic()
        result = client.ask("tools/call", name="evaluate", arguments=arguments)
        elapsed = time.monotonic() - start
        for block in result["content"]:
            if block["type"] == "text":
                print("\n".join("   " + line for line in block["text"].splitlines()))
        verdict = result["structuredContent"]["verdict"]
        agrees = verdict == expected
        wrong += not agrees
        print(f"   [{verdict} in {elapsed:.2f} s{'' if agrees else ', expected ' + expected}]")
    code = client.close()
    print(f"\n{len(CASES) - wrong} of {len(CASES)} verdicts as expected; server ended with {code}")
    return 1 if wrong or code != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
