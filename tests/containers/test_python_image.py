"""docker/Dockerfile.python: the server beside Python packages, on a Debian image that can reach apt's and pip's registries.

ASSAY_DEBIAN_IMAGE names such an image (debootstrap and `podman import` make one); ASSAY_PYTHON_PACKAGES what is installed,
numpy alone unless told otherwise: torch, triton and cupy are several GB.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from assay_client import ADD, ASSAY, META, kernel
from engine import podman, settings_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BASE = os.environ.get("ASSAY_DEBIAN_IMAGE", "")
PACKAGES = os.environ.get("ASSAY_PYTHON_PACKAGES", "numpy").split()
SERVER, PYTHON = "localhost/assay-server-debian-test:1", "localhost/assay-python-image-test:1"
GENERATOR = """import json, time
MODULES
def setup(): return 1
def experiment(data): return data
def store_result(result, filepath): open(filepath, "w").write(json.dumps(result))
def load_result(filepath): return json.load(open(filepath))
def check_equivalence(current_result, reference_result): assert current_result == reference_result
def run_test(eqcheck=False, reference=False, prefix=""): return 0.001
"""


@unittest.skipUnless(BASE, "unsupported: ASSAY_DEBIAN_IMAGE names no image with a working apt and pip")
class PythonImage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shared = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="assay-containers-"))
        settings_in(shared)
        built = os.path.join(shared, "built")
        subprocess.run([ROOT / "docker/lay_out", os.path.dirname(os.path.dirname(ASSAY)), built + "/laid-out"], check=True)
        cls.build("docker/Dockerfile", SERVER, ".", "--build-context", "built=" + built, "--build-arg", "BUILD_BASE=" + BASE, "--build-arg", "RUNTIME_BASE=" + BASE)
        cls.build("docker/Dockerfile.python", PYTHON, "docker", "--network", "host", "--build-arg", "ASSAY_IMAGE=" + SERVER,
                  "--build-arg", "PYTHON_PACKAGES=" + " ".join(PACKAGES))

    @classmethod
    def build(cls, file, tag, context, *options):
        podman("build", "--layers=false", "--file", file, "--tag", tag, *options, context, cwd=ROOT, timeout=3000)
        cls.addClassCleanup(podman, "image", "rm", "--force", tag, check=False)

    def inside(self, *command):
        return podman("run", "--rm", "--network", "none", "--entrypoint", command[0], PYTHON, *command[1:], timeout=300).stdout.decode().strip()

    def modules(self):
        return ["cupy" if one.startswith("cupy") else one for one in PACKAGES]

    def test_the_packages_are_the_users_pythons(self):
        self.assertEqual(self.inside("python3", "-c", "import os; print(os.getuid())"), "10001")
        for module in self.modules():
            # cupy wants a driver as soon as it is imported on some machines: being found is what is asked.
            self.assertEqual(self.inside("python3", "-c", f"import importlib.util as u; print(u.find_spec({module!r}) is not None)"), "True", module)

    def test_the_server_finds_them_and_runs_kernels_and_generators(self):
        def call(number, tool, **arguments):
            return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": META}})
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            imports = "\n".join(f"import {one}" for one in self.modules() if one in ("numpy", "torch"))
            pathlib.Path(folder, "g.py").write_text(GENERATOR.replace("MODULES", imports), encoding="utf-8")
            lines = [call(1, "check_capabilities", requires={"python": self.modules()}), call(2, "evaluate", kernel=kernel(ADD)),
                     call(3, "run_test_generator", script="/mounted/g.py", wait_s=120)]
            done = podman("run", "-i", "--rm", "--network", "none", "--volume", folder + ":/mounted:ro", PYTHON, "serve", "--stdio",
                          "--source-root", "/mounted", timeout=300, input=("\n".join(lines) + "\n").encode())
        answers = {one["id"]: one["result"]["structuredContent"] for one in map(json.loads, done.stdout.splitlines()) if "id" in one}
        self.assertTrue(answers[1]["requirements"]["supported"], json.dumps(answers[1]["requirements"]))
        self.assertIn(answers[1]["isolation"]["level"], ("L1", "L1n", "L2"))
        self.assertEqual(answers[2]["verdict"], "passed")
        self.assertEqual(answers[3]["verdict"], "passed", answers[3]["summary"])


if __name__ == "__main__":
    unittest.main()
