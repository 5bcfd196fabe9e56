"""packages.py: the clients' packages, in .deps/clients, as packages.txt names them.

`python3 packages.py [NAME…]` fetches what is missing, of all or of those named; what cannot be fetched is named as
unsupported, with the reason, its tests are skipped, and the exit code is 2. There are no stamps: the installed
package's own version is looked at.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent.parent / ".deps" / "clients"


def pinned():
    """{folder: (registry, [package with version, …])}"""
    lines = [line.split() for line in (HERE / "packages.txt").read_text().splitlines() if line and line[0] != "#"]
    return {words[0]: (words[1], words[2:]) for words in lines}


def npm_is_there(folder, package):
    name, version = package.rsplit("@", 1)
    described = folder / "node_modules" / name / "package.json"
    return described.is_file() and f'"version": "{version}"' in described.read_text()


def pypi_is_there(folder, package):
    name, version = package.split("==")
    return any(folder.glob(f"lib/python3*/site-packages/{name}-{version}.dist-info"))


def installed(name):
    registry, packages = pinned()[name]
    is_there = npm_is_there if registry == "npm" else pypi_is_there
    return all(is_there(FOLDER / name, package) for package in packages)


def fetch(name):
    registry, packages = pinned()[name]
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if registry == "npm":
        if not shutil.which("npm"):
            return "there is no npm here"
        commands = [["npm", "install", "--no-fund", "--no-audit", "--prefix", folder, *packages]]
    else:
        commands = [[sys.executable, "-m", "venv", folder],
                    [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]]
    patience_s = int(os.environ.get("ASSAY_FETCH_S", "600"))
    for command in commands:
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience_s)
        except subprocess.TimeoutExpired:
            return f"{command[0]} did not end within {patience_s} s"
        if done.returncode != 0:
            # Which registry was asked is this machine's business.
            said = [line for line in done.stderr.splitlines() if "//" not in line and not line.startswith("WARNING")]
            return re.sub(r"\s+", " ", " ".join(said))[:300] or f"{registry} exit code {done.returncode}"
    return None if installed(name) else "another version than was asked for was installed"


def main(wanted):
    missing = 0
    for name, (registry, packages) in pinned().items():
        if installed(name) or (wanted and name not in wanted):
            continue
        print(f"tests/clients: fetching {' '.join(packages)} ({registry})", flush=True)
        if why := fetch(name):
            print(f"tests/clients: unsupported: {name}: {why}", flush=True)
            shutil.rmtree(FOLDER / name, ignore_errors=True)
            missing += 1
    return 2 if missing else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main(sys.argv[1:]))
