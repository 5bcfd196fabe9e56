#!/usr/bin/env python3
"""Whether tests of check_cheats.py fail without the defences that they are tests of. Runs in the folder that
tests/defences/run --gpu makes: its programs can do without each of those that defences.json names, one at a time.

First all of them with nothing missing, in one server; then each without its defence, in a server of its own.
"""

import json
import os
import re
import subprocess
import sys
import time

from figures import tell

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "defences.json")
TEST_LIMIT_S = 60


def run(tests, cases, without=""):
    """What it said; of one that did not end, what it had said until then."""
    environment = {**os.environ, "ASSAY_CASES": "|".join(cases)}
    environment.pop("ASSAY_WITHOUT", None)
    if without:
        environment["ASSAY_WITHOUT"] = without
    command = [sys.executable, "-B", os.path.join(HERE, "check_cheats.py"), *(f"Cheats.{test}" for test in sorted(tests))]
    try:
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=TEST_LIMIT_S * (1 if without else 3), check=False).stdout
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace") + "\nno end"


def failed(said):
    """{(test, case or ""): why} of assertions that do not hold."""
    found = {}
    for part in re.split(r"^(?=(?:FAIL|ERROR): )", said, flags=re.M):
        head = re.match(r"FAIL: (\w+) \(.*?\)(?: \[(.*?)\])?(?: \(.*\))?$", part, re.M)
        why = re.search(r"^AssertionError: (.*)$", part, re.M)
        if head:
            found[head[1], head[2] or ""] = why[1] if why else ""
    return found


def outcome(said, test, cases):
    """Of each case; of a test of which none is named, whichever fails."""
    gone = failed(said)
    ran = re.search(r"^Ran 1 test", said, re.M) is not None
    spared = "STILL PASSES" if ran and "ERROR: " not in said else "had an error"
    if not cases:
        return {"": "fails" if any(name == test for name, _ in gone) else spared}
    return {case: "fails" if (test, case) in gone else spared for case in cases}


def main():
    if not os.path.exists(TABLE):
        print("These programs have all their defences (tests/defences/run --gpu makes others): nothing was taken away.")
        return 0
    with open(TABLE, encoding="utf-8") as file:
        entries = json.load(file)
    begin, wrong = time.monotonic(), 0
    said = run({entry["test"] for entry in entries}, sorted({case for entry in entries for case in entry["cases"]}))
    print(said[-6000:], flush=True)
    whole = re.search(r"^OK$", said, re.M) is not None
    tell("cheats with all defences", "pass" if whole else "do not all pass", "pass", whole)
    for entry in entries:
        said = run({entry["test"]}, entry["cases"], entry["name"])
        why = failed(said)
        for case, how in outcome(said, entry["test"], entry["cases"]).items():
            met = how == "fails" and whole
            wrong += 0 if met else 1
            print(f"{time.monotonic() - begin:.0f} s: without {entry['name']}: {entry['test']} {f'[{case}] ' if case else ''}{how}", flush=True)
            print("   ", why.get((entry["test"], case)) or list(why.values()), flush=True)
            tell(f"without {entry['name']}: {case or entry['test']}", how, "fails", met)
            if how != "fails":
                print(said[-3000:], flush=True)
    return 1 if wrong or not whole else 0


if __name__ == "__main__":
    sys.exit(main())
