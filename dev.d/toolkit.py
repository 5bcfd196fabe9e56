"""toolkit.py find|install: the CUDA compiler (NVRTC and its headers) of this checkout.

`find` looks at what the machine has and records the first complete set in .deps/toolkit.env, which
CMake turns into build/<preset>/cuda/{lib,include}. It exits with 3 if there is none. `install` fetches
NVIDIA's wheels into .deps/cuda with pip and records them. A set is complete when one folder holds
libnvrtc and its builtins, the headers are all there, and both are of the same major.minor version: a
toolkit may well have the headers without the library.
"""

import dataclasses
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

DEPS = pathlib.Path(__file__).resolve().parent.parent / ".deps"
REQUIREMENTS = pathlib.Path(__file__).with_name("cuda.txt")
RECORD = DEPS / "toolkit.env"
PRIVATE = DEPS / "cuda"
OLDEST = (12, 0)
NEEDED_HEADERS = ["cuda_runtime.h", "cuda_fp16.h", "crt/host_defines.h"]


@dataclasses.dataclass
class Toolkit:
    lib: pathlib.Path
    includes: list  # one folder, or the several of the older wheels: to be merged
    version: tuple


def nvrtc_version(lib: pathlib.Path):
    """The builtins carry the minor version in their name; without them NVRTC cannot compile."""
    if not any(lib.glob("libnvrtc.so*")):
        return None
    for path in sorted(lib.glob("libnvrtc-builtins.so.*"), key=lambda path: len(path.name)):
        if match := re.fullmatch(r"libnvrtc-builtins\.so\.(\d+)\.(\d+)(\.\d+)*", path.name):
            return int(match[1]), int(match[2])
    return None


def header_version(includes: list):
    for folder in includes:
        header = folder / "cuda_runtime_api.h"
        if header.is_file():
            text = header.read_text(errors="replace")
            if match := re.search(r"#define CUDART_VERSION\s+(\d+)", text):
                return int(match[1]) // 1000, int(match[1]) % 1000 // 10
    return None


def headers_complete(includes: list) -> bool:
    def has(name):
        return any((folder / name).exists() for folder in includes)

    return all(map(has, NEEDED_HEADERS)) and (has("cccl/cuda/std") or has("cuda/std"))


def complete(lib: pathlib.Path, includes: list):
    version = nvrtc_version(lib)
    if version is None or version < OLDEST or version != header_version(includes):
        return None
    return Toolkit(lib.resolve(), includes, version) if headers_complete(includes) else None


def toolkit_folders():
    folders = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    folders += sorted(map(str, pathlib.Path("/usr/local").glob("cuda-*")), reverse=True)
    for folder in filter(None, folders):
        for lib in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
            yield pathlib.Path(folder) / lib, [pathlib.Path(folder) / "include"]


def wheel_folders(top: pathlib.Path):
    """The layouts of NVIDIA's wheels below .../nvidia: one folder since CUDA 13, one per wheel before."""
    for new in sorted(top.glob("cu[0-9]*"), reverse=True):
        yield new / "lib", [new / "include"]
    old = [top / part / "include" for part in ("cuda_runtime", "cuda_nvcc", "cuda_crt", "cuda_cccl")]
    yield top / "cuda_nvrtc" / "lib", [folder for folder in old if folder.is_dir()]


def candidates():
    yield from toolkit_folders()
    spec = importlib.util.find_spec("nvidia")
    for top in (spec.submodule_search_locations if spec else None) or []:
        yield from wheel_folders(pathlib.Path(top))
    if private_is_current():
        yield from wheel_folders(PRIVATE / "nvidia")


def private_is_current() -> bool:
    """A set fetched for other versions than cuda.txt names is not used."""
    made_for = PRIVATE / "requirements.sha256"
    return not made_for.exists() or made_for.read_text() == requirements_hash()


def requirements_hash() -> str:
    return hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest() + "\n"


def include_folder(toolkit: Toolkit) -> pathlib.Path:
    if len(toolkit.includes) == 1:
        return toolkit.includes[0].resolve()
    merged = DEPS / "cuda-include"
    shutil.rmtree(merged, ignore_errors=True)
    for folder in toolkit.includes:
        target = merged / "cccl" if folder.parent.name == "cuda_cccl" else merged
        shutil.copytree(folder, target, dirs_exist_ok=True)
    return merged


def recorded() -> str:
    return RECORD.read_text() if RECORD.exists() else ""


def record(toolkit: Toolkit) -> None:
    """Left alone when nothing changed: CMake reconfigures when this file does."""
    sources = ":".join(str(folder) for folder in toolkit.includes)
    unchanged = f"ASSAY_CUDA_SOURCES={sources}\n"
    head = f"ASSAY_CUDA_LIB={toolkit.lib}\nASSAY_CUDA_VERSION={toolkit.version[0]}.{toolkit.version[1]}\n"
    old = recorded()
    made = re.search(r"^ASSAY_CUDA_INCLUDE=(.*)$", old, re.MULTILINE)
    if old.startswith(head) and unchanged in old and made and pathlib.Path(made[1]).is_dir():
        return
    text = head + f"ASSAY_CUDA_INCLUDE={include_folder(toolkit)}\n" + unchanged
    DEPS.mkdir(exist_ok=True)
    RECORD.with_suffix(".new").write_text(text)
    RECORD.with_suffix(".new").rename(RECORD)
    print(f"dev: CUDA compiler {toolkit.version[0]}.{toolkit.version[1]}: {toolkit.lib}")


def find() -> int:
    for lib, includes in candidates():
        if toolkit := complete(lib, includes):
            record(toolkit)
            return 0
    return 3


def unpack(wheel: pathlib.Path, into: pathlib.Path) -> None:
    """Without what nobody here links or loads: static archives and the alternative compiler build."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not (name.endswith(".a") or ".alt.so" in name):
                archive.extract(name, into)


def install() -> int:
    DEPS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DEPS, prefix="cuda-") as scratch:
        wheels, made = pathlib.Path(scratch) / "wheels", pathlib.Path(scratch) / "made"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                   "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", REQUIREMENTS,
                   "-d", wheels]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        for wheel in sorted(wheels.glob("*.whl")):
            unpack(wheel, made)
        (made / "requirements.sha256").write_text(requirements_hash())
        shutil.rmtree(PRIVATE, ignore_errors=True)
        made.rename(PRIVATE)
    return find()


if __name__ == "__main__":
    sys.exit({"find": find, "install": install}[sys.argv[1]]())
