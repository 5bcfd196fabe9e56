#!/usr/bin/env python3
"""What an agent sees: a real MCP exchange with `assay serve --stdio`.

Lists the tools, then has seven kernels judged: a right one, one that does not match its reference, one
that never ends, one that writes out of bounds, a naive matrix product compared with a tiled one, a
softmax that is wrong in its last rows, and one whose contract was inferred from its source alone. Exit
code 0 only if every verdict is the expected one.

usage: demo.py PATH/TO/assay
"""

import json
import os
import subprocess
import sys
import time

MODERN = "2026-07-28"
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")

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

SGEMM_NAIVE = """
__global__ void sgemm_naive(const float* a, const float* b, float* c, int m, int n, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
"""


def read(name):
    with open(os.path.join(KERNELS, name)) as file:
        return file.read()


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


def kernel(source, io=None):
    return {"source_code": source, "kernel_type": "cuda", "io": io or contract()}


def sgemm_comparison():
    """256 x 256 x 256: the naive kernel with a grid of its own against the example's tiled one."""
    tiled = {**json.loads(read("sgemm_tiled.contract.json")), "sizes": {"m": 256, "n": 256, "k": 256}}
    naive = {**tiled, "launch": {"grid": ["n / 16", "m / 16"], "block": [16, 16]}}
    return {"ref_kernel": kernel(SGEMM_NAIVE, naive), "custom_kernel": kernel(read("sgemm_tiled.cu"), tiled)}


def undivided_softmax():
    """The example's softmax, but the last two rows are not divided by their sum."""
    io = json.loads(read("softmax.contract.json"))
    spoilt = read("softmax.cu").replace("out[c] *= scale", "out[c] *= blockIdx.x + 2 < gridDim.x ? scale : 1.0f")
    return {"kernel": kernel(spoilt, io), "ref_kernel": kernel(read("softmax.ref.cu"), io)}


def inferred(client):
    """The softmax again, with nothing but its source: the server says what it takes the arguments to be."""
    source = read("softmax.cu")
    built = client.ask("tools/call", name="build_io_contract", arguments={"kernel": {"source_code": source}})["structuredContent"]
    print("\n".join("   " + line for line in built["text"].splitlines()))
    io = built["io_contract"]
    return {"kernel": kernel(source, io), "ref_kernel": kernel(read("softmax.ref.cu"), io)}


# A title, the tool, the verdict it must give, words that its summary must hold, and its arguments
# (or who makes them).
CASES = [
    ("a right kernel, judged against a reference", "evaluate", "passed", "equal to the reference",
     {"kernel": kernel(ADD), "ref_kernel": kernel(ADD)}),
    ("a kernel that forgets the tail", "evaluate", "wrong_output", "the tail is not handled",
     {"kernel": kernel(FORGETS_THE_TAIL), "ref_kernel": kernel(ADD)}),
    ("a kernel that never ends", "evaluate", "timed_out", "Look for a loop",
     {"kernel": kernel(NEVER_ENDS), "timeout": 5}),
    ("a kernel that writes out of bounds", "evaluate", "crashed", "after the end of tensor 'out'",
     {"kernel": kernel(OUT_OF_BOUNDS)}),
    ("a tiled matrix product, compared with a naive one", "compare", "passed", "equal to the reference",
     sgemm_comparison()),
    ("a softmax that forgets to divide in its last rows", "evaluate", "wrong_output", "only rows ≥ 14",
     undivided_softmax()),
    ("a softmax whose contract is inferred from its source", "evaluate", "passed", "equal to the reference", inferred),
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
    for title, tool, expected, words, arguments in CASES:
        print(f"\n== {title}")
        if callable(arguments):
            arguments = arguments(client)
        start = time.monotonic()
        result = client.ask("tools/call", name=tool, arguments=arguments)
        elapsed = time.monotonic() - start
        for block in result["content"]:
            if block["type"] == "text":
                print("\n".join("   " + line for line in block["text"].splitlines()))
        report = result["structuredContent"]
        agrees = report["verdict"] == expected and words in report["summary"]
        wrong += not agrees
        wish = "" if agrees else f", expected {expected}: … {words} …"
        print(f"   [{report['verdict']} in {elapsed:.2f} s{wish}]")
    code = client.close()
    print(f"\n{len(CASES) - wrong} of {len(CASES)} verdicts as expected; server ended with {code}")
    return 1 if wrong or code != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
