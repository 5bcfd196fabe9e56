"""The page at / in a real Chromium: jobs as they move, one job's report, and nothing but text."""

import http.client
import json
import os
import pathlib
import subprocess
import unittest

import browser
from assay_client import ADD, FOREVER, contract, kernel
from state_folder import StateFolder

ASSAY = os.environ["ASSAY"]
TOKEN = "a-token-for-the-page"
BROKEN = ADD.replace("a[i] + b[i]", "a[i] + nothing")
WRONG = ADD.replace("if (i < n)", "if (i < n && i % 4 != 3)")
OUTSIDE = ADD.replace("if (i < n) out[i]", "out[i + 100000]")
HOSTILE = ADD + "// <img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\n"


@unittest.skipIf(not browser.installed() and not os.environ.get("ASSAY_CLIENTS"),
                 "there is no Chromium here (./dev test --clients installs it)")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.folder = StateFolder(prefix="assay-page-")
        self.addCleanup(self.folder.cleanup)
        self.browser.open("about:blank")
        self.browser.until("location.href === 'about:blank'")
        self.browser.complaints.clear()

    def serve(self, *options):
        server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--state", self.folder.name + "/state", *options],
                                  stderr=subprocess.PIPE)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stderr.close()))
        for line in server.stderr:
            if b"http://" in line:
                self.port = int(line.rsplit(b":", 1)[1].split(b"/")[0])
                break
        self.url = f"http://127.0.0.1:{self.port}/"

    def submit(self, path, body, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
        connection.request("POST", path, json.dumps(body), headers)
        job = json.loads(connection.getresponse().read())["job_id"]
        connection.close()
        return job

    def show(self, job, verdict):
        self.browser.open("about:blank")
        self.browser.open(self.url + "#" + job)
        self.browser.until(f"document.querySelector('#verdict')?.textContent === '{verdict}'")

    def test_a_job_is_seen_as_it_moves_and_ends(self):
        self.serve()
        self.browser.open(self.url)
        self.browser.until("document.querySelector('#health')?.textContent === 'healthy'")
        self.assertIn("emulator", self.browser.value("document.querySelector('#devices').textContent"))
        self.browser.until("!document.querySelector('#empty').hidden")
        job = self.submit("/evaluate?wait=0", {"kernel": kernel(FOREVER), "timeout": 6})
        entry = f"document.querySelector('[data-job=\"{job}\"]')"
        self.browser.until(entry + "?.querySelector('.chip').textContent === 'validating'")
        self.assertEqual(self.browser.value(entry + ".querySelectorAll('i.now').length"), 1)
        self.browser.value(entry + ".click()")
        self.browser.until("document.querySelector('#verdict')?.textContent === 'validating'")
        self.browser.until("document.querySelector('#verdict')?.textContent === 'timed_out'")
        self.browser.until(entry + ".querySelectorAll('i.now').length === 0")
        self.assertEqual(self.browser.complaints, [])

    def test_a_report_shows_source_times_and_their_histogram(self):
        self.serve()
        job = self.submit("/compare", {"ref_kernel": kernel(ADD), "custom_kernel": kernel(ADD), "num_trials": 20})
        self.show(job, "passed")
        self.browser.until("document.querySelector('img.histogram')?.naturalWidth > 0")
        self.assertEqual(self.browser.value("document.querySelectorAll('#source div').length"), len(ADD.split("\n")))
        self.assertEqual(self.browser.value("[...document.querySelectorAll('.steps li')].length"), 7)
        text = self.browser.value("document.querySelector('#report').innerText")
        for word in ("emulated", "median", "concluded", "profiled"):
            self.assertIn(word, text)
        self.browser.value("[...document.querySelectorAll('.parts button')].find(b => b.textContent === 'ptx').click()")
        self.browser.until("document.querySelector('.parts pre').textContent.includes('.visible .entry')")
        self.assertEqual(self.browser.complaints, [])

    def test_the_roofline_shows_on_which_side_of_the_ridge_a_kernel_is(self):
        self.serve()
        busy = ADD.replace("out[i] = a[i] + b[i];", "{ float s = a[i], t = b[i]; for (int k = 0; k < 4000; ++k) s = s * 0.5f + t; out[i] = s; }")
        ends = {}
        for name, source in (("memory", ADD), ("compute", busy)):
            job = self.submit("/evaluate", {"kernel": kernel(source), "num_trials": 2, "device": "emulator", "device_metrics": "on"})
            self.show(job, "passed")
            self.browser.until("document.querySelector('svg.roofline .reach') !== null")
            points = self.browser.value("document.querySelector('svg.roofline .reach').getAttribute('points')")
            ends[name] = [tuple(map(float, point.split(","))) for point in points.split(" ")]
            self.assertIn(f"{name} on ", self.browser.value("document.querySelector('#report').innerText"))
        # y falls towards the roof's top: compute-bound lies on it, memory-bound below and to the left.
        self.assertGreater(min(y for _, y in ends["memory"]), max(y for _, y in ends["compute"]))
        self.assertLess(max(x for x, _ in ends["memory"]), min(x for x, _ in ends["compute"]))
        job = self.submit("/evaluate", {"kernel": kernel(ADD), "num_trials": 2, "device": "emulator"})
        self.show(job, "passed")
        self.assertIsNone(self.browser.value("document.querySelector('svg.roofline')"))
        self.assertEqual(self.browser.complaints, [])

    def test_a_diagnostic_stands_on_its_line(self):
        self.serve()
        self.show(self.submit("/evaluate", {"kernel": kernel(BROKEN)}), "compile_failed")
        line = next(number for number, text in enumerate(BROKEN.split("\n"), 1) if "nothing" in text)
        self.assertEqual(self.browser.value("[...document.querySelectorAll('.marked')].map(d => d.dataset.line).join()"), str(line))
        self.assertIn("nothing", self.browser.value("document.querySelector('.marked + .note').textContent"))

    def test_a_fault_stands_on_its_line(self):
        self.serve()
        self.show(self.submit("/evaluate", {"kernel": kernel(OUTSIDE)}), "crashed")
        line = next(number for number, text in enumerate(OUTSIDE.split("\n"), 1) if "100000" in text)
        self.assertEqual(self.browser.value("document.querySelector('.marked').dataset.line"), str(line))
        self.assertIn("Invalid", self.browser.value("document.querySelector('.marked + .note').textContent"))

    def test_a_wrong_output_has_a_map_of_its_mismatches(self):
        self.serve()
        io = contract(n=1024)
        job = self.submit("/compare", {"ref_kernel": kernel(ADD, io), "custom_kernel": kernel(WRONG, io)})
        self.show(job, "wrong_output")
        # 1024 elements in lines of 32: every fourth column is wrong, in every row.
        marked = self.browser.until(
            "[...document.querySelectorAll('.mismatches rect')].slice(1).map(r => Math.round(r.getAttribute('x') / r.getAttribute('width')))")
        self.assertEqual(len(marked), 32 * 8)
        self.assertEqual({column % 4 for column in marked}, {3})
        self.assertIn("256 of 1024", self.browser.value("document.querySelector('.map').innerText"))

    def test_what_a_kernel_says_is_text(self):
        self.serve()
        self.show(self.submit("/evaluate", {"kernel": kernel(HOSTILE), "num_trials": 1}), "passed")
        self.assertEqual(self.browser.value("document.title"), "Assay")
        self.assertEqual(self.browser.value("document.querySelectorAll('#report script, #report img[src=x]').length"), 0)
        self.assertIn("onerror", self.browser.value("document.querySelector('#source').textContent"))

    def test_a_token_is_asked_for_and_kept(self):
        tokens = pathlib.Path(self.folder.name, "tokens")
        tokens.write_text(TOKEN + "\n")
        self.serve("--token-file", str(tokens))
        job = self.submit("/evaluate", {"kernel": kernel(ADD), "num_trials": 4}, TOKEN)
        self.browser.open(self.url + "#" + job)
        self.browser.until("document.querySelector('#ask')?.checkVisibility()")
        enter = "document.querySelector('#token').value = '%s'; document.querySelector('#enter').click()"
        self.browser.value(enter % "not the token at all")
        self.browser.until("!document.querySelector('#refused').hidden")
        self.browser.value(enter % TOKEN)
        self.browser.until("document.querySelector('#verdict')?.textContent === 'passed'")
        self.browser.until("document.querySelector('img.histogram')?.naturalWidth > 0")
        self.assertFalse(self.browser.value("document.querySelector('#ask').checkVisibility()"))
        self.browser.value("sessionStorage.clear()")


if __name__ == "__main__":
    unittest.main()
