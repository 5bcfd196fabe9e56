#!/usr/bin/env python3
"""Figures of compile_kernel through the real door: from the cache, small and new, heavy headers and new.

usage: bench_compile [PATH/TO/assay]      (default: the assay beside this file)

Medians of several runs; nothing here passes or fails. Each line names its goal. What the compiler itself says it
took stands beside the round trip: the difference is ours.
"""

import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from connection import ASSAY, Server, ms, quantiles  # noqa: E402

SMALL = """__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + %d.0f;
}
"""
HEAVY = """#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;
__global__ void product(const __half* a, const __half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, %d.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  cg::this_thread_block().sync();
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
"""


def compiled(server, source, cached):
    report, took = server.call("compile_kernel", {"kernel": {"source_code": source, "kernel_type": "cuda"}})
    assert report["cached"] == cached, report["cached"]
    return took, report["compile_ms"] / 1e3


def series(server, source, first, count):
    """Sources that differ in one constant, so that none is in the cache."""
    runs = [compiled(server, source % (first + i), False) for i in range(count)]
    return [took for took, _ in runs], [compiler for _, compiler in runs]


def tell(what, took, compiler, goal):
    print(f"{what}: {quantiles(took)} (goal p50 {goal}); the compiler alone: p50 {ms(statistics.median(compiler))}")


def main():
    print(f"{ASSAY}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as state:
        server = Server(state)
        server.ask("server/discover")
        print(f"first compile of a server: {ms(compiled(server, SMALL % 0, False)[0])}")
        cached = [compiled(server, SMALL % 0, True)[0] for _ in range(200)]
        print("cached compile_kernel:", quantiles(cached), "(goal p50 5 ms)")
        tell("new small kernel", *series(server, SMALL, 1, 40), "60 ms")
        print(f"first with cooperative_groups, fp16 and mma: {ms(compiled(server, HEAVY % 0, False)[0])}")
        tell("new kernel with those headers", *series(server, HEAVY, 1, 20), "250 ms")
        server.close()


if __name__ == "__main__":
    main()
