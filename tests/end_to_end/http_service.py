"""`assay serve --http` on a free port, for tests of its clients."""

import contextlib
import os
import subprocess
import tempfile

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


@contextlib.contextmanager
def token_files(count):
    """(the file that the server takes, one of each client): their tokens."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = [f"token-of-client-{i}-{os.getpid()}" for i in range(count)]
        paths = [os.path.join(folder, name) for name in ("all", *map(str, range(count)))]
        for path, text in zip(paths, ("\n".join(tokens), *tokens)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            os.chmod(path, 0o600)
        yield paths[0], paths[1:]
