"""A client of `assay serve --stdio` for tests: sends lines, reads lines, asserts nothing by itself."""

import json
import os
import queue
import signal
import subprocess
import threading
import time

from state_folder import StateFolder

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ASSAY = os.environ.get("ASSAY") or os.path.join(ROOT, "build", "release", "bin", "assay")
SANITIZED = bool(os.environ.get("ASSAY_SANITIZE"))
MODERN = "2026-07-28"

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tensor(name, n, role="input", dtype="float32", shape=None, **init):
    spec = {"shape": shape if shape is not None else [n], "dtype": dtype}
    if init:
        spec["init"] = init
    return {"name": name, "type": "tensor", "role": role, "tensor_spec": spec}


def contract(n=1000, block=256, grid=None, extra=()):
    return {
        "args": [
            tensor("a", n, kind="randn", seed=42),
            tensor("b", n, kind="randn", seed=43),
            tensor("out", n, role="output"),
            {"name": "n", "type": "int", "value": n},
            *extra,
        ],
        "launch": {"grid": {"x": grid or (n + block - 1) // block}, "block": {"x": block}},
    }


def kernel(source, io=None, **metadata):
    body = {"source_code": source, "kernel_type": "cuda", "io": io or contract()}
    if metadata:
        body["metadata"] = metadata
    return body


ADD = """__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
"""

FOREVER = """__global__ void add(const float* a, const float* b, float* out, int n) {
  volatile float* v = out;
  while (v[0] != 42.0f) { }
}
"""


class Server:
    def __init__(self, *arguments, state=None, env=None, executable=ASSAY):
        self._own_state = StateFolder(prefix="assay-test-") if state is None else None
        self.state = state or self._own_state.name
        self.process = subprocess.Popen(
            [executable, "serve", "--stdio", "--state", self.state, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})})
        self.lines = queue.Queue()
        self.raw = []
        self.stderr = b""
        self._next_id = 0
        self._waiting = {}
        self._notes = []
        self._readers = [threading.Thread(target=self._read, daemon=True),
                         threading.Thread(target=self._read_stderr, daemon=True)]
        for reader in self._readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.raw.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr += line

    def write(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def send(self, method, params=None, id=None, meta=True, **more_meta):
        """Sends a request and returns its id."""
        if id is None:
            self._next_id += 1
            id = self._next_id
        params = dict(params or {})
        if meta:
            params["_meta"] = {**META, **more_meta}
        self.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n")
        return id

    def notify(self, method, params=None, meta=True):
        params = dict(params or {})
        if meta:
            params["_meta"] = META
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")

    def next_message(self, timeout=60):
        line = self.lines.get(timeout=timeout)
        if line is None:
            raise EOFError(f"the server has gone: {self.process.poll()} {self.stderr.decode()[-2000:]}")
        return json.loads(line)

    def answer(self, id, timeout=60):
        """The message that answers `id`; notifications met on the way are kept in `notes`."""
        if id in self._waiting:
            return self._waiting.pop(id)
        end = time.monotonic() + timeout
        while True:
            message = self.next_message(max(0.01, end - time.monotonic()))
            if "method" in message:
                self._notes.append(message)
            elif message.get("id") == id:
                return message
            else:
                self._waiting[message.get("id")] = message

    @property
    def notes(self):
        return self._notes

    def call(self, tool, arguments=None, patience_s=150, **more_meta):
        """An answer may take as long as it was asked to wait, and some more on a machine with much to do."""
        wait_s = arguments.get("wait_s") if isinstance(arguments, dict) else None
        if isinstance(wait_s, (int, float)):
            patience_s = max(patience_s, wait_s + 60)
        id = self.send("tools/call", {"name": tool, "arguments": arguments or {}}, **more_meta)
        message = self.answer(id, patience_s)
        if "result" not in message:
            raise AssertionError(f"{tool}: {message['error']} {self.stderr.decode()[-1000:]}")
        return message["result"]

    def evaluate(self, source, io=None, ref=None, **more):
        arguments = {"kernel": kernel(source, io), **more}
        if ref is not None:
            arguments["ref_kernel"] = kernel(ref, io)
        return self.call("evaluate", {"wait_s": 140, **arguments})["structuredContent"]

    def kill(self, sig=signal.SIGKILL):
        self.process.send_signal(sig)
        self.process.wait(timeout=30)

    def close(self, timeout=60):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(timeout=timeout)
        for reader in self._readers:
            reader.join(timeout=10)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            try:
                self.close()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass  # what was not written yet went to a server that is dead
        if self._own_state:
            self._own_state.cleanup()


def descendants(pid):
    """(pid, command line) of every process below `pid`."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                stat = file.read()
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        parent = int(stat.rsplit(")", 1)[1].split()[1])
        children.setdefault(parent, []).append((int(entry), command))
    found, queue_ = [], [pid]
    while queue_:
        for child in children.get(queue_.pop(), []):
            found.append(child)
            queue_.append(child[0])
    return found


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def wait_gone(pids, seconds=10):
    """The pids that are still alive after at most `seconds`."""
    end = time.monotonic() + seconds
    left = list(pids)
    while left and time.monotonic() < end:
        left = [pid for pid in left if alive(pid)]
        if left:
            time.sleep(0.01)
    return left
