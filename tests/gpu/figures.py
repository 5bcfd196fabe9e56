"""Figures that checks and benchmarks tell beside their own lines: a name, what was measured, the goal and whether it is
met. tests/gpu/run.py gathers them into one table; without it they are printed and nothing else."""

import json
import os
import sys


def tell(name, figure, goal="", met=None):
    """`met`: None where there is no goal to miss."""
    print(f"figure: {name}: {figure}" + (f" (goal {goal}: {'met' if met else 'NOT MET'})" if goal else ""),
          file=sys.stderr, flush=True)
    place = os.environ.get("ASSAY_FIGURES")
    if place:
        with open(place, "a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "figure": figure, "goal": goal, "met": met}) + "\n")
