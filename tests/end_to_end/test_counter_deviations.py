"""What benchmarks/counters.py says of counts that differ: a reason only where the readings have one."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
from deviation import explain  # noqa: E402

BASE = {"dram_bytes_sum": 200e6, "dram_bytes_read_sum": 134e6, "dram_bytes_write_sum": 66e6, "gpc_cycles_elapsed_max": 100e3,
        "gpu_time_duration_sum": 60e3, "dram_throughput_pct": 66.0, "instructions_per_cycle": 0.7, "l2_hit_rate_pct": 33.0,
        "sm_throughput_pct": 40.0}


def readings(*changes):
    return [{**BASE, **change} for change in changes]


# A kernel that writes 4 kB: ncu has 2.4 MB of others among them.
READER = (readings({"dram_bytes_write_sum": 20e3}), readings({"dram_bytes_write_sum": 2.4e6}), 4e3)


class Deviations(unittest.TestCase):
    def why(self, name, ours, theirs):
        return explain(name, ours, theirs, READER)[1]

    def test_what_agrees_needs_no_reason(self):
        self.assertEqual(explain("dram_bytes_sum", readings({}), readings({"dram_bytes_sum": 203e6}))[1], "")

    def test_a_difference_that_neither_repeats_is_its_spread(self):
        ours, theirs = readings({}, {"l2_hit_rate_pct": 35.2}), readings({"l2_hit_rate_pct": 35.1}, {"l2_hit_rate_pct": 37.0})
        self.assertTrue(self.why("l2_hit_rate_pct", ours, theirs).startswith("spread"))
        self.assertEqual(self.why("l2_hit_rate_pct", readings({}, {"l2_hit_rate_pct": 33.1}), theirs), "unexplained")

    def test_two_that_repeat_well_are_not_explained_by_their_spread(self):
        ours, theirs = readings({}, {"l2_hit_rate_pct": 33.02}), readings({"l2_hit_rate_pct": 33.69}, {"l2_hit_rate_pct": 33.71})
        self.assertEqual(self.why("l2_hit_rate_pct", ours, theirs), "unexplained")

    def test_writes_of_others_explain_bytes_only_if_reads_agree(self):
        ours = readings({"dram_bytes_sum": 100e6 - 2.7e6, "dram_bytes_write_sum": 34e6 - 2.7e6})
        theirs = readings({"dram_bytes_sum": 100e6, "dram_bytes_write_sum": 34e6})
        self.assertTrue(self.why("dram_bytes_sum", ours, theirs).startswith("writes of others"))
        told = self.why("dram_bytes_write_sum", ours, theirs)
        self.assertTrue(told.startswith("writes of others") and "4000" in told and "2e+04" in told, told)
        reads = readings({"dram_bytes_sum": 97.3e6, "dram_bytes_read_sum": 120e6})
        self.assertEqual(self.why("dram_bytes_sum", reads, theirs), "unexplained")

    def test_more_writes_than_others_make_and_those_on_the_other_side_are_not_explained(self):
        name, theirs = "dram_bytes_write_sum", readings({"dram_bytes_write_sum": 34e6})
        for written in (34e6 - 4e6, 34e6 + 2.4e6):
            self.assertEqual(self.why(name, readings({name: written}), theirs), "unexplained")
        fewer = readings({name: 34e6 - 2.4e6})
        self.assertEqual(explain(name, fewer, theirs)[1], "unexplained")
        clean = (READER[0], READER[0], READER[2])
        self.assertEqual(explain(name, fewer, theirs, clean)[1], "unexplained")

    def test_another_clock_explains_cycles_only_at_the_same_duration(self):
        slow = readings({"gpc_cycles_elapsed_max": 90e3})
        self.assertTrue(self.why("gpc_cycles_elapsed_max", slow, readings({})).startswith("clock"))
        longer = readings({"gpc_cycles_elapsed_max": 90e3, "gpu_time_duration_sum": 54e3})
        self.assertEqual(self.why("gpc_cycles_elapsed_max", longer, readings({})), "unexplained")

    def test_the_same_amount_in_another_time_explains_shares_of_time(self):
        ours = readings({"gpc_cycles_elapsed_max": 110e3, "instructions_per_cycle": 0.7 / 1.1, "sm_throughput_pct": 30.0})
        self.assertTrue(self.why("instructions_per_cycle", ours, readings({})).startswith("time"))
        self.assertEqual(self.why("sm_throughput_pct", ours, readings({})), "unexplained")
        both = readings({"gpc_cycles_elapsed_max": 110e3, "dram_bytes_sum": 180e6, "dram_throughput_pct": 66 * 0.9 / 1.1})
        self.assertTrue(self.why("dram_throughput_pct", both, readings({})).startswith("bytes and time"))

    def test_the_conditions_explain_only_what_they_count_the_same_under_them(self):
        ours = readings({"gpc_cycles_elapsed_max": 110e3, "gpu_time_duration_sum": 66e3})
        behind = {"nothing": readings({}), "reads": [{"gpc_cycles_elapsed_max": 109e3, "gpu_time_duration_sum": 61e3}]}
        told = explain("gpc_cycles_elapsed_max", ours, readings({}), READER, behind)[1]
        self.assertTrue(told.startswith("conditions: behind reads") and "1.09e+05" in told, told)
        self.assertEqual(explain("gpu_time_duration_sum", ours, readings({}), READER, behind)[1], "unexplained")
        self.assertEqual(explain("l2_hit_rate_pct", readings({"l2_hit_rate_pct": 40.0}), readings({}), READER, behind)[1], "unexplained")

    def test_what_beginning_costs_explains_a_time_that_is_longer_by_just_that(self):
        smallest = (readings({"gpc_cycles_elapsed_max": 5e3}), readings({"gpc_cycles_elapsed_max": 4e3}))

        def why(cycles, against=100e3):
            longer = {"gpc_cycles_elapsed_max": cycles, "gpu_time_duration_sum": 60e3 * cycles / against}
            return explain("gpc_cycles_elapsed_max", readings(longer),
                           readings({"gpc_cycles_elapsed_max": against}), READER, None, smallest)[1]

        self.assertTrue(why(11e3, 10e3).startswith("start: of one block ours counts 5000 and ncu 4000"), why(11e3, 10e3))
        self.assertTrue(why(102.5e3).startswith("start"))
        for cycles, against in ((9e3, 10e3), (11.5e3, 10e3), (105e3, 100e3)):
            self.assertEqual(why(cycles, against), "unexplained")

    def test_a_few_conflicts_are_few_and_many_are_not(self):
        name = "shared_bank_conflicts_load_sum"
        self.assertTrue(explain(name, [{name: 10}], [{name: 31}])[1].startswith("few"))
        self.assertTrue(explain(name, [{name: 10}], [{name: 0}])[1].startswith("few"))
        self.assertEqual(explain(name, [{name: 1000}], [{name: 3100}])[1], "unexplained")
        self.assertEqual(explain(name, [{name: 99}], [{name: 1}])[1], "unexplained")

    def test_readings_that_do_not_overlap_are_no_spread(self):
        name = "sm_throughput_pct"
        ours, theirs = ([{name: v} for v in values] for values in ((70, 71, 72), (66, 65, 68.7)))
        self.assertEqual(explain(name, ours, theirs)[1], "unexplained")

    def test_a_reader_that_was_not_counted_explains_nothing(self):
        ours, theirs = readings({"dram_bytes_write_sum": 31e6}), readings({"dram_bytes_write_sum": 34e6})
        lacking = (READER[0], readings({"dram_bytes_write_sum": None}), READER[2])
        self.assertEqual(explain("dram_bytes_write_sum", ours, theirs, lacking)[1], "unexplained")
        self.assertEqual(explain("dram_bytes_sum", readings({"dram_bytes_sum": 90e6}), readings({"dram_bytes_sum": 100e6}), lacking)[1],
                         "unexplained")

    def test_a_few_kilobytes_written_beside_nothing_are_little(self):
        ours, theirs = readings({"dram_bytes_write_sum": 0.05e6}), readings({"dram_bytes_write_sum": 0})
        found, why = explain("dram_bytes_write_sum", ours, theirs)
        self.assertIsNone(found)
        self.assertTrue(why.startswith("little"), why)

    def test_a_tenth_of_a_point_of_half_a_per_cent_is_small(self):
        ours, theirs = readings({"l2_hit_rate_pct": 0.5}), readings({"l2_hit_rate_pct": 0.6})
        self.assertTrue(self.why("l2_hit_rate_pct", ours, theirs).startswith("small"))

    def test_lookups_of_others_explain_hits_only_where_the_kernels_own_are_the_same(self):
        name = "l2_hit_rate_pct"
        own = {"own_hits": 131072, "own_misses": 262144}
        mine, other = ([{"hits": hits, "misses": 393407, **own} for hits in side] for side in ((221000, 222400, 223000), (226650, 231700, 228178)))
        ours, theirs = ([{name: value} for value in values] for values in ((36.1, 36.2, 36.3), (36.9, 36.9, 37.3)))

        def why(*sectors):
            return explain(name, ours, theirs, sectors=sectors)[1]

        self.assertTrue(why(mine, other).startswith("lookups of others"), why(mine, other))
        self.assertIn("131072", why(mine, other))
        self.assertEqual(explain(name, ours, theirs)[1], "unexplained")
        for key in own:
            self.assertEqual(why([{**one, key: one[key] + 1000} for one in mine], other), "unexplained")  # the kernel's own differ
            self.assertEqual(why([*mine[:2], {**mine[2], key: 200000}], other), "unexplained")  # from pass to pass
            self.assertEqual(why([{**one, key: None} for one in mine], other), "unexplained")
        self.assertEqual(why([{**one, "misses": 410000} for one in mine], other), "unexplained")  # others miss otherwise
        for rate in (33.4, 24.0):  # more than others differ by, and less than its own
            self.assertEqual(explain(name, [{name: rate}], theirs, sectors=(mine, other))[1], "unexplained")
        self.assertEqual(explain("l1_hit_rate_pct", [{"l1_hit_rate_pct": 36.1}], [{"l1_hit_rate_pct": 37.0}], sectors=(mine, other))[1],
                         "unexplained")

    def test_what_one_side_lacks_is_not_compared(self):
        self.assertEqual(explain("dram_bytes_sum", readings({"dram_bytes_sum": None}), readings({})), (None, "nothing to compare"))
        self.assertEqual(explain("shared", [{"shared": 0}], [{"shared": 0}]), (0.0, ""))
        self.assertEqual(explain("shared", [{"shared": 4}], [{"shared": 0}]), (None, "unexplained"))


if __name__ == "__main__":
    unittest.main()
