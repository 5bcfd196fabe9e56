"""`assay serve --http` on a free port, for tests of its clients."""

import os
import subprocess

from state_folder import StateFolder

ASSAY = os.environ["ASSAY"]


class HttpService:
    """The server lives as long as the `with` block; `url` says where."""

    def __init__(self, *options):
        self._folder = StateFolder(prefix="assay-http-")
        self.process = subprocess.Popen(
            [ASSAY, "serve", "--http", "0", "--state", os.path.join(self._folder.name, "state"), *options],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = next((line for line in self.process.stderr if "://" in line), None)
        if line is None:
            raise AssertionError(f"the server ended with {self.process.wait()} and does not say where it listens")
        self.url = line.split()[-1].removesuffix("/mcp")
        self.port = int(self.url.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self._folder.cleanup()
