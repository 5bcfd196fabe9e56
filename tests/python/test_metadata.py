"""What metadata says of the target: a misspelt name runs no other one, a name of another kernel type is told to do nothing."""

import unittest

from torch_server import SCALE, TorchServer, inputs, source

BOTH = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\ndef f(x):\n    return x * 3\n"
REFERENCE = source(SCALE, function_name="scale")


class Metadata(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TorchServer(shares_state=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def judge(self, kernel, reference=REFERENCE):
        return self.server.judge(kernel, reference, until="validated")

    def test_a_misspelt_name_of_the_target_is_refused_and_no_other_target_is_run(self):
        for name in ("functon_name", "functionName", "Function_Name", "fuction_name"):
            for kernel, reference, place in ((source(BOTH, io=inputs(), **{name: "f"}), REFERENCE, "/kernel"),
                                             (source(SCALE, io=inputs(), function_name="scale"), source(BOTH, **{name: "f"}), "/ref_kernel")):
                with self.subTest(name, place=place):
                    answer = str(self.judge(kernel, reference))
                    self.assertIn(f"{place}/metadata/{name}", answer)
                    self.assertIn("function_name", answer)
                    self.assertNotIn("passed", answer)

    def test_a_name_of_another_kernel_type_is_told_to_have_no_effect(self):
        report = self.judge(source(BOTH, io=inputs(), kernel_name="f"))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertIn("/kernel/metadata/kernel_name: has no effect with kernel_type torch", str(report["warnings"]))

    def test_members_of_the_callers_own_are_free(self):
        report = self.judge(source(BOTH, io=inputs(), class_name="Model", description="mine", algorithm="scale"))
        self.assertEqual(report["verdict"], "passed", report["summary"])
        self.assertNotIn("/metadata/", str(report["warnings"]))

    def test_what_is_not_found_names_the_key_that_would_choose_it(self):
        for text, metadata, words in ((SCALE, {}, "metadata chooses another by function_name"),
                                      (SCALE, {"class_name": "scale"}, "function_name chooses a function"),
                                      (BOTH, {"function_name": "Model"}, "class_name chooses a class")):
            with self.subTest(str(metadata)):
                report = self.judge(source(text, io=inputs(), **metadata))
                self.assertEqual(report["verdict"], "contract_invalid", report["summary"])
                self.assertIn(words, report["summary"])


if __name__ == "__main__":
    unittest.main()
