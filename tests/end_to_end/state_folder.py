"""A temporary folder for a server's state, removed with patience.

The processes of a server that is killed die right after it and may leave a last file while the folder is being removed.
Who outlives its server is still found: then `cleanup` raises.
"""

import shutil
import tempfile
import time


class StateFolder:
    def __init__(self, prefix):
        self.name = tempfile.mkdtemp(prefix=prefix)

    def cleanup(self, patience_s=20):
        until = time.monotonic() + patience_s
        while True:
            try:
                return shutil.rmtree(self.name)
            except FileNotFoundError:
                continue  # removed by its writer meanwhile; the next round ends with the folder itself missing or gone
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def __enter__(self):
        return self.name

    def __exit__(self, *_):
        self.cleanup()
