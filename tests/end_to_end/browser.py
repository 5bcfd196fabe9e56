"""A real Chromium without a screen, driven over its debugging pipe; for tests of the page."""

import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def installed():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self):
        self._home = tempfile.TemporaryDirectory(prefix="assay-chromium-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def descriptors():
            # Chromium reads 3 and writes 4. Copied away first: the pipes may be 3 and 4 themselves.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [installed(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", "--window-size=1280,1400", "--user-data-dir=" + self._home.name],
            close_fds=False, preexec_fn=descriptors, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._received, self._last, self._session = b"", 0, None
        self.complaints = []  # of the console, the policy, the page's own script
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def ask(self, method, **params):
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self):
        while b"\0" not in self._received:
            more = os.read(self._in, 1 << 16)
            if not more:
                raise EOFError("Chromium has gone")
            self._received += more
        text, self._received = self._received.split(b"\0", 1)
        return json.loads(text)

    def _note(self, event):
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.complaints.append(event["params"]["entry"]["text"])
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(event["params"]["exceptionDetails"]["text"] +
                                   str(event["params"]["exceptionDetails"].get("exception", {}).get("description")))

    def open(self, url):
        self.ask("Page.navigate", url=url)

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, expression, seconds=60):
        """The first value of the expression that is true."""
        end = time.monotonic() + seconds
        while True:
            value = self.value(expression)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not in {seconds} s: {expression}\n" + self.value("document.body.innerText"))
            time.sleep(0.05)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        os.close(self._out)
        self._home.cleanup()
