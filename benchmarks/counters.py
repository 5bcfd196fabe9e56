"""What counters cost, section by section, and our counters beside Nsight Compute's, kernel by kernel; prints tables.

    ASSAY=build/release/bin/assay python3 benchmarks/counters.py [--seconds N] [--kernels N] [--from K] [sections] [undisturbed] [ncu]

A GPU and the right to read counters; `ncu` for the last part. N seconds: no other kernel is begun after that.

The same conditions for both: caches emptied before each pass (--cache-control all; ours reads other memory), the clocks as they are
(--clock-control none; ncu would hold them at their base, ours never touches them), inputs restored before each pass. Where they
differ nevertheless, a kernel of one block says what beginning costs, and ncu counts once more with what we do before a pass.
"""

import argparse
import csv
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests", "end_to_end"), os.path.join(ROOT, "tests", "gpu")]
os.environ.setdefault("ASSAY", os.path.join(ROOT, "build", "release", "bin", "assay"))
from assay_client import Server, tensor  # noqa: E402
from deviation import L2_HITS, WRITES, explain, mean, median, spread  # noqa: E402
from figures import tell  # noqa: E402

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch_once.py")
# Ours, section and name; theirs.
COUNTERS = {
    ("roofline_metrics", "dram_bytes_sum"): "dram__bytes.sum",
    ("roofline_metrics", "dram_bytes_read_sum"): "dram__bytes_read.sum",
    ("roofline_metrics", "dram_bytes_write_sum"): "dram__bytes_write.sum",
    ("speed_of_light", "dram_throughput_pct"): "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ("speed_of_light", "sm_throughput_pct"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("detailed_metrics", "l1_hit_rate_pct"): "l1tex__t_sector_hit_rate.pct",
    ("detailed_metrics", "l2_hit_rate_pct"): "lts__t_sector_hit_rate.pct",
    ("detailed_metrics", "warp_occupancy_pct"): "sm__warps_active.avg.pct_of_peak_sustained_active",
    ("detailed_metrics", "instructions_per_cycle"): "sm__inst_executed.avg.per_cycle_active",
    ("access_pattern_metrics", "shared_bank_conflicts_load_sum"): "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    ("timing_metrics", "gpc_cycles_elapsed_max"): "gpc__cycles_elapsed.max",
    ("timing_metrics", "gpu_time_duration_sum"): "gpu__time_duration.sum",
}
TIMES = {name for section, name in COUNTERS if section == "timing_metrics"}
MAP = "__global__ void k(const float* a, const float* b, float* c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) %s }"
TILED = """__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float s[16][16 + %d], t[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[x][y] = a[row * n + k + x]; t[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += s[i][y] * t[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}"""
REDUCE = """__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += a[i] * b[i];
  s[threadIdx.x] = sum;
  for (int d = 128; d > 0; d /= 2) { __syncthreads(); if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; }
  if (threadIdx.x == 0) c[blockIdx.x] = s[0];
}"""


def flat(source, n, extent=None, grid=None):
    return {"source": source, "extents": [extent or n, extent or n, extent or n], "n": n, "grid": [grid or n // 256, 1, 1], "block": [256, 1, 1]}


KERNELS = {
    "add, 16 M": flat(MAP % "c[i] = a[i] + b[i];", 1 << 24),
    "copy, 64 M": flat(MAP % "c[i] = a[i];", 1 << 26),
    "add, 1 M": flat(MAP % "c[i] = a[i] + b[i];", 1 << 20),
    "300 multiply-adds": flat(MAP % "{ float s = 0; for (int k = 0; k < 300; ++k) s = fmaf(s, 0.5f, a[i]); c[i] = s; }", 1 << 22),
    "double precision": flat(MAP % "{ double s = b[i]; for (int k = 0; k < 100; ++k) s = s * 0.5 + a[i]; c[i] = (float)s; }", 1 << 22),
    "sines": flat(MAP % "{ float s = a[i]; for (int k = 0; k < 20; ++k) s = __sinf(s) + b[i]; c[i] = s; }", 1 << 22),
    "stride of 32": flat(MAP % "c[i] = a[(i & 31) * (n / 32) + i / 32];", 1 << 22),
    "sum": flat(REDUCE, 1 << 24, grid=1056),
    "tiled product, 1024, with bank conflicts": {"source": TILED % 0, "extents": [1 << 20] * 3, "n": 1024, "grid": [64, 64, 1], "block": [16, 16, 1]},
    "tiled product, 1024": {"source": TILED % 1, "extents": [1 << 20] * 3, "n": 1024, "grid": [64, 64, 1], "block": [16, 16, 1]},
}


# What our passes begin behind.
READER = """__global__ void read_over(const float4* from, float* to, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = __ldcg(from + i); sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 1234.5f) to[0] = sum;
}"""
READ_BYTES = 120 << 20
GUARD_BYTES = 512
# Reads 128 MiB and writes a number of each block: what is written to memory beside those was written by somebody else.
READER_OF_MUCH, READER_WRITES_BYTES = KERNELS["sum"], 4 * 1056
# Of one block: both sides' count of it says what beginning costs.
SMALLEST = flat(MAP % "c[i] = a[i] + b[i];", 256)

ALONE = ("speed_of_light", "detailed_metrics", "memory_metrics", "compute_metrics", "pipeline_metrics", "stall_metrics",
         "scheduler_metrics", "access_pattern_metrics", "l2_metrics", "roofline_metrics", "timing_metrics", "occupancy_metrics")
# Who asked the L2.
SECTORS = {("", "hits"): "lts__t_sectors_lookup_hit.sum", ("", "misses"): "lts__t_sectors_lookup_miss.sum",
           ("", "own_hits"): "lts__t_sectors_srcunit_tex_lookup_hit.sum",
           ("", "own_misses"): "lts__t_sectors_srcunit_tex_lookup_miss.sum"}
OUR_SECTORS = {"hits": "l2_hits_sum", "misses": "l2_misses_sum", "own_hits": "l2_sm_hits_sum", "own_misses": "l2_sm_misses_sum"}
READINGS = 3  # of each side: neither repeats itself exactly
MORE_ROUNDS = 2  # where three do not tell: how far a side differs from itself, they show too little of


def dimensions(values):
    return dict(zip("xyz", values))


def asked(one, sections):
    a, b, c = one["extents"]
    contract = {"args": [tensor("a", a, kind="uniform", seed=1), tensor("b", b, kind="uniform", seed=2), tensor("c", c, role="output"),
                         {"name": "n", "type": "int", "value": one["n"]}],
                "launch": {"grid": dimensions(one["grid"]), "block": dimensions(one["block"])}}
    return {"kernel": {"source_code": one["source"], "kernel_type": "cuda", "io": contract}, "device_metrics": sections, "num_trials": 10,
            "validation_trials": 1, "detail": "full"}


def counted(server, one, sections):
    """The report, and what was counted."""
    report = server.call("evaluate", asked(one, sections))["structuredContent"]
    assert report["verdict"] == "passed", report["summary"]
    return report, report["kernel_exec_result"]["metadata"]["device_metrics"]["original_device_metrics"]


def ours(server, one):
    readings = []
    for _ in range(READINGS):
        report, metrics = counted(server, one, sorted({section for section, _ in COUNTERS}))
        readings.append({name: metrics[section].get(name) for section, name in COUNTERS})
    told = server.answer(server.send("resources/read", {"uri": f"assay://jobs/{report['job_id']}/ptx"}))
    return readings, told["result"]["contents"][0]["text"]


def our_sectors(server, one):
    counts = [counted(server, one, ["l2_metrics"])[1]["l2_metrics"] for _ in range(READINGS)]
    return [{name: count[key] for name, key in OUR_SECTORS.items()} for count in counts]


def number(text):
    """None where ncu has none: "n/a", "nan"."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if value == value else None


def entry_of(ptx):
    return ptx.split(".entry ")[1].split("(")[0].strip()


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def laid_out_as_ours(one):
    """Its buffers in one, as src/engine/contract/layout.cc lays tensors out: between guards, each at a multiple of 512 bytes."""
    arguments, end = [], 0
    for extent in one["extents"]:
        arguments.append({"bytes": 4 * extent, "offset": end + GUARD_BYTES})
        end = (end + 2 * GUARD_BYTES + 4 * extent + GUARD_BYTES - 1) // GUARD_BYTES * GUARD_BYTES
    return {"arguments": arguments, "arena_bytes": end}


def theirs(ptx, one, folder, before=(), cache_control="all", own_stream=False, counters=None, as_ours=False):
    """What ncu counts of every launch but the first of each kernel that has the name of this one."""
    counters = counters or COUNTERS
    program = written(folder, "k.ptx", ptx)
    wanted = {"entry": entry_of(ptx), "grid": one["grid"], "block": one["block"], "launches": 1 + READINGS, "before": list(before),
              "own_stream": own_stream}
    buffers = laid_out_as_ours(one) if as_ours else {"arguments": [{"bytes": 4 * extent} for extent in one["extents"]]}
    wanted |= {**buffers, "arguments": [*buffers["arguments"], {"int": one["n"]}]}
    ran = subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
                          "--cache-control", cache_control, "--replay-mode", "kernel", "--kernel-name-base", "mangled",
                          "--kernel-name", wanted["entry"], "--metrics", ",".join(counters.values()),
                          sys.executable, LAUNCHER, program, written(folder, "k.json", json.dumps(wanted))],
                         capture_output=True, text=True, timeout=120, check=False)
    lines = [line for line in ran.stdout.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        raise RuntimeError((ran.stdout + ran.stderr)[-1500:])
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))[1:]  # the first has the units
    own = 1 + sum("program" not in step and "entry" in step for step in before)
    return [{name: number(row.get(counter)) for (_, name), counter in counters.items()} for row in rows[own - 1::own][1:]]


def both_sides(server, one, folder):
    mine, ptx = ours(server, one)
    return mine, theirs(ptx, one, folder)


def ptx_of(server, source, args, grid, block):
    one = {"args": args, "launch": {"grid": {"x": grid}, "block": {"x": block}}}
    report = server.call("evaluate", {"kernel": {"source_code": source, "kernel_type": "cuda", "io": one}, "num_trials": 1,
                                      "validation_trials": 1})["structuredContent"]
    assert report["verdict"] == "passed", report["summary"]
    told = server.answer(server.send("resources/read", {"uri": f"assay://jobs/{report['job_id']}/ptx"}))
    return told["result"]["contents"][0]["text"]


class OurConditions:
    """What ncu counts of a kernel that begins as in one of our passes, restored and behind reads of other memory, and otherwise.

    In one pass for each counter: behind another of the same kernel it would find what that left in the caches.
    """

    def __init__(self, server):
        self.reader = ptx_of(server, READER, [tensor("from", 4096, kind="uniform", seed=1), tensor("to", 1, role="inout"),
                                              {"name": "n", "type": "int", "value": 1024}], 1, 256)

    def readings(self, ptx, one, folder, names):
        """{what the kernel began behind: readings}"""
        read = {"program": written(folder, "reader.ptx", self.reader), "entry": entry_of(self.reader), "grid": [528, 1, 1],
                "block": [512, 1, 1], "arguments": [{"bytes": READ_BYTES}, {"bytes": 4}, {"int": READ_BYTES // 16}]}
        steps = [{"restore": True}, read]
        found = {}
        # Both times come of one pass.
        groups = [{key: counter for key, counter in COUNTERS.items() if key[0] == "timing_metrics"}] if TIMES & names else []
        groups += [{key: counter} for key, counter in COUNTERS.items() if key[1] in names - TIMES]
        for group in groups:
            for how, before, control, own_stream, as_ours in (
                    ("reads of other memory", steps, "none", False, False), ("the same in a stream of its own", steps, "none", True, False),
                    ("its own last run", (), "none", False, False), ("empty caches, laid out as ours", (), "all", False, True),
                    ("reads of other memory, laid out as ours", steps, "none", False, True)):
                readings = theirs(ptx, one, folder, before, control, own_stream, group, as_ours)
                together = found.setdefault(how, [{} for _ in readings])
                for into, reading in zip(together, readings):
                    into.update(reading)
        return found


def cost_of_sections(server):
    """One evaluation with each section alone: the first makes a process ready that reads the chip's metrics for the others."""
    one = KERNELS["add, 16 M"]
    counted(server, one, ["timing_metrics"])
    print("| section | passes | planned beside others | set-up, ms | counting, ms | ms a pass |\n|---|---|---|---|---|---|")
    _, together = counted(server, one, "all")
    for section in ALONE:
        _, metrics = counted(server, one, [section])
        passes, counting = metrics.get("passes", 0), metrics.get("counting_ms", 0)
        planned = together.get("sections", {}).get(section, {}).get("passes")
        print(f"| {section} | {passes} | {planned} | {metrics.get('setup_ms', 0):.0f} | {counting:.0f} | "
              f"{counting / passes if passes else 0:.1f} |", flush=True)
        tell(f"section {section}", f"{passes} passes, {metrics.get('setup_ms', 0) + counting:.0f} ms")
    for what, sections in (("default sections", "on"), ("all sections", "all")):
        _, metrics = counted(server, one, sections)
        parts = [metrics["runner_ms"], metrics["setup_ms"], metrics["counting_ms"]]
        tell(what, f"{metrics['passes']} passes, {' + '.join(f'{part:.0f}' for part in parts)} ms",
             "1200 ms" if sections == "on" else "", sum(parts) <= 1200 if sections == "on" else None)


def times_beside_counters(server, kernels):
    """A kernel's time where a process that will count is made ready meanwhile, and where not: turn by turn, the difference of medians."""
    deviations = []
    for title, one in kernels:
        times = {"off": [], "on": []}
        for which in ("off", "on", "on", "off") * 2:
            report = server.call("evaluate", {**asked(one, which), "num_trials": 100})["structuredContent"]
            assert report["verdict"] == "passed", report["summary"]
            times[which].append(report["timing"]["cold"]["median_ns"] / 1e3)
        alone, beside = statistics.median(times["off"]), statistics.median(times["on"])
        deviations.append(abs(beside / alone - 1))
        print(f"  {title}: {alone:.2f} us, where it will be counted {beside:.2f} ({beside / alone - 1:+.2%}); each {times}", flush=True)
    tell(f"a kernel's time beside counters that are made ready, {len(deviations)} kernels",
         f"median {statistics.median(deviations):.2%} off, worst {max(deviations):.2%}")


def compare_with_ncu(server, kernels, until):
    """Prints each value of each kernel, and why it deviates if it does."""
    names = [name for _, name in COUNTERS]
    print("| kernel | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    deviations, reasons, behind = {name: [] for name in names}, [], {}
    conditions = OurConditions(server)
    with tempfile.TemporaryDirectory() as folder:
        try:
            smallest, much = (both_sides(server, one, folder) for one in (SMALLEST, READER_OF_MUCH))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"ncu does not count here: {error}", flush=True)
            return
        reader = (*much, READER_WRITES_BYTES)
        print("one block of 256 threads, ours / ncu: " + ", ".join(
            f"{name} {median(smallest[0], name):.0f} / {median(smallest[1], name):.0f}" for name in sorted(TIMES)))
        print(f"a kernel that writes {READER_WRITES_BYTES} bytes, written to memory, ours / ncu: "
              + " / ".join(f"{mean(side, WRITES):.0f}" for side in reader[:2]), flush=True)
        for title, one in kernels:
            if time.monotonic() > until:
                print(f"no time for {title} and those behind it")
                break
            mine, ptx = ours(server, one)
            try:
                # Of two processes: what one of them counts agrees better with itself than with what the next one does.
                other = [reading for _ in range(2) for reading in theirs(ptx, one, folder)]
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{title}: ncu did not count: {error}", flush=True)
                continue
            cells = []
            for _ in range(MORE_ROUNDS):
                if all(explain(name, mine, other, reader, None, smallest)[1] != "unexplained" for name in names):
                    break
                mine += ours(server, one)[0]
                other += theirs(ptx, one, folder)
            open_names = {name for name in names if explain(name, mine, other, reader, None, smallest)[1] == "unexplained"}
            if open_names:
                behind[title] = conditions.readings(ptx, one, folder, open_names)
            sectors = (our_sectors(server, one), theirs(ptx, one, folder, counters=SECTORS)) if L2_HITS in open_names else None
            if sectors:
                print(f"  {title}, sectors, ours and ncu's: {sectors}", flush=True)
            for name in names:
                found, why = explain(name, mine, other, reader, behind.get(title), smallest, sectors)
                if why == "unexplained":
                    print(f"  {title}, {name}: " + " / ".join(str([reading[name] for reading in side]) for side in (mine, other)))
                cells.append(" / ".join("missing" if side[0][name] is None else f"{side[0][name]:.5g}" for side in (mine, other)))
                if found is not None:
                    deviations[name].append((found, spread(name, other)))
                if why not in ("", "nothing to compare"):
                    reasons.append((title, name, found, why))
            print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    for what, at in (("median and worst deviation", 0), ("of ncu from itself", 1)):
        print(f"| {what} | " + " | ".join(
            f"{statistics.median(v[at] for v in values):.1%}, {max(v[at] for v in values):.1%}" if values else ""
            for values in deviations.values()) + " |")
    print("\n| beyond 2 % | value | deviation | why |\n|---|---|---|---|")
    for title, name, found, why in reasons:
        print(f"| {title} | {name} | {'' if found is None else f'{found:.1%}'} | {why} |")
    for title, readings in behind.items():
        for how, counted_there in readings.items():
            print(f"{title}, behind {how}, ncu: " + ", ".join(
                f"{name} {mean(counted_there, name)}" for name in names if mean(counted_there, name) is not None))
    for name, values in deviations.items():
        if values:
            unexplained = [title for title, which, _, why in reasons if which == name and why == "unexplained"]
            tell(f"{name} beside ncu, {len(values)} kernels",
                 f"median {statistics.median(v[0] for v in values):.1%}, worst {max(v[0] for v in values):.1%}"
                 + (f", unexplained: {', '.join(unexplained)}" if unexplained else ""), "2 % or explained", not unexplained)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="sections, undisturbed, ncu; all if none is named")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--kernels", type=int, default=len(KERNELS), help="how many of them, in their order")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first that is looked at, counted from 0")
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.seconds
    chosen = list(KERNELS.items())[arguments.first:arguments.first + arguments.kernels]
    known = ("sections", "undisturbed", "ncu")
    parts = arguments.parts or known
    if unknown := set(parts) - set(known):
        parser.error(f"no such part: {', '.join(unknown)}")
    with Server() as server:
        if "sections" in parts:
            cost_of_sections(server)
        if "undisturbed" in parts:
            times_beside_counters(server, chosen)
        if "ncu" in parts and shutil.which("ncu"):
            compare_with_ncu(server, chosen, until)
        elif "ncu" in parts:
            print("no ncu here: nothing was compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
