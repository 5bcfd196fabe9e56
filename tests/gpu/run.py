#!/usr/bin/env python3
"""Every GPU check and benchmark, one after the other, and a short table last: check, figure, goal, met or not.

    run.py [--seconds N] [--out FOLDER] [PART…]       parts: gpu cheats short gpus corpus python types lift figures counters compile server defences

Works in a checkout (build/release) and in the folder that ./dev gpu-bundle makes. Parts share N seconds (3000): what
has no time left is said so, what takes too long is ended and its figures so far are kept. FOLDER gets each part's
output. Exit code: 0 all met, 1 something was not, 2 there is no GPU here.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
# Those with most to say first.
PARTS = {
    "gpu": "tests/gpu/check_gpu.py",
    "cheats": "tests/gpu/check_cheats.py",
    "short": "tests/gpu/check_short_cheats.py",
    "gpus": "tests/gpu/check_gpus.py",
    "figures": "benchmarks/gpu.py",
    "python": "tests/gpu/check_python.py",
    "types": "benchmarks/python_types.py",
    "lift": "tests/gpu/check_lift.py",
    "counters": "benchmarks/counters.py",
    "corpus": "tests/gpu/check_corpus.py",
    "compile": "benchmarks/compile.py",
    "server": "benchmarks/server.py",
    "defences": "tests/gpu/check_defences.py",
}
TAKES_THE_PROGRAM = ("compile", "server")
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
COUNTS = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
SKIPPED = re.compile(r"\.\.\. skipped ['\"](.*)['\"]$", re.MULTILINE)


def program():
    found = os.environ.get("ASSAY")
    for candidate in ([found] if found else [os.path.join(ROOT, "bin", "assay"), os.path.join(ROOT, "build", "release", "bin", "assay")]):
        if os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    raise SystemExit("run.py: there is no program assay; ASSAY names it")


def why_no_gpu(assay):
    """(the device's line, why there is none)."""
    ran = subprocess.run([assay, "call", "check_capabilities", "-"], input="{}\n", capture_output=True, text=True, timeout=120, check=False)
    try:
        told = json.loads(ran.stdout.splitlines()[0])
    except (IndexError, ValueError):
        return "", f"check_capabilities gave no answer: {(ran.stdout + ran.stderr).strip()[-500:]}"
    told = told.get("structuredContent", told)
    gpus = [device for device in told["devices"] if device["kind"] == "gpu"]
    if gpus:
        return f"{len(gpus)} x {gpus[0]['model']}, CUDA {gpus[0]['driver']}, isolation {told['isolation']['level']}", ""
    return "", str(told.get("no_gpu") or "no device of kind gpu")


def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0


def run_part(part, assay, seconds, folder):
    """Its rows of the table."""
    figures, log = os.path.join(folder, f"{part}.figures"), os.path.join(folder, f"{part}.log")
    command = [sys.executable, os.path.join(ROOT, PARTS[part]), *([assay] if part in TAKES_THE_PROGRAM else [])]
    environment = {**os.environ, "ASSAY": assay, "ASSAY_FIGURES": figures, "ASSAY_PYTHON": os.environ.get("ASSAY_PYTHON", sys.executable),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    begin, ended = time.monotonic(), ""
    print(f"== {part}: {PARTS[part]}, at most {seconds:.0f} s", flush=True)
    with open(log, "w+", encoding="utf-8", errors="replace") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code, ended = process.wait(), f"ended after {seconds:.0f} s"
        file.seek(0)
        output = file.read()
    print(output[-20000:], flush=True)
    return [judged(part, code, ended, output, time.monotonic() - begin), *told(figures)]


def judged(part, code, ended, output, seconds):
    ran, counts = RAN.findall(output), COUNTS.findall(output)
    skipped = SKIPPED.findall(output)
    row = {"name": part, "figure": f"{seconds:.0f} s", "goal": "runs", "met": code == 0}
    if ran and ran[-1] == "0" and code == 0:
        return {**row, "figure": f"not run: {skipped[-1] if skipped else 'every test was skipped'}", "goal": "", "met": None}
    if ran:
        row.update(figure=f"{ran[-1]} tests, {counts[-1] or 'all passed' if counts else '?'}, {seconds:.0f} s", goal="all pass")
    elif "nothing was " in output:  # a benchmark without its means says what it did not do
        row.update(figure=output.strip().splitlines()[-1], goal="", met=None)
    if ended or code != 0:
        last = (output.strip().splitlines() or [""])[-1][:160]
        row["figure"] = f"{ended or f'exit code {code}'}; {row['figure']}; last line: {last}"
        row["met"] = False
    return row


def told(figures):
    if not os.path.exists(figures):
        return []
    with open(figures, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def table(rows):
    word = {True: "met", False: "NOT MET", None: ""}
    lines = [("check", "figure", "goal", "")] + [(r["name"], r["figure"], r["goal"], word[r["met"]]) for r in rows]
    widths = [min(max(len(line[i]) for line in lines), 76) for i in range(4)]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("--seconds", type=float, default=3000)
    options.add_argument("--out")
    options.add_argument("parts", nargs="*", metavar="PART")
    chosen = options.parse_args()
    unknown = [part for part in chosen.parts if part not in PARTS]
    if unknown:
        options.error(f"there is no part {unknown[0]}; parts: {' '.join(PARTS)}")
    assay, until, rows = program(), time.monotonic() + chosen.seconds, []
    device, missing = why_no_gpu(assay)
    if missing:
        print(f"no GPU: {missing}")
        return 2
    print(device, flush=True)
    with tempfile.TemporaryDirectory(prefix="assay-gpu-") as scratch:
        folder = chosen.out or scratch
        os.makedirs(folder, exist_ok=True)
        for part in chosen.parts or PARTS:
            left = until - time.monotonic()
            if left < 5:
                rows.append({"name": part, "figure": "not run: no time was left", "goal": "", "met": None})
            elif part in ("python", "types", "lift") and not has_torch():
                rows.append({"name": part, "figure": f"not run: {sys.executable} cannot import torch", "goal": "", "met": None})
            else:
                rows += run_part(part, assay, left, folder)
        if chosen.out:
            with open(os.path.join(folder, "table.json"), "w", encoding="utf-8") as file:
                json.dump({"device": device, "rows": rows}, file, indent=1)
    print(f"\n{device}\n{table(rows)}")
    return 1 if any(row["met"] is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
