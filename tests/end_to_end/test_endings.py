"""Every ending of a kernel goes through one path: its verdict is right, and the next job works."""

import unittest

from assay_client import ADD, FOREVER, Server, contract, tensor


def kernel_of(body, signature="const float* a, const float* b, float* out, int n"):
    return "__global__ void k(%s) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n%s\n}\n" % (
        signature, body)


class Endings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def tearDown(self):
        # Whatever a test did, the next job works.
        self.assertEqual(self.server.evaluate(ADD, validation_trials=1, num_trials=1)["verdict"], "passed")

    def ends(self, source, verdict, **more):
        report = self.server.evaluate(source, **more)
        self.assertEqual(report["verdict"], verdict, report["summary"])
        self.assertEqual(report["status"], "success")
        return report

    def test_a_right_kernel_passes_and_is_verified(self):
        report = self.ends(ADD, "passed", ref=ADD)
        self.assertEqual(report["trust"], "verified")
        self.assertEqual(report["state"], "completed")
        self.assertEqual([s["name"] for s in report["stages"]],
                         ["received", "compiled", "prepared", "validated", "timed", "profiled", "concluded"])
        self.assertEqual(report["timing"]["clock"], "emulated")

    def test_a_wrong_sum_is_wrong_output_with_the_worst_element(self):
        report = self.ends(kernel_of("if (i < n) out[i] = a[i] - b[i];"), "wrong_output", ref=ADD)
        self.assertIn("want", report["summary"])
        self.assertEqual(report["kernel_exec_result"]["correctness"], False)

    def test_a_missing_tail_is_wrong_output(self):
        self.ends(kernel_of("if (i < n / 256 * 256) out[i] = a[i] + b[i];"), "wrong_output", ref=ADD)

    def test_a_kernel_that_writes_nothing_does_not_match(self):
        self.ends(kernel_of(""), "wrong_output", ref=ADD)

    def test_unwritten_elements_are_found_without_a_reference(self):
        report = self.ends(kernel_of("if (i < n - 1) out[i] = a[i];"), "passed")
        self.assertIn("unwritten", [e["check"] for e in report["evidence"]])

    def test_a_written_input_is_suspect(self):
        report = self.ends(
            kernel_of("if (i < n) { out[i] = a[i] + b[i]; ((float*)a)[i] = 0.0f; }"), "passed", ref=ADD)
        self.assertEqual(report["trust"], "suspect")
        self.assertIn("inout", report["summary"])

    def test_a_compile_error_names_the_line(self):
        report = self.ends(kernel_of("  out[i] = a[i] +;"), "compile_failed")
        self.assertIn("kernel.cu(3)", report["kernel_exec_result"]["compilation_error"])

    def test_an_unknown_kernel_name_lists_what_there_is(self):
        arguments = {"kernel": {"source_code": ADD, "kernel_type": "cuda", "io": contract(),
                                "metadata": {"kernel_name": "nope"}}}
        report = self.server.call("evaluate", arguments)["structuredContent"]
        self.assertEqual(report["verdict"], "contract_invalid")
        self.assertIn("Available: [add]", report["summary"])

    def test_a_wrong_arity_is_a_contract_error(self):
        report = self.ends(kernel_of("", "const float* a"), "contract_invalid")
        self.assertIn("takes 1 parameters", report["summary"])

    def test_a_float_given_as_int_is_a_contract_error(self):
        io = contract(extra=[{"name": "alpha", "type": "int", "value": 2}])
        report = self.ends(kernel_of("if (i < n) out[i] = a[i] * alpha;",
                                     "const float* a, const float* b, float* out, int n, float alpha"),
                           "contract_invalid", io=io)
        self.assertIn("/kernel/io/args/4", report["summary"])

    def test_float_scalars_arrive_exactly(self):
        io = contract(extra=[{"name": "alpha", "type": "float", "value": 0.1}])
        signature = "const float* a, const float* b, float* out, int n, float alpha"
        self.ends(kernel_of("if (i < n) out[i] = alpha;", signature), "passed", io=io,
                  ref=kernel_of("if (i < n) out[i] = 0.1f;", signature), atol=0, rtol=0)

    def test_too_many_blocks_are_no_endless_loop(self):
        body = kernel_of("if (blockIdx.x < 4 && i < n) out[i] = a[i] + b[i];")
        report = self.ends(body, "timed_out", io=contract(grid=2**31 - 1), timeout=5)
        self.assertRegex(report["summary"], r"did not end within its time: \d+ of 2147483647 blocks had ended")
        self.assertNotIn("loop", report["summary"])
        self.assertNotIn('"trap"', str(report))

    def test_an_index_that_wrapped_names_its_tensor(self):
        report = self.ends(kernel_of("if (i == 0) out[0] = a[threadIdx.x - 3u]; else if (i < n) out[i] = a[i];"), "crashed")
        self.assertIn("tensor 'a' (4000 bytes), as index -3 once it has wrapped in 32 bits", report["summary"])

    def test_out_of_bounds_is_a_crash_with_line_and_tensor(self):
        report = self.ends(kernel_of("  out[i] = a[i % n];"), "crashed")
        self.assertIn("kernel.cu:3", report["summary"])
        self.assertEqual(report["error"]["fault"]["tensor"], "out")

    def test_a_read_out_of_bounds_that_a_device_lets_pass_is_suspect_with_line_and_tensor(self):
        report = self.ends(kernel_of("  float next = a[i + 1]; if (i < n) out[i] = a[i] + 0.0f * __int_as_float("
                                     "__float_as_int(next) & 0xffff);"), "passed")
        self.assertEqual(report["trust"], "suspect")
        self.assertIn("It reads outside its tensors at kernel.cu:3", report["summary"])
        evidence = next(e for e in report["evidence"] if e["check"] == "out_of_bounds_read")
        self.assertEqual((evidence["tensor"], evidence["where"]["line"]), ("a", 3))

    def test_a_read_out_of_bounds_is_an_error_among_the_checks(self):
        source = kernel_of("  float next = a[i + 1]; if (i < n) out[i] = a[i] + 0.0f * __int_as_float("
                           "__float_as_int(next) & 0xffff);")
        for checks in (["memory"], ["memory", "races"]):
            report = self.ends(source, "passed", checks=checks)
            found = [f for f in report["validation"]["checks"]["findings"] if f["kind"] == "out_of_bounds"]
            self.assertEqual([(f["severity"], f["memory"], f["where"]["line"]) for f in found],
                             [("error", "a", 3)], checks)

    def test_a_wrong_output_by_a_read_out_of_bounds_names_its_line(self):
        report = self.ends(kernel_of("  float next = a[i + 1]; if (i < n) out[i] = next;"), "wrong_output",
                           ref=kernel_of("if (i < n) out[i] = i + 1 < n ? a[i + 1] : 0.0f;"))
        self.assertIn("It reads outside its tensors at kernel.cu:3", report["summary"])

    def test_a_read_far_out_of_bounds_is_a_crash(self):
        report = self.ends(kernel_of("  if (i < n) out[i] = a[i + (1 << 24)];"), "crashed")
        self.assertIn("kernel.cu:3", report["summary"])

    def test_a_null_pointer_is_a_crash(self):
        self.ends(kernel_of("  *(volatile int*)0 = 1;"), "crashed")

    def test_an_endless_loop_times_out_and_names_its_line(self):
        report = self.ends(FOREVER, "timed_out", timeout=5)
        self.assertIn("kernel.cu:", report["summary"])

    def test_a_barrier_that_some_threads_never_reach_is_waited_for_in_vain_as_on_a_device(self):
        report = self.ends(kernel_of('  if (threadIdx.x < 128) asm volatile("bar.sync 1, 256;");\n'
                                     '  else asm volatile("bar.sync 2, 256;");\n  if (i < n) out[i] = 0;'), "timed_out")
        self.assertRegex(report["summary"], "never ends at kernel.cu:.*was reached by 128 of 256 threads")

    def test_as_many_blocks_wait_for_one_another_as_a_device_has_at_once(self):
        source = "#include <cooperative_groups.h>\n" + kernel_of(
            "  cooperative_groups::this_grid().sync(); if (i < n) out[i] = a[i];")
        io = contract()
        for blocks, verdict in ((300, "passed"), (1056, "passed"), (1057, "launch_failed")):
            io["launch"]["grid"] = blocks
            report = self.ends(source, verdict, io=io, num_trials=1, validation_trials=1, timeout=30)
        self.assertIn("1057 of them are more than the 1056", report["summary"])

    def test_the_heap_of_a_device_holds_many_small_things(self):
        source = kernel_of("  int have = 0; for (int k = 0; k < 100; ++k) { int* p = (int*)malloc(8); if (p) { *p = k; ++have; } }\n"
                           "  if (i < n) out[i] = have;")
        ref = kernel_of("  if (i < n) out[i] = 100;")
        self.ends(source, "passed", ref=ref, num_trials=1, validation_trials=1)

    def test_printf_returns_how_many_arguments_it_took(self):
        source = ("extern \"C\" __device__ int printf(const char*, ...);\n" + kernel_of(
            "  if (i < n) out[i] = i ? 5 : printf(\"%d %s%% %*d\\n\", 1, \"x\", 4, 2) + printf(\".\\n\") + 1;"))
        self.ends(source, "passed", ref=kernel_of("  if (i < n) out[i] = 5;"), num_trials=1, validation_trials=1)

    def test_a_trap_is_a_crash(self):
        self.ends(kernel_of("  if (i == 5) __trap();"), "crashed")

    def test_too_much_shared_memory_is_a_launch_failure(self):
        io = contract()
        source = ("extern __shared__ float tile[];\n"
                  + kernel_of("__shared__ float more[11000]; more[threadIdx.x] = a[0];\n"
                              "  tile[threadIdx.x] = more[threadIdx.x]; if (i < n) out[i] = tile[threadIdx.x];"))
        io["launch"]["shared_mem_bytes"] = 227 << 10
        self.ends(source, "launch_failed", io=io)

    def test_static_shared_memory_up_to_what_is_assembled_runs_as_on_a_device(self):
        body = ("__shared__ float more[%d]; more[threadIdx.x] = a[0]; __syncthreads();\n"
                "  if (i < n) out[i] = more[255 - threadIdx.x];")
        self.ends(kernel_of(body % 12544), "passed")  # 48 KiB and a KiB
        report = self.ends(kernel_of(body % (57 << 10)), "compile_failed")
        self.assertIn("233472 bytes of static shared memory; 232448 are the most", report["summary"])

    def test_a_printf_flood_is_cut_and_said(self):
        report = self.ends("extern \"C\" __device__ int printf(const char*, ...);\n"
                           + kernel_of("for (int k = 0; k < 1000; ++k) printf(\"%d %d\\n\", i, k);"
                                       " if (i < n) out[i] = a[i];"),
                           "passed", validation_trials=1, num_trials=1)
        self.assertLess(len(str(report)), 100_000)

    def test_deep_recursion_is_a_crash_not_ours(self):
        source = ("__device__ __noinline__ int deep(int k, volatile int* p) {"
                  " volatile int pad[64]; pad[k & 63] = k; if (p[0] == 12345) return 0;"
                  " return deep(k + 1, p) + pad[k & 63]; }\n"
                  + kernel_of("out[i % n] = deep(i, (volatile int*)out);"))
        self.ends(source, "crashed")

    def test_dynamic_shared_memory_works(self):
        io = contract()
        io["launch"]["shared_mem_bytes"] = 1024
        source = ("extern __shared__ float tile[];\n" + kernel_of(
            "  tile[threadIdx.x] = i < n ? a[i] : 0.0f; __syncthreads();\n"
            "  if (i < n) out[i] = tile[threadIdx.x] + b[i];"))
        self.ends(source, "passed", io=io, ref=ADD)

    def test_an_in_place_kernel_is_not_accumulated_over_trials(self):
        io = {"args": [tensor("x", 64, role="inout", kind="ones"), {"name": "n", "type": "int", "value": 64}],
              "launch": {"grid": {"x": 1}, "block": {"x": 64}}}
        source = "__global__ void k(float* x, int n) { x[threadIdx.x] += 1.0f; }"
        reference = "__global__ void k(float* x, int n) { x[threadIdx.x] = 2.0f; }"
        self.ends(source, "passed", io=io, ref=reference)

    def test_a_pre_zeroed_output_is_zero(self):
        io = {"args": [tensor("x", 256, kind="ones"), tensor("sum", 1, role="output", kind="zeros")],
              "launch": {"grid": {"x": 1}, "block": {"x": 256}}}
        source = "__global__ void k(const float* x, float* sum) { atomicAdd(sum, x[threadIdx.x]); }"
        reference = "__global__ void k(const float* x, float* sum) { if (threadIdx.x == 0) *sum = 256.0f; }"
        self.ends(source, "passed", io=io, ref=reference)


class CompilerAttacks(unittest.TestCase):
    def setUp(self):
        self.server = Server(env={"A_SECRET": "hunter2"})

    def tearDown(self):
        self.assertEqual(self.server.evaluate(ADD, validation_trials=1, num_trials=1)["verdict"], "passed")
        self.server.__exit__()

    def test_a_file_of_the_machine_cannot_be_included(self):
        for path in ("/etc/passwd", "/etc/shadow", "/proc/self/environ"):
            report = self.server.evaluate(f'#include "{path}"\n' + ADD)
            self.assertEqual(report["verdict"], "compile_failed")
            self.assertNotIn("root:", str(report))
            # The compiler's own environment is built from nothing; the server's is not in it.
            self.assertNotIn("hunter2", str(report))

    def test_an_endless_file_cannot_be_included(self):
        report = self.server.evaluate('#include "/dev/zero"\n' + ADD)
        self.assertIn(report["verdict"], ("compile_failed", "out_of_memory", "timed_out"))

    def test_include_recursion_is_a_compile_error(self):
        report = self.server.evaluate('#include "kernel.cu"\n' + ADD)
        self.assertEqual(report["verdict"], "compile_failed")

    def test_a_template_bomb_is_ended(self):
        bomb = ("template <int N> struct B { static constexpr int v = B<N - 1>::v + B<N - 2>::v; };\n"
                "template <> struct B<0> { static constexpr int v = 1; };\n"
                "template <> struct B<1> { static constexpr int v = 1; };\n"
                "template <int A, int C> struct P { static constexpr int v = P<A - 1, C>::v + P<A, C - 1>::v; };\n"
                "__device__ int x = P<700, 700>::v;\n" + ADD)
        report = self.server.evaluate(bomb)
        self.assertIn(report["verdict"], ("compile_failed", "out_of_memory", "timed_out"))

    def test_a_megabyte_of_errors_is_cut(self):
        source = "".join(f"int e{i} = undeclared_{i};\n" for i in range(20000)) + ADD
        report = self.server.evaluate(source)
        self.assertEqual(report["verdict"], "compile_failed")
        self.assertLess(len(str(report)), 60_000)

    def test_an_nvrtc_crash_is_a_compile_failure(self):
        # A known crash of NVRTC 13.0: launch bounds and types undeclared in a template that is named.
        source = ("template<class T> __global__ void __launch_bounds__(1024, MAXB) "
                  "k(floatX* l, T* p){ p[0] = 1; }")
        arguments = {"kernel": {"source_code": source, "kernel_type": "cuda", "io": contract(),
                                "metadata": {"name_expressions": ["k<float>"]}}}
        report = self.server.call("evaluate", arguments)["structuredContent"]
        self.assertEqual(report["verdict"], "compile_failed")


if __name__ == "__main__":
    unittest.main()
