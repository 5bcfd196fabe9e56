"""On a machine with a GPU: what a warm evaluation costs, how alike a kernel is to itself, which known differences are
found, and how soon the device works again after a fault. Prints figures; benchmarks/RESULTS.md keeps dated ones.

    ASSAY=build/release/bin/assay python3 benchmarks/gpu.py [PART…]      parts: the functions that main names
"""

import collections
import concurrent.futures
import contextlib
import functools
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests", "end_to_end"), os.path.join(ROOT, "tests", "gpu")]
os.environ.setdefault("ASSAY", os.path.join(ROOT, "build", "release", "bin", "assay"))
from assay_client import ADD, Server, contract, kernel  # noqa: E402
from figures import tell  # noqa: E402
from http_service import HttpService, token_files  # noqa: E402

MILLION = 1 << 20
IDLE_S = 5
REST_S = 130
CLIENTS, CLIENTS_S = 4, 6
HONEST_TIMES = 600
# Work per element: from kernels of some microseconds to some milliseconds.
LOOP = """__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
  for (int k = 0; k < %d; ++k) s = fmaf(s, 0.5f, a[i %% n]);
  if (i < n) out[i] = a[i] + b[i] + (s == 1234.5f ? 1.0f : 0.0f);
}
"""
# Unrolled, 1 % more turns may be less work: 2,020 were 1 % faster than 2,000.
TURN_BY_TURN = LOOP.replace("  for", "#pragma unroll 1\n  for")
# The same with a load in each turn, of eight places: what waits for a cache, each turn as long as the one before.
LOADS = TURN_BY_TURN.replace("a[i %% n]", "a[(i + (k & 7) * 4096) %% n]")
# Of other kinds, which have no loop to be longer: what waits for memory, in an order and out of one, and for its block.
STREAM = ADD
SCATTERED = ADD.replace("a[i]", "a[(unsigned)i * 33u % (unsigned)n]")
BLOCK_SUM = ADD.replace("  if (i < n)", """  __shared__ float s[256];
  s[threadIdx.x % 256] = i < n ? a[i] : 0.0f;
  for (int d = 128; d > 0; d /= 2) { __syncthreads(); if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; }
  __syncthreads();
  if (i < n)""").replace("a[i] + b[i];", "b[i] + s[0];")


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def evaluate(server, source, n, **more):
    begin = time.monotonic()
    report = server.call("evaluate", {"kernel": kernel(source, contract(n=n)), **more})["structuredContent"]
    return report, (time.monotonic() - begin) * 1e3


def full_stages(server, report):
    return server.call("get_job", {"job_id": report["job_id"], "detail": "full"})["structuredContent"]["stages"]


def compare(server, reference, candidate, n):
    return server.call("compare", {"ref_kernel": kernel(reference, contract(n=n)),
                                   "custom_kernel": kernel(candidate, contract(n=n))})["structuredContent"]


def apart(server, runs):
    """Medians of what lies around a job's stages and between them, in ms, by the journal's clock."""
    found = collections.defaultdict(list)
    with contextlib.closing(sqlite3.connect(f"file:{server.state}/journal.db?mode=ro", uri=True)) as journal:
        for report, begin_ns, end_ns in runs:
            job = (report["job_id"],)
            created_ns, ended_ns = journal.execute("SELECT created_ns, updated_ns FROM job WHERE id = ?", job).fetchone()
            found["request"].append(created_ns - begin_ns)
            last_ns = created_ns
            for name, started_ns, ms in journal.execute("SELECT name, started_ns, elapsed_ms FROM stage WHERE job = ? ORDER BY seq", job):
                found[f"before {name}"].append(started_ns - last_ns)
                last_ns = started_ns + ms * 1e6
            found["answer"].append(end_ns - ended_ns)
    return {name: round(statistics.median(values) * 1e-6, 2) for name, values in found.items()}


def warm_evaluations(server):
    evaluate(server, ADD, MILLION)
    begun_ns = {}

    def timed(source):
        begin_ns = time.time_ns()
        report, ms = evaluate(server, source, MILLION)
        begun_ns[report["job_id"]] = begin_ns, time.time_ns()
        return report, ms

    fresh = [timed(f"{ADD}\n// {time.time()} {i}") for i in range(12)]
    cached = [timed(ADD) for _ in range(40)]
    for what, runs, goal_ms in (("new source", fresh, 60), ("cached compile", cached, 20)):
        assert all(report["verdict"] == "passed" for report, _ in runs)
        stages = {stage["name"]: round(stage["ms"]) for stage in runs[-1][0]["stages"]}
        rest = statistics.median(ms - sum(s["ms"] for s in report["stages"]) for report, ms in runs)
        bodies = [{stage["name"]: stage["body"] for stage in full_stages(server, report) if "body" in stage} for report, _ in runs]
        compiled = {"stage": [stage["ms"] for report, _ in runs for stage in report["stages"] if stage["name"] == "compiled"],
                    "NVRTC": [body["compiled"].get("compile_ms", 0.0) for body in bodies]}
        print(f"  around the stages: {apart(server, [(report, *begun_ns[report['job_id']]) for report, _ in runs])}")
        print(f"  beside the stages: {rest:.1f} ms; compiled, p50: " +
              ", ".join(f"{name} {statistics.median(values):.0f} ms" for name, values in compiled.items()) +
              f"; each: {[round(ms) for _, ms in runs]}")
        p50 = statistics.median(ms for _, ms in runs)
        print(f"  stages: {stages}; of timed: {bodies[-1]['timed']['spent_ms']}; waited {bodies[-1]['prepared'].get('runners_wait_ms')} ms"
              f" for runners, {bodies[-1]['prepared'].get('lease_wait_ms')} ms for the device", flush=True)
        tell(f"warm evaluate, 1 M elements, 100 timed runs, {what}",
             f"p50 {p50:.1f} ms, p95 {percentile([ms for _, ms in runs], 0.95):.1f} ms", f"{goal_ms} ms", p50 <= goal_ms)
    time.sleep(IDLE_S)
    report, ms = evaluate(server, f"{ADD}\n// {time.time()} idle", MILLION)
    assert report["verdict"] == "passed", report["summary"]
    tell(f"the first after {IDLE_S} s of idling", f"{ms:.0f} ms", "100 ms", ms <= 100)


def after_release():
    """The first evaluation once a pool has let everything go, which takes it a quarter of an hour otherwise."""
    with Server("--keep-warm", "1") as server:
        evaluate(server, ADD, MILLION)
        runs = []
        for i in range(4):
            time.sleep(IDLE_S)
            report, ms = evaluate(server, f"{ADD}\n// {time.time()} released {i}", MILLION)
            assert report["verdict"] == "passed" and not report["environment"].get("runner_reused"), report["summary"]
            runs.append(ms)
            body = full_stages(server, report)
            print(f"  released: {ms:.0f} ms; stages {[(s['name'], round(s['ms'])) for s in body]}, "
                  f"prepared {[s['body'] for s in body if s['name'] == 'prepared']}", flush=True)
        tell("the first after all that was ready has been let go", f"p50 {statistics.median(runs):.0f} ms, worst {max(runs):.0f} ms",
             "100 ms", max(runs) <= 100)


def after_rest():
    """The first evaluation once a pool has shrunk to one runner and one referee, as it does two minutes after its last job."""
    with Server() as server:
        for i in range(3):
            evaluate(server, f"{ADD}\n// {time.time()} {i}", MILLION)
        time.sleep(REST_S)
        report, ms = evaluate(server, f"{ADD}\n// {time.time()} rested", MILLION)
        assert report["verdict"] == "passed", report["summary"]
        body = full_stages(server, report)
        print(f"  rested: stages {[(s['name'], round(s['ms'])) for s in body]}, reused {report['environment'].get('runner_reused')}", flush=True)
        tell("the first after two minutes, when a runner and a referee are left", f"{ms:.0f} ms", "100 ms", ms <= 100)


def beside_a_plain_script():
    script = os.path.join(ROOT, "benchmarks", "plain_script.py")
    times, said = [], ""
    for i in range(3):
        begin = time.monotonic()
        ran = subprocess.run([sys.executable, script, f"{time.time()} {i}"], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            said = (ran.stdout + ran.stderr).strip().splitlines()[-1:]
            tell("a plain CuPy script doing the same", f"not run: {said}")
            return
        times.append(time.monotonic() - begin)
        said = ran.stdout.strip()
    tell("a plain CuPy script doing the same, from a fresh process", f"p50 {statistics.median(times) * 1e3:.0f} ms ({said})")


def bare_contexts(seconds=4, at_once=4):
    """What the driver can do at most, with no more than a context in each process: as its users get them, and with one connection."""
    script = os.path.join(ROOT, "benchmarks", "bare_context.py")
    for what, more in (("", {}), (", one connection each", {"CUDA_DEVICE_MAX_CONNECTIONS": "1"})):
        begin, flying, count = time.monotonic(), [], 0
        while flying or time.monotonic() - begin < seconds:
            while len(flying) < at_once and time.monotonic() - begin < seconds:
                flying.append(subprocess.Popen([sys.executable, script], env={**os.environ, **more}))
            ended = flying.pop(0)
            if ended.wait() != 0:
                tell("processes that make a context and end", "not run: no context could be made")
                return
            count += 1
        tell(f"processes that make a context and end{what}, {at_once} at once", f"{count / (time.monotonic() - begin):.1f} a second")


# Device code that allocates leaves what nobody can empty: its runner serves once, and the next has a context of its own.
ALLOCATES = ADD.replace("{", "{ if (n < 0) *(void**)out = malloc(16);", 1)


def asks_until(deadline, caller, source):
    """(evaluations, those in a runner that had served) of one client, which asks again as soon as it has its answer."""
    count, reused = 0, 0
    while time.monotonic() < deadline:
        caller.stdin.write(json.dumps({"kernel": kernel(source(count), contract(n=MILLION))}) + "\n")
        caller.stdin.flush()
        report = json.loads(caller.stdout.readline())
        assert report["verdict"] == "passed", report["summary"]
        count += 1
        reused += bool(report["environment"].get("runner_reused"))
    return count, reused


def several_clients():
    """Four clients of one server, each with a token of its own: what one has made ready serves no other."""
    for what, source, goal in (("cached, runners reused", lambda client, i: ADD, 20),
                               ("new sources, runners reused", lambda client, i: f"{ADD}\n// {time.time()} {client} {i}", 20),
                               ("a fresh context each", lambda client, i: ALLOCATES, 4)):
        with token_files(CLIENTS) as (of_all, files), contextlib.ExitStack() as stack:
            service = stack.enter_context(HttpService("--token-file", of_all))
            callers = [stack.enter_context(subprocess.Popen(
                [os.environ["ASSAY"], "call", "evaluate", "-", "--url", service.url + "/mcp", "--token-file", path],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) for path in files]
            with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
                first = [pool.submit(asks_until, time.monotonic() + 0.01, caller, lambda i: ADD) for caller in callers]
                assert all(ready.result()[0] for ready in first)
                begin = time.monotonic()
                asked = [pool.submit(asks_until, begin + CLIENTS_S, caller, functools.partial(source, which))
                         for which, caller in enumerate(callers)]
                counts = [each.result() for each in asked]
                took = time.monotonic() - begin
            for caller in callers:
                caller.stdin.close()
            count, reused = sum(c for c, _ in counts), sum(r for _, r in counts)
            rate = count / took
            tell(f"{CLIENTS} clients at once, {what}", f"{rate:.1f} evaluations a second, {reused} of {count} in a runner that had served; "
                 f"of each client {', '.join(str(c) for c, _ in counts)}", f"{goal}", rate >= goal)


def alike(server):
    deviations, verdicts, long = [], [], []
    loops = ((1 << 10, 1), (1 << 12, 20), (1 << 14, 10), (1 << 14, 300), (1 << 16, 1000), (1 << 17, 100), (1 << 18, 1),
             (MILLION, 1), (MILLION, 100), (MILLION, 400), (MILLION, 1000), (1 << 22, 1), (1 << 22, 100), (1 << 22, 400),
             (1 << 23, 300), (1 << 23, 1000), (1 << 24, 1), (1 << 24, 1000), (1 << 24, 3000), (1 << 24, 9000))
    others = ((1 << 12, STREAM), (1 << 26, STREAM), (1 << 20, SCATTERED), (1 << 24, SCATTERED), (1 << 18, BLOCK_SUM), (1 << 25, BLOCK_SUM))
    for n, source in (*((n, LOOP % turns) for n, turns in loops), *others):
        report = compare(server, source, source + "// again", n)
        assert report["verdict"] == "passed", report["summary"]
        speedup = report["speedup"]
        median_us = report["timing"]["cold"]["median_ns"] / 1e3
        deviations.append(abs(speedup["ratio"] - 1))
        verdicts.append(speedup["verdict"])
        if median_us >= 10:
            long.append(abs(speedup["ratio"] - 1))
        print(f"  itself: {median_us:9.2f} us  ratio {speedup['ratio']:.5f}  [{speedup['low']:.5f}, {speedup['high']:.5f}]"
              f"  {speedup['verdict']} ({speedup['basis']})", flush=True)
    same = verdicts.count("indistinguishable")
    tell(f"a kernel against itself, {len(verdicts)} kernels", f"indistinguishable {same} of {len(verdicts)}", "98 %",
         same >= 0.98 * len(verdicts))
    above = percentile(long, 0.95)
    tell(f"deviation of that ratio, {len(long)} kernels of at least 10 us",
         f"p95 {above:.4f} (of all {percentile(deviations, 0.95):.4f})", "0.005", above <= 0.005)


def known_difference(server, share, least_us):
    """Kernels whose time is their loop's: so much more of it is so much slower."""
    sizes = ((1 << 14, 200), (1 << 14, 400), (1 << 14, 800), (1 << 16, 200), (1 << 16, 400),
             (1 << 14, 2000), (1 << 16, 1000), (1 << 17, 1000), (1 << 18, 500), (1 << 18, 1000), (1 << 19, 400), (1 << 19, 1000),
             (MILLION, 400), (MILLION, 600), (MILLION, 1000), (MILLION, 2000), (1 << 21, 300), (1 << 21, 1000), (1 << 22, 400),
             (1 << 22, 700), (1 << 22, 2000), (1 << 23, 300), (1 << 23, 1000), (1 << 24, 300), (1 << 24, 1000))
    loads = ((1 << 18, 400), (MILLION, 100), (MILLION, 300), (1 << 22, 100), (1 << 22, 200))
    found, missed = 0, []
    for n, loops, source in (*((*size, TURN_BY_TURN) for size in sizes), *((*size, LOADS) for size in loads)):
        report = compare(server, source % loops, source % round(loops * (1 + share)), n)
        speedup, median_us = report["speedup"], report["timing"]["cold"]["median_ns"] / 1e3
        if median_us < least_us:
            continue
        found += speedup["verdict"] == "slower"
        said = f"{speedup['verdict']} {speedup['ratio']:.4f} at {median_us:.0f} us"
        print(f"  {share:.0%}: {said} [{speedup['low']:.5f}, {speedup['high']:.5f}] ({speedup['basis']})", flush=True)
        if speedup["verdict"] != "slower":
            missed.append(said)
    tried = found + len(missed)
    tell(f"{share:.0%} more work in the loop, kernels of {least_us} us and more", "; ".join([f"slower {found} of {tried}", *missed]),
         "95 %", tried > 0 and found >= 0.95 * tried)


def five_percent(server):
    known_difference(server, 0.05, 4)


def two_percent(server):
    known_difference(server, 0.02, 10)


def one_percent(server):
    known_difference(server, 0.01, 50)


def honest_kernels(server):
    """Kernels of some microseconds that do what they say, over and over: a host that is late at the wrong moment accuses none of them."""
    quick = ((TURN_BY_TURN % 100, 1 << 14), (ADD, 1 << 14), (BLOCK_SUM, 1 << 16), (ADD, MILLION))
    accused, jobs = [], set()
    for i in range(HONEST_TIMES):
        source, n = quick[i % len(quick)]
        # Every second one beside itself: whoever is compared is looked at more often, and asked more.
        beside = {"ref_kernel": kernel(source, contract(n=n))} if i // len(quick) % 2 else {}
        report, _ = evaluate(server, source, n, num_trials=(10, 40, 100)[i // len(quick) % 3], **beside)
        if (report["verdict"], report["trust"]) != ("passed", "verified"):
            accused.append(report["summary"])
            print(f"  accused: {n} elements, {report['summary'][:300]}"
                  f" {[item for item in report['evidence'] if item['result'] != 'agrees']}", flush=True)
        jobs.add(report["job_id"])
    tell(f"honest kernels of some microseconds, evaluated {len(jobs)} times, half of them beside themselves", f"{len(accused)} accused", "none", not accused)


def after_faults(server):
    wild = ADD.replace("out[i]", "out[i + (1ll << 34)]")
    times = []
    for _ in range(5):
        report, _ = evaluate(server, wild, 1000)
        assert report["verdict"] == "crashed", report["summary"]
        good, ms = evaluate(server, ADD, 1000, until="validated")
        assert good["verdict"] == "passed"
        times.append(ms)
    tell("next job after an illegal address", f"p50 {statistics.median(times):.0f} ms, worst {max(times):.0f} ms", "1000 ms", max(times) <= 1000)


def sweeps(server):
    """Variants of one kernel beside a reference, of which most are far from the best: what a sweep of them takes."""
    source = ADD.replace("  if (i < n)", "  float s = 0; for (int j = 0; j < LOOP; ++j) s = fmaf(s, 0.5f, a[i % n]);\n  if (i < n)")
    source = source.replace("a[i] + b[i];", "a[i] + b[i] + (s == 1234.5f);")
    for loops in ([1, 2, 3, 500, 600, 700, 800, 900], [1, 2, 3] + [500 + 10 * i for i in range(29)]):
        begin = time.monotonic()
        report = server.call("sweep", {"kernel": kernel(source, contract(n=MILLION)), "ref_kernel": kernel(ADD, contract(n=MILLION)),
                                       "parameters": {"LOOP": loops}, "budget_s": 60, "wait_s": 120})["structuredContent"]
        took_s = time.monotonic() - begin
        assert report["verdict"] == "passed", report["summary"]
        print(f"  {report['summary']}")
        tell(f"a sweep of {len(loops)} variants of 5 to 20 us beside a reference, compiled anew",
             f"{took_s:.1f} s", "60 s", took_s <= 60)


WITH_A_SERVER = (warm_evaluations, after_faults, honest_kernels, alike, five_percent, two_percent, one_percent, sweeps)
ALONE = (after_release, after_rest, beside_a_plain_script, bare_contexts, several_clients)


def main():
    chosen = sys.argv[1:] or [part.__name__ for part in (*WITH_A_SERVER, *ALONE)]
    unknown = set(chosen) - {part.__name__ for part in (*WITH_A_SERVER, *ALONE)}
    if unknown:
        print(f"there is no part {' '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    with Server() as server:
        devices = server.call("check_capabilities")["structuredContent"]["devices"]
        gpu = next((device for device in devices if device["kind"] == "gpu"), None)
        if gpu is None:
            print("no GPU here: nothing was measured")
            return 0
        print(f"{gpu['model']}, CUDA {gpu['driver']}")
        for part in WITH_A_SERVER:
            if part.__name__ in chosen:
                part(server)
    for part in ALONE:
        if part.__name__ in chosen:
            part()
    return 0


if __name__ == "__main__":
    sys.exit(main())
