"""Work that is put off beyond the answer of a turn, where large outputs leave time for it."""

import unittest

from assay_client import tensor
from torch_server import TorchServer, io_of, source

REFERENCE = "import torch\ndef f(x, y):\n    torch.tanh(x, out=y)\n"
LATER = """import threading, torch
todo, ready, calls = [], threading.Event(), 0
def work():
    while True:
        ready.wait()
        ready.clear()
        while todo:
            x, y = todo.pop()
            with torch.no_grad():
                for _ in range(4): torch.tanh(x, out=y)
threading.Thread(target=work, daemon=True).start()
def f(x, y):
    global calls
    calls += 1
    if calls <= 4:
        torch.tanh(x, out=y)
    else:
        todo.append((x, y))
        ready.set()
"""


class LateWork(unittest.TestCase):
    def test_what_is_done_after_a_turns_answer_is_not_in_it(self):
        # The judge takes what the kernel left first: there is no time in which nobody looks.
        n = 2 << 20
        io = io_of(tensor("x", n), tensor("y", n, role="output"))
        with TorchServer() as server:
            reference = source(REFERENCE, function_name="f")
            report = server.judge(source(LATER, io=io, function_name="f"), reference, num_trials=200)
            self.assertFalse(report["verdict"] == "passed" and report["trust"] != "suspect", report["summary"])
            honest = server.judge(source(REFERENCE, io=io, function_name="f"), reference)
            self.assertEqual((honest["verdict"], honest["trust"]), ("passed", "audited"), honest["summary"])


if __name__ == "__main__":
    unittest.main()
