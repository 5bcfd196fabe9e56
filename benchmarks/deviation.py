"""Why two counts of one kernel differ: what the other counts of the same readings explain, and what nothing does.

A reading is {name: value}; both sides have several of the same kernel, since neither repeats itself exactly.
"""

import statistics

LIMIT = 0.02  # beyond which a deviation wants a reason
POINTS = 0.5  # of a percentage: less is nothing, however small the percentage
LITTLE_BYTES = 100_000  # of memory written in a whole launch
FEW = 50  # bank conflicts of a whole launch: how blocks happen to meet
READS, WRITES, DRAM = "dram_bytes_read_sum", "dram_bytes_write_sum", "dram_bytes_sum"
FOREIGN_SHARE = 1.5  # how much of what was written before goes out while a kernel runs is not the same for all
CYCLES, DURATION = "gpc_cycles_elapsed_max", "gpu_time_duration_sum"
L2_HITS = "l2_hit_rate_pct"
SAME = 0.001  # what a kernel itself asks of the L2 is the same in each pass, whoever counts
# Of hits that no multiprocessor asked for (one half of the L2 in the other, and neither reads nor writes) so many may differ, of
# misses likewise: from pass to pass of ncu's own hits were seen to do so by 4 % (add of 1 M, 2026-11-26).
LOOKUPS_OF_OTHERS = 0.1


def mean(readings, name):
    values = [reading[name] for reading in readings if reading.get(name) is not None]
    return sum(values) / len(values) if values else None


def median(readings, name):
    values = [reading[name] for reading in readings if reading.get(name) is not None]
    return statistics.median(values) if values else None


def ratio(name, ours, theirs):
    """Ours to theirs, or None where there is none."""
    mine, other = mean(ours, name), mean(theirs, name)
    if mine is None or other is None or other == 0:
        return 1.0 if mine == other == 0 else None
    return mine / other


def deviation(name, ours, theirs):
    found = ratio(name, ours, theirs)
    return None if found is None else abs(found - 1)


def spread(name, readings):
    values = [reading[name] for reading in readings if reading.get(name) is not None]
    return max(values) / min(values) - 1 if values and min(values) > 0 else 0.0


def is_near(found, wanted=1.0):
    return found is not None and abs(found / wanted - 1) <= LIMIT


def gap(ours, theirs):
    return max(min(ours) - max(theirs), min(theirs) - max(ours), 0)


def of_spread(name, ours, theirs):
    mine, other = ([r[name] for r in side if r.get(name) is not None] for side in (ours, theirs))
    if gap(mine, other) > 0 or spread(name, ours) + spread(name, theirs) < deviation(name, ours, theirs) / 2:
        return ""
    return f"spread: ours differs from itself by {spread(name, ours):.1%}, ncu by {spread(name, theirs):.1%}"


def of_writes(name, ours, theirs, reader):
    """What somebody else wrote goes to memory while the kernel runs. `reader`: both sides' readings of a kernel that reads much and
    writes next to nothing, and how many bytes it does write: what is counted beyond those is not its own."""
    if name not in (DRAM, WRITES) or not is_near(ratio(READS, ours, theirs)):
        return ""
    mine, other = mean(ours, WRITES), mean(theirs, WRITES)
    if mine is None or other is None:
        return ""
    # What is left once the writes agree has to.
    rest = [mean(side, DRAM) - written for side, written in ((ours, mine), (theirs, other)) if mean(side, DRAM) is not None]
    if name == DRAM and not is_near(*rest):
        return ""
    if max(mine, other) <= LITTLE_BYTES:
        return f"little: {mine:.4g} and {other:.4g} bytes written to memory in the whole launch"
    if not reader or any(mean(side, WRITES) is None for side in reader[:2]):
        return ""
    foreign = [mean(side, WRITES) - reader[2] for side in reader[:2]]
    if abs(mine - other) > FOREIGN_SHARE * abs(foreign[0] - foreign[1]) or (mine < other) != (foreign[0] < foreign[1]):
        return ""
    return (f"writes of others: reads agree ({ratio(READS, ours, theirs) - 1:+.1%}), ours has {mine:.4g} bytes written and ncu {other:.4g}; "
            f"of a kernel that writes {reader[2]:.4g} it is {mean(reader[0], WRITES):.4g} and {mean(reader[1], WRITES):.4g}")


def of_clock(name, ours, theirs):
    if name != CYCLES or not is_near(ratio(DURATION, ours, theirs)):
        return ""
    megahertz = [mean(side, CYCLES) / mean(side, DURATION) * 1e3 for side in (ours, theirs)]
    return f"clock: the same duration at {megahertz[0]:.0f} and {megahertz[1]:.0f} MHz"


def of_start(name, ours, theirs, smallest):
    """`smallest`: both sides' readings of a kernel of one block, which does next to nothing but begin."""
    if name not in (CYCLES, DURATION) or not smallest:
        return ""
    begin = [median(side, name) for side in smallest]
    mine, other = median(ours, name) - begin[0] + begin[1], median(theirs, name)
    if not is_near(mine, other):
        return ""
    return f"start: of one block ours counts {begin[0]:.0f} and ncu {begin[1]:.0f}, of this kernel without that {mine:.5g} and {other:.5g}"


def of_conditions(name, ours, behind):
    """`behind`: what they count themselves where the kernel is prepared as ours is, in several ways: {how: readings}."""
    counted = {how: mean(readings, name) for how, readings in (behind or {}).items() if mean(readings, name) is not None}
    for how, value in counted.items():
        if is_near(mean(ours, name), value):
            return f"conditions: behind {how}, ncu counts {value:.5g}, too"
    return ""


def of_cycles(name, ours, theirs):
    """Shares of a time: the same amount in another time."""
    found, cycles = ratio(name, ours, theirs), ratio(CYCLES, ours, theirs)
    if found is None or cycles is None or name in (CYCLES, DURATION, DRAM, READS, WRITES) or name.endswith("hit_rate_pct"):
        return ""
    if is_near(found * cycles):
        return f"time: the same amount in {cycles - 1:+.1%} cycles"
    amount = ratio(DRAM, ours, theirs)
    if name == "dram_throughput_pct" and amount is not None and is_near(found * cycles, amount):
        return f"bytes and time: {amount - 1:+.1%} bytes in {cycles - 1:+.1%} cycles"
    return ""


def of_lookups(name, ours, theirs, sectors):
    """`sectors`: both sides' counts of the same kernel by who asked: {hits, misses, own_hits, own_misses}, the last two those of
    multiprocessors. Where these are the same on both sides, others make the difference."""
    if name != L2_HITS or not sectors or not all(sectors):
        return ""
    for key in ("own_hits", "own_misses"):
        mine, other = (median(side, key) for side in sectors)
        if mine is None or other is None or abs(mine - other) > SAME * other or any(spread(key, side) > SAME for side in sectors):
            return ""
    mine, other = ({key: median(side, key) for key in ("hits", "misses", "own_hits", "own_misses")} for side in sectors)
    if None in (*mine.values(), *other.values()):
        return ""
    misses = [one["misses"] - one["own_misses"] for one in (mine, other)]
    if abs(misses[0] - misses[1]) > LOOKUPS_OF_OTHERS * misses[1]:
        return ""
    # What the rates that were read make of the same misses: counted beside other things others look up other things.
    hits = [other["misses"] * mean(side, name) / (100 - mean(side, name)) - other["own_hits"] for side in (ours, theirs)]
    if min(hits) < 0 or abs(hits[0] - hits[1]) > LOOKUPS_OF_OTHERS * (other["hits"] - other["own_hits"]):
        return ""
    return (f"lookups of others: multiprocessors have {mine['own_hits']:.6g} hits and {mine['own_misses']:.6g} misses, in ncu's passes "
            f"{other['own_hits']:.6g} and {other['own_misses']:.6g}; of the hits of others ours has {hits[0]:.5g} and ncu {hits[1]:.5g}")


def of_size(name, ours, theirs):
    difference = abs(mean(ours, name) - mean(theirs, name))
    if name.endswith("_pct") and difference <= POINTS:
        return f"small: {difference:.2f} points of {mean(theirs, name):.2f} %"
    if "conflicts" in name and difference <= FEW and max(mean(ours, name), mean(theirs, name)) <= FEW:
        return f"few: {difference:.0f} conflicts in the whole launch"
    return ""


def explain(name, ours, theirs, reader=None, behind=None, smallest=None, sectors=None):
    """(deviation, why): "" where it is within the limit, "unexplained" where nothing here explains it."""
    if mean(ours, name) is None or mean(theirs, name) is None:
        return None, "nothing to compare"
    found = deviation(name, ours, theirs)
    if found is not None and found <= LIMIT:
        return found, ""
    why = of_size(name, ours, theirs) or of_writes(name, ours, theirs, reader)
    if found is not None and not why:
        why = (of_spread(name, ours, theirs) or of_clock(name, ours, theirs) or of_start(name, ours, theirs, smallest)
               or of_conditions(name, ours, behind) or of_cycles(name, ours, theirs) or of_lookups(name, ours, theirs, sectors))
    return found, why or "unexplained"
