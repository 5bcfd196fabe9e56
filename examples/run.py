#!/usr/bin/env python3
"""Judges one of examples/kernels against its reference, or prints the arguments for it.

usage: run.py NAME                 asks build/release/bin/assay (or $ASSAY); exit code of `assay call --check`
       run.py NAME --arguments     prints the complete arguments of `evaluate` as one line of JSON
       run.py NAME --source FILE   judges FILE in the place of NAME.cu: your own attempt
       run.py                      lists the examples
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "kernels")
ASSAY = os.environ.get("ASSAY", os.path.join(HERE, "..", "build", "release", "bin", "assay"))


def names():
    return sorted(name.removesuffix(".contract.json") for name in os.listdir(FOLDER) if name.endswith(".contract.json"))


def read(path):
    with open(path) as file:
        return file.read()


def arguments_of(name, source=None):
    """What `evaluate` takes: the kernel with its contract, and the reference, which shares it."""
    contract = json.loads(read(os.path.join(FOLDER, f"{name}.contract.json")))
    kernel = read(source or os.path.join(FOLDER, f"{name}.cu"))
    reference = read(os.path.join(FOLDER, f"{name}.ref.cu"))
    return {"kernel": {"source_code": kernel, "kernel_type": "cuda", "io": contract},
            "ref_kernel": {"source_code": reference, "kernel_type": "cuda"}}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("name", nargs="?", choices=names())
    parser.add_argument("--arguments", action="store_true")
    parser.add_argument("--source")
    options = parser.parse_args()
    if options.name is None:
        print("\n".join(names()))
        return 0
    try:
        arguments = json.dumps(arguments_of(options.name, options.source))
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read {getattr(error, 'filename', None) or options.source}: "
              f"{getattr(error, 'strerror', None) or 'it is not UTF-8 text'}", file=sys.stderr)
        return 2
    if options.arguments:
        print(arguments)
        return 0
    try:
        called = subprocess.run([ASSAY, "call", "evaluate", "-", "--check"], input=arguments + "\n",
                                stdout=subprocess.PIPE, text=True)
    except OSError as error:
        print(f"cannot run {ASSAY}: {error.strerror}. Build it with ./dev build, or set ASSAY.", file=sys.stderr)
        return 2
    try:
        report = json.loads(called.stdout)
    except ValueError:
        return called.returncode or 1
    print(f"{options.name}: {report.get('verdict', report['status'])} ({report.get('trust')}). {report.get('summary', '')}")
    return called.returncode


if __name__ == "__main__":
    sys.exit(main())
