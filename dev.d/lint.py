"""lint.py [--fix] [--fast] [--within SECONDS] [FILE…]: every check that needs no running program. ./dev lint calls it.

A check of a file is a function that answers with its complaints. One that found nothing is remembered in
build/lint under a name made of all that it depends on: the tool, its configuration, the file, the headers
of ours that it includes and its compile command. So nothing is looked at twice, and nothing is believed
that has changed. With --within, what takes seconds for each file (clang-tidy, headers alone) is begun only as long as
there is time, in the files that changed last first, and the answer says how many were left.
"""

import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What torch_cuda sources are compiled with: torch and CUDA are where such a source is.
WITH_TORCH = ROOT / "src" / "engine" / "python" / "wrapper"
CACHE = ROOT / "build" / "lint"
DATABASE = ROOT / "build" / "dev" / "compile_commands.json"
# Names of machines and of ways of working that have no place in the repository.
# Each has a character in brackets, so that this line is not itself what it forbids; so has the checkout's own place.
FORBIDDEN = re.compile(r"/wor[k]/|/far[m]/|/roo[t]/\.|/hom[e]/[a-z]+/|/tmp/brie[f]|\bCLAUD[E]_|" + re.escape(f"{ROOT}/"))
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


@functools.cache
def content(path: pathlib.Path) -> bytes:
    return path.read_bytes()


@functools.cache
def own_headers(path: pathlib.Path) -> frozenset:
    """Headers of ours that `path` names, itself left out."""
    named = INCLUDE.findall(content(path).decode(errors="replace"))
    places = (path.parent, ROOT / "src", ROOT)
    found = (next((p / name for p in places if (p / name).is_file()), None) for name in named)
    return frozenset(header.resolve() for header in found if header)


def tidy_configuration(path: pathlib.Path) -> bytes:
    """Of the file's folder and all above it: each inherits from the next."""
    folders = [folder for folder in path.resolve().parents if folder.is_relative_to(ROOT)]
    return b"".join(content(f / ".clang-tidy") for f in folders if (f / ".clang-tidy").is_file())


def closure(path: pathlib.Path) -> list:
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(own_headers(current))
    return sorted(seen)


@functools.cache
def tool_version(tool: str) -> str:
    return run(tool, "--version").stdout


@functools.cache
def compile_flags() -> dict:
    """Flags per file from the compile database, without what is only for producing an object."""
    flags = {}
    for entry in json.loads(DATABASE.read_text()):
        words, kept = shlex.split(entry["command"])[1:], []
        while words:
            word = words.pop(0)
            if word in ("-o", "-c", "-include"):
                words.pop(0)
            elif not word.startswith(("-W", "-fsanitize", "-g", "-O", "-fno-sanitize")):
                kept.append(word)
        # A database that is older than a removal still names what was removed.
        if pathlib.Path(entry["file"]).is_file():
            flags[pathlib.Path(entry["file"])] = kept
    return flags


def flags_for(path: pathlib.Path) -> list:
    """Of a file that the build does not know (a header, a fuzzer): those of its nearest neighbour, best of one
    that includes it."""
    known = compile_flags()
    if path in known:
        return known[path]

    def distance(other):
        return len(os.path.relpath(other.parent, path.parent).split("/"))

    def stranger(other):
        return f'/{path.name}"' not in content(other).decode(errors="replace")

    near = min(sorted(known), key=lambda other: (distance(other), stranger(other)), default=None)
    return known[near] if near else ["-std=c++20", f"-I{ROOT}/src", f"-I{ROOT}"]


def check_format(path: pathlib.Path) -> str:
    return run(TOOLS["clang-format"], "--dry-run", "-Werror", path).stdout


def check_tidy(path: pathlib.Path) -> str:
    # -w: the compiler that builds the project judges its warnings.
    answer = run(TOOLS["clang-tidy"], "--quiet", path, "--", "-w", *flags_for(path))
    if answer.returncode == 0:
        return ""
    return "\n".join(line for line in answer.stdout.splitlines() if "warnings generated" not in line)


def check_header(path: pathlib.Path) -> str:
    """A header compiles alone."""
    return run("g++", "-fsyntax-only", "-x", "c++", "-w", *flags_for(path), "-include", path,
               "/dev/null").stdout


def check_words(path: pathlib.Path) -> str:
    lines = content(path).decode(errors="replace").splitlines()
    return "".join(f"{path.relative_to(ROOT)}:{number}: names a machine or a way of working: {line.strip()}\n"
                   for number, line in enumerate(lines, 1) if FORBIDDEN.search(line))


def check_python(path: pathlib.Path) -> str:
    """A name that is nowhere made shows in a test of what this machine lacks (a GPU) only when it runs elsewhere."""
    return run("pyflakes3", path).stdout


def check_shell(path: pathlib.Path) -> str:
    return run("shellcheck", "-x", "-a", path).stdout


def key_of(check, path: pathlib.Path) -> str:
    digest = hashlib.sha256(f"{check.__name__} {path.relative_to(ROOT)}\n".encode())
    read = [path]
    if check is check_format:
        digest.update(tool_version(TOOLS["clang-format"]).encode() + content(ROOT / ".clang-format"))
    elif check is check_tidy:
        digest.update(tool_version(TOOLS["clang-tidy"]).encode() + tidy_configuration(path))
    if check in (check_tidy, check_header):
        digest.update(repr(flags_for(path)).encode())
        read = closure(path)
    elif check is check_python:
        digest.update(tool_version("pyflakes3").encode())
    elif check is check_shell:
        read = [path, *sorted((ROOT / "dev.d").glob("*.sh"))]
    elif check is check_words:
        digest.update(FORBIDDEN.pattern.encode())
    for file in read:
        digest.update(content(file))
    return digest.hexdigest()


def is_shell(path: pathlib.Path) -> bool:
    """A file that is only sourced is looked at through the one that sources it."""
    return re.match(rb"#!.*\b(ba)?sh\b", content(path)[:64]) is not None


def is_text(path: pathlib.Path) -> bool:
    return b"\0" not in content(path)[:4096]


def checks_for(path: pathlib.Path):
    if path.suffix in (".cc", ".h"):
        yield check_format
    if path.suffix == ".cc":
        # Tests are judged by the compiler's warnings alone: clang-tidy reads Catch for seconds in each of them.
        if "tests" not in path.relative_to(ROOT).parts:
            yield check_tidy
    elif path.suffix == ".h":
        # Where there is a source of the same name it includes the header first, which shows as much.
        if not path.with_suffix(".cc").is_file() and WITH_TORCH not in path.parents:
            yield check_header
    # What users paste is theirs.
    elif path.suffix == ".py" and path.parent.name != "pasted":
        yield check_python
    elif is_shell(path):
        yield check_shell
    if is_text(path):
        yield check_words


def double_definitions(paths: list) -> str:
    """Two types of one name in one namespace: no compiler sees both, and the program is corrupt."""
    places = collections.defaultdict(set)
    for path in paths:
        if path.suffix not in (".cc", ".h") or "tests" in path.relative_to(ROOT).parts:
            continue
        text = re.sub(r"^namespace \{$.*?^\}  // namespace$", "", content(path).decode(errors="replace"), flags=re.M | re.S)
        namespace = re.search(r"^namespace ([\w:]+) \{", text, re.M)
        for name in re.findall(r"^(?:struct|class) (\w+)(?: final)?(?: :[^{;]*)? \{", text, re.M) if namespace else ():
            places[f"{namespace[1]}::{name}"].add(str(path.relative_to(ROOT)))
    return "".join(f"-- definitions: {name}: {', '.join(sorted(files))}\n" for name, files in sorted(places.items())
                   if len(files) > 1)


SLOW = (check_tidy, check_header)


def look_at(job, until: float) -> tuple:
    """The job, its complaints, and whether it was looked at, remembered or left."""
    check, path = job
    memory = CACHE / check.__name__ / key_of(check, path)
    if memory.exists():
        return job, "", "remembered"
    if check in SLOW and time.monotonic() > until:
        return job, "", "left"
    complaints = check(path)
    if not complaints.strip():
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.touch()
    return job, complaints, "looked at"


def files_to_check(named: list) -> list:
    if not named:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        named = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    paths = [pathlib.Path(name).resolve() for name in named]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def newest_first() -> dict:
    """When a file was changed, counted in commits from the last; in a shallow clone all at once."""
    log = run("git", "log", "--format=", "--name-only").stdout.splitlines()
    return {ROOT / name: place for place, name in reversed(list(enumerate(log))) if name}


def fix(paths: list) -> int:
    sources = [path for path in paths if path.suffix in (".cc", ".h")]
    return subprocess.run([TOOLS["clang-format"], "-i", *sources], check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--within", type=float, metavar="SECONDS")
    parser.add_argument("file", nargs="*")
    options = parser.parse_args()
    paths = files_to_check(options.file)
    if options.fix:
        return fix(paths)

    began, failed, seen = time.monotonic(), 0, collections.Counter()
    until = began + options.within if options.within is not None else float("inf")
    if complaints := double_definitions(files_to_check([])):
        failed += 1
        print(complaints, end="", flush=True)
    # Slow ones first, so that no core is left with one at the end; unless there is no time for all of them.
    left_out = SLOW if options.fast else ()
    age = newest_first() if options.within is not None else {}
    jobs = sorted(((check, path) for path in paths for check in checks_for(path) if check not in left_out),
                  key=lambda job: (job[0] not in SLOW, age.get(job[1], 0), job[0] is not check_tidy, -job[1].stat().st_size))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (check, path), complaints, how in pool.map(lambda job: look_at(job, until), jobs):
            seen[how] += 1
            if complaints.strip():
                failed += 1
                what = check.__name__.removeprefix("check_")
                print(f"-- {what}: {path.relative_to(ROOT)}\n{complaints.rstrip()}", flush=True)
    left = f", {seen['left']} left for lack of time" if seen["left"] else ""
    print(f"lint: {len(jobs) - failed - seen['left']} passed, {failed} failed{left} ({seen['looked at']} looked at, "
          f"{seen['remembered']} unchanged; {time.monotonic() - began:.1f} s)")
    return 1 if failed else 0


TOOLS = {name: os.environ.get(name.upper().replace("-", "_"), name) for name in ("clang-format", "clang-tidy")}

if __name__ == "__main__":
    sys.exit(main())
