"""The C++ compiler of torch_cuda wrappers, in a confined process of its own that runs no user code: the compiler reads
the user's text and nothing else of the machine but headers and libraries.

  → {type: "host_compiler", on_gpu}            ← {type: "host_compiler", compiler, torch, missing}
  → {type: "precompile", headers, folder, on_gpu, include}     ← {type: "precompiled", ok, log}
  → {type: "compile_host", headers, folder, text, name, defines, is_cpp, on_gpu, include}
  ← {type: "compiled_host", ok, log, diagnostics} + the library as the blob
Triton's assembler runs here, too:
  → {type: "assemble", ptx}                    ← {type: "assembled", ok, log, assembler, kernels: {entry: {registers, …}}}
"""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile

import torch

_HEADER = "wrapper.h"
_PLAIN = "plain.h"  # the same without CUDA, not compiled ahead
# What a compiler says of a name that somebody else has, too.
_CLASH = re.compile(r"redeclared|redefinition|conflicting|ambigu")
_MOST_BYTES = 768 << 20  # what is compiled ahead takes half a gigabyte
_MAX_LOG = 16 << 10
_MAX_DIAGNOSTICS = 20
_PATH = "/usr/local/bin:/usr/bin:/bin"
_BLACKWELL = 100
# Figures of a kernel, as the assembler spells their units; the first three it tells of functions, too.
_OF_FUNCTIONS = ("stack_bytes", "spill_store_bytes", "spill_load_bytes")
_FIGURES = {"stack_bytes": "bytes stack frame", "spill_store_bytes": "bytes spill stores", "spill_load_bytes": "bytes spill loads",
            "registers": "registers", "barriers": "barriers", "static_shared_bytes": "bytes smem",
            "constant_bytes": "bytes cmem[0]", "module_constant_bytes": "bytes cmem[3]"}
_SAID = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?P<severity>fatal error|error|warning): (?P<message>.*)$",
                   re.MULTILINE)


def describe(_body):
    """What the result depends on beside the text, or what is missing."""
    compiler = _compiler()
    includes = [sysconfig.get_paths()["include"], *_torch_includes()]
    missing = ("a C++ compiler (g++)" if compiler is None else
               "Python's headers (Python.h)" if not os.path.exists(os.path.join(includes[0], "Python.h")) else
               "torch's headers" if not os.path.isdir(includes[1]) else "")
    version = "" if compiler is None else _run([compiler, "--version"], None)[1].splitlines()[0]
    return {"type": "host_compiler", "compiler": version, "torch": torch.__version__, "python": platform.python_version(),
            "missing": missing, "flags": _flags(False), "includes": includes}


def precompile(body):
    """The headers into the folder, and beside them what the compiler made of them: for other users' processes to read."""
    os.umask(0o022)
    os.chmod(body["folder"], 0o755)
    _write_headers(body, body["folder"])
    header = os.path.join(body["folder"], _HEADER)
    aside = header + ".new"
    ok, log = _run([_compiler(), *_flags(body["on_gpu"]), *_includes(body), "-x", "c++-header", header, "-o", aside], None)
    if ok:
        os.rename(aside, header + ".gch")
    elif (free := shutil.disk_usage(body["folder"]).free) < _MOST_BYTES:
        log = f"there is no room for them: {free >> 20} MiB are free"
    return {"type": "precompiled", "ok": ok, "log": log}


def compile_host(body):
    """(reply, the library)."""
    with tempfile.TemporaryDirectory() as folder:
        headers = body["folder"]
        if not headers:
            headers = folder
            _write_headers(body, folder)
        out = os.path.join(folder, "wrapper.so")
        command = [_compiler(), *_flags(body["on_gpu"]), *_includes(body), f"-DTORCH_EXTENSION_NAME={body['name']}", *body["defines"]]
        wrapped = [*command, "-include", os.path.join(headers, _HEADER)]
        linked = ["-shared", "-o", out, f"-L{os.path.join(_torch_folder(), 'lib')}", *_libraries(body["on_gpu"])]
        ok, log = _run([*wrapped, "-x", "c++", "-", *linked], body["text"])
        if not ok and body["is_cpp"] and _CLASH.search(log):
            ok = _compile_apart(command, wrapped, os.path.join(headers, _PLAIN), folder, linked, body["text"])
        blob = b""
        if ok:
            with open(out, "rb") as made:
                blob = made.read()
    return {"type": "compiled_host", "ok": ok, "log": log, "diagnostics": _diagnostics(log)}, blob


def _compile_apart(command, wrapped, header, folder, linked, text):
    """Of C++ alone, which may have names that are CUDA's: torch's headers without them, in full, beside what a wrapper is to whoever
    loads it. Whether it succeeded."""
    mine, ours = (os.path.join(folder, name) for name in ("mine.o", "ours.o"))
    return (_run([*command, "-include", header, "-x", "c++", "-", "-c", "-o", mine], text)[0] and
            _run([*wrapped, "-x", "c++", "-", "-c", "-o", ours], "")[0] and
            _run([_compiler(), mine, ours, *linked], None)[0])


def _libraries(on_gpu):
    libraries = ["-Wl,--no-as-needed", "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"]
    return [*libraries, "-lc10_cuda", "-ltorch_cuda"] if on_gpu else libraries


def assemble(body):
    """What each kernel of a program takes of the hardware, in the assembler's own words."""
    found = re.search(r"^\.target\s+(sm_(\d+)\w*)", body["ptx"], re.MULTILINE)
    assembler = _assembler(int(found[2])) if found else None
    if assembler is None:
        return {"type": "assembled", "ok": False, "log": "no assembler (ptxas) for this target", "assembler": "", "kernels": {}}
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "program.ptx")
        with open(text, "w", encoding="utf-8") as out:
            out.write(body["ptx"])
        ok, log = _run([assembler, "-v", f"--gpu-name={found[1]}", text, "-o", os.path.join(folder, "program.cubin")], None)
    said = _run([assembler, "--version"], None)[1].strip().splitlines()
    return {"type": "assembled", "ok": ok, "log": log, "assembler": said[-1] if said else "", "kernels": _figures(log) if ok else {}}


def _assembler(target):
    """Triton's own, by the way of choosing that it has itself; else one of the machine's."""
    try:
        spec = importlib.util.find_spec("triton")
    except ImportError:
        spec = None
    own = os.path.join(os.path.dirname(spec.origin), "backends", "nvidia", "bin") if spec and spec.origin else ""
    name = "ptxas-blackwell" if target >= _BLACKWELL else "ptxas"
    return shutil.which(name, path=own) or shutil.which("ptxas", path=f"{_PATH}:/usr/local/cuda/bin")


def _figures(log):
    """{entry: figures}. Stack and spills are told of every function, those of a called one belong to no entry."""
    kernels, entry, function = {}, None, None
    for line in log.splitlines():
        if found := re.search(r"Compiling entry function '([^']+)'", line):
            entry = function = found[1]
            kernels[entry] = dict.fromkeys(_FIGURES, 0)
        elif found := re.search(r"Function properties for (\S+)", line):
            function = found[1]
        elif entry is not None:
            for name, unit in _FIGURES.items():
                found = re.search(rf"(\d+) {re.escape(unit)}", line)
                if found and (name not in _OF_FUNCTIONS or function == entry):
                    kernels[entry][name] = int(found[1])
    return kernels


def _compiler():
    return shutil.which("g++", path=_PATH) or shutil.which("c++", path=_PATH)


def _flags(on_gpu):
    major, minor = (int(part) for part in torch.__version__.split(".")[:2])
    # Nothing of one library may be taken for another's; -O1: most of the time is torch's templates.
    flags = ["-std=c++20" if (major, minor) >= (2, 12) else "-std=c++17", "-O1", "-g0", "-fPIC", "-w", "-fvisibility=hidden",
             "-fno-gnu-unique", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", "-fmax-errors=20"]
    return [*flags, "-DASSAY_ON_GPU"] if on_gpu else flags


def _includes(body):
    folders = [*_torch_includes(), sysconfig.get_paths()["include"], *body["include"]]
    return [word for folder in folders for word in ("-isystem", folder)]


def _torch_folder():
    return os.path.dirname(torch.__file__)


def _torch_includes():
    # As cpp_extension.include_paths() has it, which asks the driver when it is imported.
    folder = os.path.join(_torch_folder(), "include")
    return [folder, os.path.join(folder, "torch", "csrc", "api", "include")]


def _write_headers(body, folder):
    for name, text in body["headers"].items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)


def _run(command, text):
    """(whether it succeeded, the beginning of what it said)."""
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, input=None if text is None else text.encode(errors="replace"),
                              stdin=subprocess.DEVNULL if text is None else None, stdout=said, stderr=said, check=False,
                              env={"PATH": _PATH, "LC_ALL": "C", "TMPDIR": tempfile.gettempdir()})
        said.seek(0)
        return done.returncode == 0, said.read(_MAX_LOG).decode(errors="replace")


def _diagnostics(log):
    return [{"severity": "warning" if match["severity"] == "warning" else "error", "file": match["file"],
             "line": int(match["line"]), "message": match["message"][:600]}
            for match in list(_SAID.finditer(log))[:_MAX_DIAGNOSTICS]]
