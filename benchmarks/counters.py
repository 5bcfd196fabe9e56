"""Our hardware counters beside Nsight Compute's, kernel by kernel; prints a table.

    ASSAY=build/release/bin/assay python3 benchmarks/counters.py       (a GPU, `ncu` and the right to read counters)
"""

import csv
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(ROOT, "tests", "end_to_end"), os.path.join(ROOT, "tests", "gpu")]
os.environ.setdefault("ASSAY", os.path.join(ROOT, "build", "release", "bin", "assay"))
from assay_client import Server, tensor  # noqa: E402
from figures import tell  # noqa: E402

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch_once.py")
# Ours, section and name; theirs.
COUNTERS = {
    ("roofline_metrics", "dram_bytes_sum"): "dram__bytes.sum",
    ("speed_of_light", "dram_throughput_pct"): "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ("speed_of_light", "sm_throughput_pct"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("detailed_metrics", "l1_hit_rate_pct"): "l1tex__t_sector_hit_rate.pct",
    ("detailed_metrics", "l2_hit_rate_pct"): "lts__t_sector_hit_rate.pct",
    ("detailed_metrics", "warp_occupancy_pct"): "sm__warps_active.avg.pct_of_peak_sustained_active",
    ("detailed_metrics", "instructions_per_cycle"): "sm__inst_executed.avg.per_cycle_active",
    ("access_pattern_metrics", "shared_bank_conflicts_load_sum"): "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    ("timing_metrics", "gpc_cycles_elapsed_max"): "gpc__cycles_elapsed.max",
}
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


def dimensions(values):
    return dict(zip("xyz", values))


def ours(server, one):
    a, b, c = one["extents"]
    contract = {"args": [tensor("a", a, kind="uniform", seed=1), tensor("b", b, kind="uniform", seed=2), tensor("c", c, role="output"),
                         {"name": "n", "type": "int", "value": one["n"]}],
                "launch": {"grid": dimensions(one["grid"]), "block": dimensions(one["block"])}}
    sections = sorted({section for section, _ in COUNTERS})
    report = server.call("evaluate", {
        "kernel": {"source_code": one["source"], "kernel_type": "cuda", "io": contract}, "device_metrics": sections, "num_trials": 10,
        "validation_trials": 1, "detail": "full"})["structuredContent"]
    assert report["verdict"] == "passed", report["summary"]
    metrics = report["kernel_exec_result"]["metadata"]["device_metrics"]["original_device_metrics"]
    told = server.answer(server.send("resources/read", {"uri": f"assay://jobs/{report['job_id']}/ptx"}))
    return {name: metrics[name[0]].get(name[1]) for name in COUNTERS}, told["result"]["contents"][0]["text"]


def theirs(ptx, one, folder):
    program, specification = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.json")
    with open(program, "w", encoding="utf-8") as file:
        file.write(ptx)
    entry = ptx.split(".entry ")[1].split("(")[0].strip()
    with open(specification, "w", encoding="utf-8") as file:
        json.dump({"entry": entry, "grid": one["grid"], "block": one["block"],
                   "arguments": [*({"bytes": 4 * extent} for extent in one["extents"]), {"int": one["n"]}]}, file)
    ran = subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--launch-skip", "1", "--metrics",
                          ",".join(COUNTERS.values()), sys.executable, LAUNCHER, program, specification],
                         capture_output=True, text=True, timeout=120, check=False)
    lines = [line for line in ran.stdout.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        raise RuntimeError((ran.stdout + ran.stderr)[-1500:])
    row = list(csv.DictReader(io.StringIO("\n".join(lines))))[-1]
    return {name: float(row[counter].replace(",", "")) for name, counter in COUNTERS.items()}


def main():
    if not shutil.which("ncu"):
        print("no ncu here: nothing was compared")
        return 0
    print("| kernel | " + " | ".join(name for _, name in COUNTERS) + " |\n|---|" + "---|" * len(COUNTERS))
    deviations, spread = {name: [] for name in COUNTERS}, {name: [] for name in COUNTERS}
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        for title, one in KERNELS.items():
            mine, ptx = ours(server, one)
            other = theirs(ptx, one, folder)
            again = theirs(ptx, one, folder)
            cells = []
            for name in COUNTERS:
                if mine[name] is None:
                    cells.append("missing")
                    continue
                cells.append(f"{mine[name]:.5g} / {other[name]:.5g}")
                if other[name]:
                    deviations[name].append(abs(mine[name] / other[name] - 1))
                    spread[name].append(abs(again[name] / other[name] - 1))
            print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    for what, found in (("median and worst deviation", deviations), ("of ncu from itself", spread)):
        print(f"| {what} | " + " | ".join(
            f"{statistics.median(values):.1%}, {max(values):.1%}" if values else "" for values in found.values()) + " |")
    for name, values in deviations.items():
        if values:
            tell(f"{name} beside ncu, {len(values)} kernels", f"median {statistics.median(values):.1%}, worst {max(values):.1%}", "2 %",
                 max(values) <= 0.02)
    return 0


if __name__ == "__main__":
    sys.exit(main())
