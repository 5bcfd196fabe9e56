"""A turn on a GPU as the worker takes it, with the host's memory in the device's place: there is no GPU here."""

import os
import subprocess
import unittest

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "engine", "python")
TURN = r"""
import os, sys, types
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import torch
from assay_runner import channel, device_memory, worker
empty = torch.empty
device_memory.torch = types.SimpleNamespace(uint8=torch.uint8, empty=lambda *sizes, device, **more: empty(*sizes, **more))
device_memory._synchronize = lambda: None
SOURCE = "import torch\ndef f(x):\n    return x * 2\n"
ELEMENTS, BYTES = 16, 64

def tensor(name, offset):
    return {"name": name, "type": "tensor", "role": "input", "offset": offset, "bytes": BYTES, "shape": [ELEMENTS], "dtype": "float32"}

one = worker.Worker()
def ask(kind, *descriptors, **body):
    said = one.answer(channel.Frame({"type": kind, "seq": 1, **body}, descriptors=descriptors))
    assert said["type"] != "failed", said

ask("load", source=SOURCE, file="kernel.py", kernel_type="torch", device="cpu", fast_build=False, seed=42, target={"function_name": "f"})
ask("bind", arguments=[tensor("x", 0)], outputs=[tensor("y", BYTES)], written=[tensor("y", BYTES)], what_fits=False)
one._memory = one._mirror = device_memory.DeviceMemory()
memory = os.memfd_create("turn")
os.ftruncate(memory, 4 * BYTES)
ask("stage", memory, contents=2, stride_bytes=2 * BYTES, arena_bytes=4 * BYTES)
shown = [arguments[0].abs().sum().item() for arguments, _ in one._staged]
for place, value in ((0, 1.0), (2, 3.0)):
    os.pwrite(memory, torch.full((ELEMENTS,), value).numpy().tobytes(), place * BYTES)
ask("go", calls=4, seed=1, moves=True)
ask("fetch")
left = torch.frombuffer(bytearray(os.pread(memory, 4 * BYTES, 0)), dtype=torch.float32).view(4, ELEMENTS)[:, 0].tolist()
print(shown, left)
"""


class Turns(unittest.TestCase):
    def test_contents_come_with_the_word_and_not_before(self):
        said = subprocess.run([os.environ["ASSAY_PYTHON"], "-B", "-c", TURN, PACKAGE], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((said.returncode, said.stdout.strip()), (0, "[0.0, 0.0] [1.0, 2.0, 3.0, 6.0]"), said.stderr)


if __name__ == "__main__":
    unittest.main()
