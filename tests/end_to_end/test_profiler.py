"""A server told of a profiler's library: its confined runners load it, and what cannot be loaded is told and costs nothing."""

import pathlib
import tempfile
import unittest

from assay_client import ADD, ASSAY, Server, contract, kernel

RECORDER = pathlib.Path(ASSAY).resolve().parents[1] / "tests" / "engine" / "libnvtx_recorder.so"


class Profiler(unittest.TestCase):
    def warnings(self, library):
        with Server(env={"NVTX_INJECTION64_PATH": str(library)}) as server:
            report = server.call("compare", {"ref_kernel": kernel(ADD, contract(n=64)), "custom_kernel": kernel(ADD, contract(n=64)),
                                             "device": "emulator", "num_trials": 2})["structuredContent"]
        self.assertEqual((report["verdict"], report["trust"]), ("passed", "verified"), report["summary"])
        return {warning["code"]: warning["message"] for warning in report["warnings"]}

    def test_a_confined_runner_loads_the_profilers_library(self):
        if not RECORDER.exists():
            self.skipTest(f"{RECORDER.name} is not built: it is part of test_engine")
        self.assertEqual(self.warnings(RECORDER), {})

    def test_a_library_that_cannot_be_loaded_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            no_library = pathlib.Path(folder, "no_library.so")
            no_library.write_text("not one", encoding="utf-8")
            for path in (no_library, pathlib.Path(folder, "absent.so"), "no_path.so", "/no/such/folder/library.so", "/library.so"):
                with self.subTest(path):
                    self.assertIn("No profiler sees the timed runs", self.warnings(path)["no_ranges"])


if __name__ == "__main__":
    unittest.main()
