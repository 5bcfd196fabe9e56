"""simdjson.py FOLDER: puts simdjson.h, simdjson.cpp and their licence into FOLDER.

pip downloads the source distribution that dev.d/simdjson.txt names and checks its hash. FOLDER is
replaced in one rename, so that an interrupted run leaves nothing half-made.
"""

import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

WANTED = {
    "simdjson/simdjson.h": "simdjson.h",
    "simdjson/simdjson.cpp": "simdjson.cpp",
    "LICENSE": "LICENSE.pysimdjson",
}


def download(into: pathlib.Path) -> pathlib.Path:
    requirements = pathlib.Path(__file__).with_name("simdjson.txt")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
               "--no-deps", "--require-hashes", "-r", requirements, "-d", into]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (archive,) = into.glob("pysimdjson-*.tar.gz")
    return archive


def extract(archive: pathlib.Path, into: pathlib.Path) -> None:
    with tarfile.open(archive) as tar:
        top = archive.name.removesuffix(".tar.gz")
        for member, name in WANTED.items():
            with tar.extractfile(f"{top}/{member}") as source:
                (into / name).write_bytes(source.read())


def main() -> None:
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="simdjson-") as scratch:
        made = pathlib.Path(scratch) / "made"
        made.mkdir()
        extract(download(pathlib.Path(scratch)), made)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


if __name__ == "__main__":
    main()
