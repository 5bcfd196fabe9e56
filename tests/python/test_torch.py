"""torch on CPU tensors: targets, contracts, the KernelBench pattern, errors in the user's own lines."""

import unittest

from assay_client import tensor
from modules import MODULES
from torch_server import SCALE, TorchServer, inputs, io_of, source


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def judge(self, *arguments, **more):
        return self.server.judge(*arguments, **more)

    def test_modules_of_every_kind_pass_and_are_audited(self):
        for name, (reference, candidate) in MODULES.items():
            with self.subTest(name):
                report = self.judge(source(candidate), source(reference))
                self.assertEqual((report["verdict"], report["trust"] in ("audited",)), ("passed", True),
                                 (report["summary"], report["evidence"]))

    def test_a_report_says_what_was_audited(self):
        reference, candidate = MODULES["softmax"]
        report = self.judge(source(candidate), source(reference), num_trials=200, detail="full")
        checks = {item["check"]: item["result"] for item in report["evidence"]}
        self.assertEqual({"wall_clock_slope", "sampled_outputs", "quiet_after_end"} - set(checks), set())
        self.assertEqual(report["timing"]["clock"], "cpu")
        self.assertGreater(report["timing"]["runs_examined"], 0)
        self.assertEqual(report["environment"]["device"], "cpu")

    def test_a_slope_that_is_the_sources_own_word_agrees_with_nothing(self):
        text = "import torch\ndef f(x):\n    return x * 2\n"
        kernel = source(text, io=inputs(), function_name="f")
        for reference in (source(text, function_name="f"), None):
            report = self.judge(kernel, reference)
            (slope,) = [item for item in report["evidence"] if item["check"] == "wall_clock_slope"]
            self.assertEqual(("its own word" in slope["detail"], report["trust"]), (reference is None, "audited"), slope)
            if reference is None:
                self.assertEqual(slope["result"], "unknown")

    def test_a_wrong_candidate_is_told_where(self):
        reference, candidate = MODULES["softmax"]
        report = self.judge(source(candidate.replace("x - x.amax", "2 * x - x.amax")), source(reference))
        self.assertEqual(report["verdict"], "wrong_output", report["summary"])
        self.assertIn("elements differ", report["summary"])

    def test_a_candidate_with_other_shapes_or_dtypes_is_wrong(self):
        for change in ("x * 2.0)[:10]", "x * 2.0).double()", "x * 2.0, x)"):
            report = self.judge(source(SCALE.replace("x * 2.0", "(" + change), io=inputs(), function_name="scale"),
                                source(SCALE, io=inputs(), function_name="scale"))
            self.assertIn(report["verdict"], ("wrong_output", "contract_invalid"), report["summary"])
            self.assertIn("expected", report["summary"])

    def test_targets(self):
        text = SCALE + """
class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1.0
    def triple(self, x):
        return x * 3.0

class Other:
    def forward(self, x):
        return x - 1.0
"""
        for metadata, name in (({"function_name": "scale"}, "scale"), ({}, "Model.forward"),
                               ({"class_name": "Model", "method_name": "triple"}, "Model.triple"),
                               ({"class_name": "Other"}, "Other.forward"),
                               ({"function_name": "scale", "class_name": "Other"}, "scale")):
            with self.subTest(name):
                report = self.judge(source(text, io=inputs(), **metadata), until="validated")
                self.assertEqual(report["verdict"], "passed", report["summary"])
                self.assertEqual(report["kernel_exec_result"]["metadata"]["kernel_name"], name)

    def test_a_missing_target_never_passes_and_the_answer_names_what_there_is(self):
        text = SCALE + "\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n    def run(self, x):\n        return x\n"
        for metadata, says in (({"function_name": "double"}, "Function 'double' not found in source code. Available: functions [scale]"),
                               ({"class_name": "Model"}, "Class 'Model' not found. Available: functions [scale], classes [Net]"),
                               ({}, "Class 'Model' not found"),
                               ({"class_name": "Net", "method_name": "walk"}, "Method 'walk' not found in class 'Net'. Available: [forward, run]"),
                               ({"class_name": "scale"}, "Class 'scale' not found: it is a function"),
                               ({"function_name": "Net"}, "'Net' is a class, not a function")):
            with self.subTest(says):
                report = self.judge(source(text, io=inputs(), **metadata), until="validated")
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                self.assertIn(says, report["summary"])

    def test_what_is_misspelt_is_told_with_what_is_spelt_alike(self):
        module = "import torch\nclass {}(torch.nn.Module):\n    def {}(self, x):\n        return x\n"
        own = "def get_inputs():\n    return [torch.zeros(8)]\n"
        base = "class Base:\n    def run(self, x):\n        return x\nclass Model(Base):\n    size = 3\n"
        sized = "class Model:\n    def __init__(self, n):\n        self.n = n\n    def forward(self, x):\n        return x\n"
        model = module.format("Model", "forward")
        for text, metadata, says in (
                (module.format("Model", "forwrd"), {}, "Method 'forward' not found in class 'Model'. Available: [forwrd]; nearest: forwrd."),
                (base, {"method_name": "rnu"}, "Method 'rnu' not found in class 'Model'. Available: [run]; nearest: run."),
                (base, {"method_name": "size"}, "'size' of class 'Model' is an int, not a method. Available: [run]"),
                (module.format("Modle", "forward"), {}, "Class 'Model' not found, nor 'ModelNew'. Available: functions [], classes [Modle]; nearest: Modle."),
                (module.format("ModelNw", "forward"), {}, "nor 'ModelNew'. Available: functions [], classes [ModelNw]; nearest: ModelNw."),
                (model, {"class_name": "model"}, "Class 'model' not found. Available: functions [], classes [Model]; nearest: Model."),
                (SCALE, {"function_name": "scal"}, "classes []; nearest: scale."),
                ("from torch.nn.functional import relu\n", {"function_name": "rlu"}, "functions [], classes []; nearest: relu."),
                (SCALE, {"function_name": "nothing_like_it"}, "classes []."),
                (sized + "get_init_inputs = [3]\n", {}, "'get_init_inputs' is a list, not a function"),
                ("".join(f"def g{i:050}(x):\n    return x\n" for i in range(100)) + SCALE, {"function_name": "scal"}, "98 more], classes []; nearest: scale.")):
            with self.subTest(says):
                report = self.judge(source(text, io=inputs(), **metadata), until="validated")
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                self.assertIn(says, report["summary"])
        for text, says in (("get_inputs = [torch.zeros(8)]\n", "no get_inputs() ('get_inputs' is a list, not a function)"),
                           (own.replace("inputs", "input"), "no get_inputs() (nearest: get_input)")):
            with self.subTest(says):
                report = self.judge(source(model + text), until="validated")
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                self.assertIn(says, report["summary"])
        report = self.judge(source(sized + own.replace("get_inputs", "get_init_input"), io=inputs()), until="validated")
        self.assertIn("(there is no get_init_inputs(); nearest: get_init_input)", report["summary"])

    def test_a_candidate_whose_ModelNew_is_misspelt_says_that_its_Model_was_judged(self):
        text = SCALE + "class Model:\n    def forward(self, x):\n        return scale(x)\n"
        report = self.judge(source(text + "class ModelNw(Model):\n    pass\n", io=inputs()), source(text, io=inputs()), until="validated")
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("there is no class ModelNew; nearest: ModelNw: Model is what is judged", str(report["warnings"]))

    def test_a_module_may_get_its_forward_as_it_is_made_or_be_called_by_other_means(self):
        module = "import torch\nclass Model(torch.nn.Module):\n    "
        for body in ("def __init__(self):\n        super().__init__()\n        self.forward = lambda x: x * 2.0\n",
                     "def __call__(self, x):\n        return x * 2.0\n", "def __getattribute__(self, name):\n"
                     "        return (lambda x: x * 2.0) if name == 'forward' else super().__getattribute__(name)\n"):
            report = self.judge(source(module + body, io=inputs()), source(SCALE, function_name="scale"), until="validated")
            self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_what_makes_the_inputs_may_be_any_function(self):
        text = ("import functools, torch\ndef made(n):\n    return [torch.ones(n)]\nget_inputs = functools.partial(made, 8)\n"
                "class Model:\n    def forward(self, x):\n        return x\n")
        report = self.judge(source(text), until="validated")
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_more_outputs_than_are_judged_are_told_with_their_number_and_the_most(self):
        for count, verdict in ((64, "passed"), (65, "contract_invalid")):
            report = self.judge(source(f"def f(x):\n    return [x + i for i in range({count})]\n", io=inputs(shape=(8,)), function_name="f"),
                                until="validated")
            self.assertEqual(report["verdict"], verdict, report["summary"])
        self.assertIn("It returns 65 tensors, and at most 64 are judged", report["summary"])

    def test_what_is_too_large_is_refused_by_its_shapes_before_it_is_made_or_called(self):
        called = "class Model:\n    def forward(self, x):\n        raise ValueError('called')\n"
        own = "import torch\n" + called + "def get_inputs():\n    return [torch.empty(1 << 27)]\n"
        for kernel, needed in ((source(called, io=inputs(shape=(1 << 15, 1 << 14))), 2048), (source(own), 512)):
            report = self.judge(kernel, until="validated")
            self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
            self.assertIn(f"The tensors need {needed} MiB; Python kernels take up to 256 MiB", report["summary"])

    def test_outputs_of_the_contract_are_passed_or_returned(self):
        io = io_of(*inputs(names="x")["args"], tensor("y", 0, role="output", shape=[64, 64]))
        returned = source(SCALE, io=io, function_name="scale")
        for text in ("import torch\ndef scale(x, y):\n    torch.mul(x, 2.0, out=y)\n",
                     "def scale(x, y=None):\n    y.copy_(x).mul_(2.0)\n"):
            report = self.judge(source(text, io=io, function_name="scale"), returned)
            self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_scalars_and_texts_arrive_as_they_are(self):
        io = io_of(*inputs(names="x", shape=(8,))["args"], {"name": "n", "type": "int", "value": -5},
                   {"name": "big", "type": "int", "value": 2 ** 63 - 1}, {"name": "f", "type": "float", "value": 0.1},
                   {"name": "b", "type": "bool", "value": True}, {"name": "how", "type": "str", "value": "up"})
        text = ("def f(x, n, big, f, b, how):\n"
                "    assert (n, big, f, b, how) == (-5, 2 ** 63 - 1, 0.1, True, 'up'), (n, big, f, b, how)\n"
                "    return x * n\n")
        report = self.judge(source(text, io=io, function_name="f"), until="validated")
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_dtypes_arrive_and_leave(self):
        for dtype in ("bfloat16", "float16", "int8", "int64", "bool", "float64"):
            with self.subTest(dtype):
                io = inputs(dtype=dtype, kind="ones", shape=(3, 5))
                text = f"import torch\ndef f(x):\n    assert x.dtype == torch.{dtype}\n    return x.clone()\n"
                report = self.judge(source(text, io=io, function_name="f"), source(text, io=io, function_name="f"),
                                    until="validated")
                self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_empty_tensors_and_thirty_arguments(self):
        names = [f"a{i}" for i in range(29)]
        io = io_of(tensor("none", 0, shape=[0, 4]), *(tensor(n, 0, shape=[4], kind="randn", seed=i) for i, n in enumerate(names)))
        text = f"def f(none, {', '.join(names)}):\n    return ({' + '.join(names)}) * (1 + none.numel())\n"
        report = self.judge(source(text, io=io, function_name="f"), source(text, io=io, function_name="f"))
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])

    def test_errors_stand_in_the_users_own_lines(self):
        io = inputs()
        for text, verdict, says in (
                ("def f(x)\n    return x\n", "compile_failed", ("SyntaxError", "kernel.py:1")),
                ("import nosuchmodule\ndef f(x):\n    return x\n", "compile_failed",
                 ("Module 'nosuchmodule' is not installed", "kernel.py:1")),
                ("x = 1 / 0\ndef f(x):\n    return x\n", "compile_failed", ("ZeroDivisionError", "kernel.py:1")),
                ("def g(x):\n    return x @ x[:3]\ndef f(x):\n    return g(x)\n", "crashed",
                 ("RuntimeError", "kernel.py:2", "return x @ x[:3]")),
                ("def f(x):\n    return x.cuda()\n", "unsupported", ("It needs a GPU", "kernel.py:2")),
                ("import cupy\ndef f(x):\n    return x\n", "compile_failed", ("must not import cupy", "line 1")),
                ("def f(x, y):\n    return x\n", "contract_invalid", ("does not take 1 positional arguments",)),
                ("def f(x):\n    return 'text'\n", "contract_invalid", ("returned a str",)),
                ("def f(x):\n    pass\n", "contract_invalid", ("returns 0 tensors",))):
            with self.subTest(text):
                report = self.judge(source(text, io=io, function_name="f"))
                self.assertEqual(report["verdict"], verdict, report["summary"])
                for words in says:
                    self.assertIn(words, report["summary"])

    def test_a_mark_of_byte_order_in_front_is_no_mistake(self):
        for text in (SCALE, SCALE.replace("\n", "\r\n")):
            report = self.judge(source("\ufeff" + text, io=inputs(), function_name="scale"), until="validated")
            self.assertEqual(report["verdict"], "passed", report["summary"])
        report = self.judge(source("\ufeffdef f(x):\n    return x.nope\n", io=inputs(), function_name="f"), until="validated")
        self.assertIn("kernel.py:2 (`return x.nope`)", report["summary"])

    def test_a_class_is_found_among_many(self):
        many = "".join(f"class C{i}: pass\n" for i in range(60))
        model = "import torch\n{many}class {name}(torch.nn.Module):\n    def forward(self, x):\n        return x * {by}\n{inputs}"
        own = "def get_inputs():\n    return [torch.randn(8)]\ndef get_init_inputs():\n    return []\n"
        candidate = model.format(many=many, name="Model", by=3, inputs="") + model.format(many="", name="ModelNew", by=2, inputs=own)
        report = self.judge(source(candidate), source(model.format(many="", name="Model", by=2, inputs=own)), until="validated")
        self.assertEqual(report["verdict"], "passed", report["summary"])

    def test_a_traceback_and_the_last_output_are_in_the_report(self):
        text = "def f(x):\n    print('so far')\n    raise ValueError('not today')\n"
        error = self.judge(source(text, io=inputs(), function_name="f"))["error"]
        self.assertEqual((error["exception"], error["stage"], error["frames"][-1]["line"]), ("ValueError", "shapes", 3))
        self.assertIn("so far", error["output"])

    def test_hangs_signals_and_memory_are_told_apart(self):
        io = inputs()
        for body, verdict, says in (
                ("while True:\n        pass", "timed_out", "deadline"),
                ("import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "SIGSEGV"),
                ("import os\n    os._exit(3)", "crashed", "exit code 3"),
                ("return torch.zeros(1 << 40)", "out_of_memory", "memory"),
                ("import sys\n    sys.exit(0)", "crashed", "SystemExit")):
            with self.subTest(body):
                text = f"import torch\ndef f(x):\n    {body}\n"
                report = self.judge(source(text, io=io, function_name="f"), timeout=5)
                self.assertEqual(report["verdict"], verdict, report["summary"])
                self.assertIn(says, report["summary"])
        self.assertEqual(self.judge(source(SCALE, io=io, function_name="scale"))["verdict"], "passed")

    def test_what_torch_would_compile_runs_as_it_is_and_that_is_said(self):
        io = inputs()
        relu = "def g(x):\n    return torch.relu(x) * 2\n"
        reference = source("import torch\n" + relu, io=io, function_name="g")
        module = ("class ModelNew(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.compile()\n"
                  "    def forward(self, x):\n        return g(x)\n")
        for text, warned in (("@torch.compile\n" + relu, True), (f"@torch.compile(mode='max-autotune', dynamic=True)\n{relu}", True),
                             (f"{relu}g = getattr(torch, 'compile')(g)\n", True), (f"{relu}{module}", True),
                             (f"{relu}def f(x):\n    return torch.compile(g, fullgraph=True)(x)\n", True),
                             (f"@torch.compile(backend='eager')\n{relu}", False), (f"@torch.compile(disable=True)\n{relu}", None),
                             (f"import re\npattern = re.compile('a')\n{relu}", False)):
            with self.subTest(text):
                kernel = source(f"import torch\n{text}", io=io, **({} if "ModelNew" in text else {"function_name": "f" if "def f" in text else "g"}))
                report = self.judge(kernel, reference, timeout=5)
                self.assertEqual((report["verdict"], report["trust"]), ("passed", "audited"), report["summary"])
                if warned is not None:
                    self.assertEqual("torch.compile would start a C++ compiler" in str(report["warnings"]), warned, report["warnings"])
        report = self.judge(reference, source(f"import torch\n@torch.compile\n{relu}", io=io, function_name="g"), timeout=5)
        self.assertIn("The reference: line 2: torch.compile", str(report["warnings"]))

    def test_what_is_missing_is_said_before_anything_runs(self):
        for device in ("gpu:0",):
            result = self.server.call("evaluate", {"kernel": source(SCALE, io=inputs(), function_name="scale"),
                                                   "device": device})
            self.assertNotEqual(result["structuredContent"].get("verdict"), "passed")
        report = self.judge(source(SCALE))
        self.assertEqual(report["verdict"], "contract_invalid")

    def test_rules_of_a_torch_source(self):
        io = inputs()
        for text, says in (("import triton\n" + SCALE, "must not import triton"),
                           ("from torch.utils.cpp_extension import load_inline\n" + SCALE, "torch_cuda does"),
                           (SCALE + "code = '''__global__ void k() {}'''\n", "must not hold CUDA code")):
            report = self.judge(source(text, io=io, function_name="scale"))
            self.assertEqual(report["verdict"], "compile_failed", report["summary"])
            self.assertIn(says, report["summary"])
        for text, says in ((SCALE + "\nif __name__ == '__main__':\n    raise SystemExit\n", "never run"),
                           (SCALE + "\nresult = scale(torch.ones(3))\n", "runs when the source is loaded")):
            report = self.judge(source(text, io=io, function_name="scale"), until="compiled")
            self.assertEqual(report["verdict"], "passed", report["summary"])
            self.assertTrue(any(says in warning["message"] for warning in report["warnings"]), report["warnings"])


if __name__ == "__main__":
    unittest.main()
