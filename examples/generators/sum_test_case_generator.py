"""A performance test generator: the six functions, no main block. It runs on a CPU."""

import json
import os
import time


def setup():
    return {"numbers": list(range(10_000))}


def experiment(data):
    return sum(number * number for number in data["numbers"])


def store_result(result, filepath):
    with open(filepath, "w", encoding="utf-8") as file:
        json.dump(result, file)


def load_result(filepath):
    with open(filepath, encoding="utf-8") as file:
        return json.load(file)


def check_equivalence(current_result, reference_result):
    assert current_result == reference_result, f"{current_result} is not {reference_result}"


def run_test(eqcheck: bool = False, reference: bool = False, prefix: str = "") -> float:
    data = setup()
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        result = experiment(data)
        times.append((time.perf_counter() - begun) * 1000)
    file = f"{prefix}_{os.environ.get('PROB_IMPL_TAG', 'child')}_reference.json"
    if reference:
        store_result(result, file)
    if eqcheck:
        check_equivalence(result, load_result(file))
    average_ms = sum(times) / len(times)
    times.sort()
    print(json.dumps({"impl_tag": os.environ.get("PROB_IMPL_TAG", "child"), "commit_hash": os.environ.get("PROB_COMMIT_HASH", "unset"),
                      "device": "cpu", "dtype": "int64", "avg_ms": average_ms, "p50_ms": times[10], "p95_ms": times[19],
                      "eq_level": os.environ.get("PROB_EQ_LEVEL", "exact")}))
    return average_ms
