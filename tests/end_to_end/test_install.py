"""What `cmake --install` and `./dev package` make works where it was not built, with nothing of the build."""

import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from assay_client import ADD, ASSAY, MODERN, SANITIZED, kernel

BUILD = pathlib.Path(ASSAY).resolve().parents[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
HAS_TOOLKIT = (BUILD / "cuda" / "lib").exists()


@unittest.skipUnless(shutil.which("cmake"), "cmake is not here")
class Moved(unittest.TestCase):
    """One tree for all: installed, then moved to a place with a space in its name."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="assay-install-")))
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(folder / "first")], check=True, capture_output=True, timeout=300)
        cls.prefix = folder / "moved to" / "here"
        cls.prefix.parent.mkdir()
        (folder / "first").rename(cls.prefix)
        cls.state = folder / "state"
        cls.assay = str(cls.prefix / "bin" / "assay")

    def run_assay(self, *arguments, text=None):
        # Nothing of this environment: no toolkit is named, no Python is on the path, there is no home.
        return subprocess.run([self.assay, *arguments], input=text, capture_output=True, text=True, timeout=300, cwd="/",
                              env={"PATH": "/nowhere", "ASSAY_STATE": str(self.state)})

    def test_it_holds_what_is_wanted_and_no_link_out_of_itself(self):
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir()}
        self.assertLessEqual({"bin/assay", "bin/assay-runner", "bin/optest", "share/assay/README.md", "share/assay/docs/api.md",
                              "share/assay/clients/python/assay_rest/client.py", "share/assay/schemas/report.json"}, files)
        self.assertEqual("bin/libassay-python.so" in files, (BUILD / "bin" / "libassay-python.so").exists())
        for path in self.prefix.rglob("*"):
            self.assertTrue(path.resolve().is_relative_to(self.prefix.resolve()), path)
            self.assertNotIn("__pycache__", path.parts)

    @unittest.skipUnless(HAS_TOOLKIT, "the build knows no CUDA compiler")
    def test_a_kernel_is_judged_with_the_compiler_that_was_installed(self):
        done = self.run_assay("call", "evaluate", "-", "--check", text=json.dumps({"kernel": kernel(ADD), "device": "emulator", "num_trials": 2}))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(json.loads(done.stdout)["verdict"], "passed")

    def test_it_serves_on_stdio(self):
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "check_capabilities", "arguments": {}, "_meta": meta}}
        done = self.run_assay("serve", "--stdio", text=json.dumps(ask) + "\n")
        answer = json.loads(done.stdout.splitlines()[-1])["result"]["structuredContent"]
        self.assertEqual((done.returncode, answer["kernel_types"]["cuda"]["supported"]), (0, True) if HAS_TOOLKIT else (0, False))
        if HAS_TOOLKIT:
            self.assertIn(str(self.prefix), json.dumps(answer))

    def test_configurations_of_clients_name_the_installed_program(self):
        for client in ("claude", "codex", "opencode"):
            self.assertIn(self.assay, self.run_assay("mcp-config", client).stdout, client)

    def test_optest_is_the_same_program(self):
        done = subprocess.run([str(self.prefix / "bin" / "optest"), "--version"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, self.run_assay("--version").stdout))


@unittest.skipIf(SANITIZED, "releases are not sanitised")
@unittest.skipUnless(shutil.which("cmake"), "cmake is not here")
class Archive(unittest.TestCase):
    def test_a_release_unpacks_to_a_program_that_runs_and_is_made_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory(prefix="assay-package-") as folder:
            made = subprocess.run([str(ROOT / "dev.d" / "package"), str(BUILD), folder, "--without-cuda"],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(made.returncode, 0, made.stderr)
            archive = made.stdout.strip()
            self.assertEqual(os.listdir(folder), [os.path.basename(archive)])
            with tarfile.open(archive) as tar:
                for member in tar.getmembers():
                    self.assertEqual((member.uid, member.gid, member.name.split("/")[0]), (0, 0, os.path.basename(archive)[:-len(".tar.gz")]))
                tar.extractall(folder)
            assay = os.path.join(archive[:-len(".tar.gz")], "bin", "assay")
            version = subprocess.run([ASSAY, "--version"], capture_output=True, text=True, timeout=60).stdout.strip()
            self.assertIn(f"assay-{version}-linux-", archive)
            done = subprocess.run([assay, "--version"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout.strip(), version)
            self.assertLess(os.path.getsize(assay), os.path.getsize(ASSAY), "it is stripped")


if __name__ == "__main__":
    unittest.main()
