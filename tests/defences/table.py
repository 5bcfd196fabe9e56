"""Every defence of docs/trust.md that can be taken away, what takes it away, and the test that fails then."""

from schemata import STATEMENT, Change, Defence, Test

NODE, RUNNER, JUDGE, WALLS = "src/engine/node/", "src/engine/runner/", "src/engine/judge/", "src/engine/confinement/"
NOTHING = "static_cast<void>(0);"


def judge(case):
    return Test("catch", case, "test_judge")


def engine(case):
    return Test("catch", case, "test_engine")


def walls(case):
    return Test("catch", case, "test_confinement")


def python(name):
    return Test("python", name)


def torch(name, *cases):
    return Test("torch", name, cases=cases)


def gpu(name, *cases):
    return Test("gpu", name, cases=cases)


# Tests that several entries name.
ON_THE_DEVICE = engine("what is wrong is told by the device's examiner as by the host's")
LEFT = engine("elements left unwritten are seen for every dtype, by reference and by candidate")
EXAMINED = engine("three timed runs are examined, each with contents of its own, however few are timed")
DRAWN = engine("runs begin with any contents in any place, and nothing tells which are examined")
WEAK = judge("a weak oracle is told by the answer that would pass")
ATTACKS = walls("every attack fails in every layer that is to stop it")
ZOO = engine("every death, silence and lie of a runner has its name, at every level")
OURS = engine("a runner serves its client again, on the side it was on, and nobody else")
WRONG, ONCE = "test_a_wrong_output_is_no_output", "test_what_is_right_for_once_is_not_believed"
BY_CONTENTS = gpu("test_results_kept_by_contents_are_told_by_their_times")
BESIDE = gpu("test_results_kept_beside_the_tensors_are_told_by_their_times")

# Changes that several entries make.
NO_COMPARISON = Change(RUNNER + "device_judge.cc", "elements", "0", around=".count = elements,")
NO_UNWRITTEN = Change(RUNNER + "device_judge.cc", "bytes / unit", "0")
NO_DIFFERENCE = Change(RUNNER + "device_judge.cc", "bytes", "0", around=".other = other, .count = bytes}")
NOTHING_EXAMINED = Change(NODE + "gpu_timing.cc", "std::min(examined, runs)", "0U")
NOT_SLOWER = Change(NODE + "gpu_anew.cc", 'judge_(0, {{"outputs", json::array()}, {"findings", json::array({told})}})', "Step{}")
QUIETLY = Change(NODE + "gpu_anew.cc", "unasked_[what] = why;", "(void)what, (void)why;", STATEMENT)
VIEWS_LOOKED_AT = Change(NODE + "gpu_views.cc", "is_judged && reference_", "false")
GRAPHS_LOOKED_AT = Change(NODE + "gpu_comparison.cc", "is_examined && side == &kernel_", "false")
PAIRS_LOOKED_AT = Change(NODE + "gpu_comparison.cc", "is_examined ? 1 : 0", "0")
NO_DIGESTS = Change(NODE + "gpu_timing.cc", "turn.order.digests = true;", NOTHING, STATEMENT)
BORNE_OUT = Change(NODE + "gpu_comparison.cc", "doubt.empty()", "true", around="if (doubt.empty()) return std::nullopt;")
ANEW_ALONE = Change(NODE + "gpu_comparison.cc", "is_shown_anew()", "true", around="if (is_shown_anew()) return")
CONTENTS_OF_RUNS = (
    Change(NODE + "gpu_timing.cc", "below(slots_)", "0", around="std::uint32_t content = below(slots_);"),
    Change(NODE + "gpu_timing.cc", "if (slots_ > 1) content = (content + 1 + below(slots_ - 1)) % slots_;", NOTHING, STATEMENT))
SAME_CONTENTS = (
    *CONTENTS_OF_RUNS,
    Change(NODE + "gpu_examined.cc", "(contents.back() + 1) % known", "contents.back()"),
    Change(NODE + "gpu_examined.cc", "last_examined_ ? draw_examined(*last_examined_) : below(known)", "0"),
    Change(NODE + "gpu_examined.cc", "if (slots_ > 1) first.content = (contents.front() + 1 + below(slots_ - 1)) % slots_;",
           "first.content = contents.front();", STATEMENT))

NOTHING_AT_ALL = "to compute nothing"
CONSTANT = "a constant, NaN"
BEFOREHAND = "that an answer computed beforehand passes"
WEAK_TASK = "that such an answer passes because the task is weak"
PART = "part of the work"
STATE = "to do its work in some launches only"
ADDRESS = "to remember by address"
CONTENTS = "to remember by contents"
NEXT_ATTEMPT = "to keep something for the client's next attempt"
SECRETS = "to read the expected outputs"
FAULTS = "to hang, trap, fault"
TURNS = "to disturb the reference's times"

OF_DEVICE_CODE = (
    Defence("poison", NOTHING_AT_ALL, (python("test_endings.Endings.test_unwritten_elements_are_found_without_a_reference"),),
            (Change(RUNNER + "examination.cc", "judge::fill_pattern(to, poison_of(tensor), placement.offset);",
                    "std::fill(to.begin(), to.end(), std::byte{0});", STATEMENT),)),
    Defence("poison_on_the_device", NOTHING_AT_ALL, (LEFT,),
            (Change(RUNNER + "device_examination.cc", "judge_.fill_pattern(arena, placement.offset, placement.bytes, poison_of(spec(placement)));",
                    NOTHING, STATEMENT),)),
    Defence("shared_memory_is_overwritten", "to compute nothing", (gpu("test_shared_memory_holds_nothing_that_could_be_right"),),
            (Change(RUNNER + "gpu_context.cc", "fill_kernel_ == nullptr", "true"),)),
    Defence("poison_of_each_trial", NOTHING_AT_ALL,
            (judge("consecutive trials differ in every element, and no word is a constant of narrow elements"),),
            (Change(JUDGE + "poison.cc", "trial", "0U", around="random_word(secret, trial, kPoisonStream)"),
             Change(JUDGE + "poison.cc", "trial & 1U", "0U", around="parity = trial & 1U;\n  switch"))),
    Defence("unwritten_on_the_device", NOTHING_AT_ALL, (LEFT,), (NO_UNWRITTEN,)),
    Defence("poison_is_no_nan", NOTHING_AT_ALL,
            (python("test_honesty.Honesty.test_an_output_never_written_is_wrong_also_where_nan_is_right"),),
            (Change(JUDGE + "comparison.cc", "judged.right && std::isnan(value) && is_poison(i)", "false"),)),
    Defence("poison_is_no_nan_on_the_device", NOTHING_AT_ALL, (engine("poison is no answer where the reference has NaN"),),
            (NO_UNWRITTEN, NO_DIFFERENCE, Change(RUNNER + "device_judge.cc", "signals ? 1U : 0U", "0U")),
            "what is left unwritten is looked for as well, and each alone is enough"),
    Defence("left_on_the_device", NOTHING_AT_ALL, (ON_THE_DEVICE, gpu(WRONG, "nothing at all", "the output as it is")),
            (NO_COMPARISON, NO_UNWRITTEN, NO_DIFFERENCE),
            "poison that is left, a wrong answer, and poison that is another the next time: each alone is enough"),

    Defence("comparison", CONSTANT, (python("test_endings.Endings.test_a_wrong_sum_is_wrong_output_with_the_worst_element"),),
            (Change(JUDGE + "comparison.cc", "judged.right", "true", around="if (judged.right) return;"),)),
    Defence("comparison_on_the_device", CONSTANT, (ON_THE_DEVICE, gpu(WRONG, "a constant", "not a number", "the input")), (NO_COMPARISON,)),
    Defence("nan_only_where_it_is_wanted", CONSTANT,
            (python("test_compare.Compare.test_a_nan_where_the_reference_has_none_is_wrong"),
             judge("NaN is right only where NaN is wanted, infinity only where the same is")),
            (Change(JUDGE + "comparison.cc", "return misplaced(std::fabs(want), std::isnan(got) || std::isnan(want));", "return {};", STATEMENT),)),

    Defence("weak_zeros", WEAK_TASK, (WEAK,),
            (Change(JUDGE + "weak_oracle.cc", 'if (zeros) note(WeakAnswer::zeros, "all zeros");', NOTHING, STATEMENT),)),
    Defence("weak_constant", WEAK_TASK, (WEAK,),
            (Change(JUDGE + "weak_oracle.cc", 'note(WeakAnswer::constant, "the constant " + number_text(constant));', NOTHING, STATEMENT),)),
    Defence("weak_mean", WEAK_TASK, (WEAK,),
            (Change(JUDGE + "weak_oracle.cc", 'note(WeakAnswer::mean, "the mean " + number_text(summary.mean));', NOTHING, STATEMENT),)),
    Defence("weak_input_copy", WEAK_TASK, (WEAK,),
            (Change(JUDGE + "weak_oracle.cc", 'note(WeakAnswer::input_copy, "a copy of input " + quoted_name(input.name), input.name);',
                    NOTHING, STATEMENT),)),
    Defence("weak_not_numbers", WEAK_TASK, (WEAK,), (Change(JUDGE + "weak_oracle.cc", "4 * summary.finite < elements", "false"),)),
    Defence("weak_is_not_verified", WEAK_TASK,
            (python("test_compare.Compare.test_a_task_that_a_trivial_answer_passes_is_warned_of"), gpu("test_weak_tasks_are_told")),
            (Change(NODE + "trial_judgement.cc", 'weak = "The task is weak: an answer that computes nothing would pass it too.";',
                    NOTHING, STATEMENT),)),
    Defence("same_inputs_are_weak", BEFOREHAND,
            (python("test_compare.Compare.test_an_answer_computed_beforehand_is_not_verified"),),
            (Change(NODE + "validated_stage.cc", "weak_.empty() && repeats_inputs(task_.kernel.contract)", "false"),)),
    Defence("hidden_trials", BEFOREHAND, (python("test_honesty.Honesty.test_a_kernel_that_knows_the_contracts_own_inputs_is_wrong_in_the_trials_after"),),
            (Change(JUDGE + "seeds.cc", "trial == 0", "true", around="if (trial == 0) return contract_stream"),)),
    Defence("same_answers_are_weak", "that one which ignores its inputs passes",
            (python("test_honesty.Honesty.test_a_reference_that_answers_other_inputs_alike_proves_little"),),
            (Change(NODE + "validated_stage.cc", "was_last && same_answers_ && weak_.empty()", "false"),)),

    Defence("every_element", PART, (python("test_compare.Compare.test_a_missing_tail_is_named"),
                                    judge("verdict, count, worst and maxima agree with a plain computation, in every real dtype")),
            (Change(JUDGE + "comparison.cc", "result_.elements", "result_.elements / 2",
                    around="using Bits = typename Storage<kType>::Type;\n    for (std::uint64_t i = 0; i < result_.elements; ++i)"),)),
    Defence("every_element_on_the_device", PART, (gpu(WRONG, "the first 99 percent", "every second row"),),
            (NO_COMPARISON, NO_UNWRITTEN, NO_DIFFERENCE), "poison is left there too: each alone is enough"),

    Defence("hidden_sizes", "to fit one size",
            (python("test_generalise.Generalise.test_a_kernel_for_one_size_is_found_out"),
             python("test_generalise.Generalise.test_a_forgotten_tail_is_found_out"),
             gpu("test_hidden_tasks_find_what_fits_one_task_only", "one size")),
            (Change("tools/hidden_tasks.cc", "way < kDraws && !sizes.empty()", "false"),)),
    Defence("hidden_contents", "to fit one size",
            (python("test_generalise.Generalise.test_a_kernel_for_one_distribution_is_found_out"),
             gpu("test_hidden_tasks_find_what_fits_one_task_only", "small values")),
            (Change("tools/hidden_tasks.cc", "way < kDraws", "false", around="for (int way = 0; way < kDraws; ++way)"),)),
    Defence("tolerance_of_the_type", "arithmetic in fewer bits",
            (judge("the tolerance in force is the output's, the caller's or the dtype's, and says which"), gpu(WRONG, "half precision")),
            (Change("src/engine/contract/usual_tolerance.cc", "return {.atol = 1e-5, .rtol = 1.3e-6};", "return {.atol = 1e-2, .rtol = 1e-2};", STATEMENT),)),
    Defence("error_beside_the_references", "arithmetic in fewer bits",
            (torch("test_oracle.Oracle.test_fewer_bits_within_the_tolerance_are_suspect"),),
            (Change(RUNNER + "examination.cc", 'precision.value(json::json_pointer("/over_trials/lost"), false)', "false"),)),

    Defence("host_memory_is_out_of_reach", "to write to the memory of the process that times it",
            (engine("a device whose kernels reach the host's pageable memory is known by what it told"),),
            (Change(NODE + "gpus.cc", 'facts.value("pageable_memory_access", false)', "false"),)),

    Defence("inputs_are_read_again", "to change its inputs",
            (python("test_endings.Endings.test_a_written_input_is_suspect"), judge("a change of an input is seen bit for bit"),
             torch("test_cheats.Cheats.test_each_is_caught_as_it_is_documented", "changes its input")),
            (Change(JUDGE + "comparison.cc", "before.empty() || std::memcmp(before.data(), after.data(), before.size()) == 0", "true"),)),
    Defence("inputs_are_read_again_on_the_device", "to change its inputs", (ON_THE_DEVICE,), (NO_DIFFERENCE,),
            "on a GPU the cheat is caught without it: the launch after finds what it has changed, and is wrong"),
    Defence("fixed_inputs", "that one which ignores an input passes",
            (python("test_honesty.Honesty.test_inputs_that_the_contract_fixes_are_named_where_the_answer_follows_them"),),
            (Change(NODE + "validated_stage.cc", "ran && !is_answer_of(*referee_, 0, kReferenceSlot)", "false"),)),
    Defence("guards", "to write beside its outputs", (judge("a guard that was written to names the tensor, the side and the distance"),),
            (Change(JUDGE + "poison.cc", "arena[offset] == pattern_byte(word, offset)", "true"),)),
    Defence("guards_on_the_device", "to write beside its outputs", (ON_THE_DEVICE, gpu(ONCE, "it writes beside its output")),
            (Change(RUNNER + "device_judge.cc", "end - begin", "0"),)),

    Defence("examined_runs", STATE, (EXAMINED, gpu(ONCE, "every other launch does nothing")),
            (NOTHING_EXAMINED, NOT_SLOWER, VIEWS_LOOKED_AT, GRAPHS_LOOKED_AT, NO_DIGESTS),
            "idle runs are doubtful by what they leave, contents shown anew may cost such a kernel more, and half of what warm runs and graphs leave is wrong: neither is looked at;"
            " what ends after ten launches does so in validation"),
    Defence("more_are_examined_of_what_keeps_state", STATE, (engine("a kernel that keeps state is examined in twelve turns of their own"),),
            (Change(NODE + "gpu_timing.cc", "request_.keeps_state ? kExaminedOfState : kExaminedTurns", "kExaminedTurns"),)),
    Defence("pairs_are_looked_at", STATE,
            (engine("each pair of turns of a kernel that counts its launches is looked at"),
             gpu("test_to_do_less_once_the_pairs_begin_gains_nothing")),
            (PAIRS_LOOKED_AT, NOT_SLOWER, QUIETLY, NO_DIGESTS),
            "what such a kernel leaves stands out anyway, and it may be slow where it is shown contents anew, and no more quick after that: then its trust is `audited`"),
    Defence("asked_last", STATE,
            (engine("a kernel of inout tensors is asked what it keeps after all that its ratio rests on"),),
            (Change(NODE + "gpu_timing.cc", "compared();\n    shown_anew();", "shown_anew();\n    compared();", STATEMENT),)),
    Defence("added_runs_are_looked_at", STATE,
            (engine("where nobody said how many, runs are added to a median that is known too little"),),
            (Change(NODE + "gpu_timing.cc", "cold_turn(runs, looked_at)", "cold_turn(runs, 1)"),)),
    Defence("nothing_tells_which_are_examined", STATE, (DRAWN,),
            (Change(NODE + "gpu_examined.cc", "below(static_cast<std::uint32_t>(turn.runs.size()) - 1)",
                    "static_cast<std::uint32_t>(which.size())"),)),
    Defence("examined_contents_change", "to do the work of all launches in the first", (EXAMINED,), SAME_CONTENTS,
            "contents of all runs, of the examined ones and of each turn's first: each alone is enough; the cheat is wrong in the second trial as well"),
    Defence("contents_of_runs", "to do the work of all launches in the first", (DRAWN,), CONTENTS_OF_RUNS),
    Defence("places_of_runs", ADDRESS, (DRAWN,),
            (Change(NODE + "gpu_timing.cc", "below(places_)", "0", around=".place = below(places_), .content"),)),
    Defence("random_places", "to put right in a later run", (gpu("test_memory_lies_where_nobody_can_guess"),),
            (Change(RUNNER + "gpu_mapping.cc", "drawn % ((context.span_bytes() - bytes) / kPageBytes)",
                    "[] { static std::uint64_t next = 0; return next += 16; }()"),)),
    Defence("contents_change", "to answer the contents of the last launch once more",
            (gpu("test_to_answer_the_last_contents_once_more_saves_no_time"),
             engine("no run begins with the contents of the one before it")),
            (*CONTENTS_OF_RUNS, Change(RUNNER + "gpu_graphs.cc", "launch % places % contents()", "0"),
             Change(NODE + "gpu_timing.cc", "below(most)", "0U", around="content = below(most)"), NOT_SLOWER),
            "as long as contents differ somewhere, a kernel that was not shown them before is slower"),
    Defence("borne_out", "to idle where it is launched again at once",
            (engine("what is saved back to back and not alone is not believed"),
             gpu("test_to_idle_when_launched_again_at_once_gains_nothing", "at once", "once every place was served")),
            (BORNE_OUT, VIEWS_LOOKED_AT, GRAPHS_LOOKED_AT),
            "what is not there alone, and what graphs leave: each alone is enough"),
    Defence("borne_out_as_it_is_told", "to idle where it is launched again at once",
            (engine("what is saved in some graphs, and alone in none, is not believed either"),),
            (Change(NODE + "gpu_comparison.cc", "!says_something(told)", "true"),)),
    Defence("most_pairs_say_so", "to idle where it is launched again at once",
            (engine("what two pairs of five show is no verdict, however sure their mean is"),),
            (Change(NODE + "ratio.cc", "median(logarithms)", "mean"),)),
    Defence("views_are_looked_at", "to idle where it is launched again at once",
            (engine("where graphs decide, warm runs and graphs are looked at as well"),),
            (VIEWS_LOOKED_AT, GRAPHS_LOOKED_AT)),
    Defence("no_graphs_of_contents", "to call its output an `inout`",
            (engine("graphs decide nothing where a launch works on what tensors begin with"),
             gpu("test_outputs_that_begin_with_contents_are_compared_cold", "inout", "output")),
            (BORNE_OUT, Change(NODE + "gpu_comparison.cc", "request_.works_on_contents", "false"),
             Change(NODE + "gpu_timing.cc", "request_.works_on_contents", "false", around="if (request_.works_on_contents) {\n    compared();"),
             Change(NODE + "gpu_timing.cc", "request_.works_on_contents", "false", around="if (!request_.works_on_contents) {\n    compared();")),
            "such tensors are compared before there are graphs of them, and views of them are not judged either"),
    Defence("leans_on_outputs", "to do less where its outputs are right already",
            (engine("a kernel that is far faster on what a launch has left than on fresh tensors is told"),
             gpu("test_outputs_that_are_there_already_save_no_time", "not a number any more", "right already")),
            (Change(NODE + "gpu_views.cc", "leaning.fresh_ns <= kMostSaved * std::max(leaning.repeated_ns, 0.0) + saved_ns", "true"),)),
    Defence("quick_in_graph", "to do less where its outputs are right already",
            (engine("who is quick in a graph, and not on what a launch has left, is doubtful, not accused"),),
            (Change(NODE + "gpu_views.cc", 'leave_unasked(kUnexplained, "launched alone on what a launch has left it is no quicker")', "std::nullopt"),)),
    Defence("contents_put_anew", "to do less where its outputs are right already",
            (engine("what is too little for events is believed where contents put anew show it too"),),
            (ANEW_ALONE,)),
    Defence("contents_put_anew_of_a_part", "to do less where its outputs are right already",
            (engine("what a launch alone shows a part of is believed where contents put anew show all of it"),
             engine("a reference that does less on what is there makes nothing slower"),),
            (ANEW_ALONE,)),
    Defence("what_a_graph_costs", "to make the shorter graph longer",
            (engine("who makes the shorter graph longer gains nothing"),),
            (Change(NODE + "gpu_comparison.cc", "launch_ns(series.graphs[i], excess)", "launch_ns(series.graphs[i], 0 * excess)"),)),
    Defence("one_launch_is_shown", "to idle where it is launched again at once",
            (gpu("test_who_idles_in_the_later_launches_of_a_graph_is_seen"),),
            (Change(RUNNER + "gpu_graphs.cc", "below(static_cast<std::uint32_t>(alike.size()))", "0U"),)),
    Defence("shown_twice", CONTENTS, (engine("contents that cost a little more when they are new are told from scatter"),),
            (Change(NODE + "gpu_anew.cc", "anew.more_ns > kSuspectedSlower * anew.repeated_ns + kSuspectedSlowerNs", "false"),)),
    Defence("shown_twice_with_patience", CONTENTS, (engine("a short kernel that begins to keep results after some launches is told"),),
            (Change(NODE + "gpu_anew.cc", "!later->is_slower()", "true"),)),
    Defence("shown_anew_is_looked_at", CONTENTS,
            (engine("three timed runs are examined, each with contents of its own, however few are timed"),
             gpu(ONCE, "it does nothing where contents are shown anew")),
            (Change(NODE + "gpu_anew.cc", "run.content < known_contents() && kept.insert(run.content).second", "false"),)),
    Defence("who_was_not_asked_is_known", CONTENTS, (engine("a kernel that is not shown contents anew is known to be so"),),
            (QUIETLY,)),
    Defence("looked_at_closer", "to do its work in some launches only",
            (engine("where times are of two kinds, twelve runs more are examined"),),
            (Change(NODE + "gpu_timing.cc", "is_uneven(kernel_.cold_ns)", "false"),)),
    Defence("every_run_leaves_a_digest", "to do its work in some launches only",
            (engine("a kernel that does nothing in some of its timed runs is told, whichever are looked at"),
             gpu("test_runs_that_nobody_looks_at_are_known_by_what_they_left")),
            (Change(NODE + "gpu_alike.cc", "left.idle > 0", "false"),)),
    Defence("other_bits_are_told", "to do its work in some launches only",
            (engine("a kernel that leaves other bits where nobody looks is doubtful, not accused"),
             gpu("test_runs_that_leave_other_bits_are_not_believed")),
            (Change(NODE + "gpu_alike.cc", "!left.is_doubtful()", "true"),)),
    Defence("reserved_shared_memory", CONTENTS, (gpu("test_results_kept_below_a_blocks_shared_memory_save_no_time"),),
            (Change(RUNNER + "gpu_context.cc", "attribute(cuda::kComputeMajor) == 9", "false"), NOT_SLOWER, QUIETLY),
            "it may be slower on contents shown anew, as often as what it kept of others is gone by then"),
    Defence("shown_often", CONTENTS, (engine("a kernel that keeps some of its contents is told, one that is quick on some is not"),
                                      engine("a kernel that finds what it kept in some runs only is told, one that is fickle is not")),
            (Change(NODE + "gpu_anew.cc", "quick_share(kernel_.cold_ns, anew.shown_ns) >= kLeastQuickShare", "false"),)),
    Defence("fresh_processes", CONTENTS, (engine("what only the end of a process empties is looked for in a fresh one"),),
            (Change(NODE + "gpu_anew.cc", "request_.leaves_memory && request_.renew", "false"),)),
    Defence("remembers", CONTENTS, (engine("a kernel that is slower on contents it was not shown before is told"),
                                    BY_CONTENTS, BESIDE, gpu(ONCE, "it remembers by contents")), (NOT_SLOWER,)),
    Defence("variables_are_reset", CONTENTS, (BY_CONTENTS,), (Change(RUNNER + "gpu_device.cc", "!has_variables_", "true"),)),
    Defence("memory_is_cleared", CONTENTS, (BESIDE,), (Change(RUNNER + "gpu_measurement.cc", "plan_.fresh", "false", around="if (plan_.fresh) forget_runs();"),)),
    Defence("co_tenants", "to have company on the device",
            (engine("a device that was busy though nobody of ours had it is told, if anybody can know"),),
            (Change(NODE + "gpu_timing.cc", "!tenants.empty()", "false"),)),
    Defence("a_runner_is_one_clients", NEXT_ATTEMPT, (OURS,),
            (Change(NODE + "gpu_pool.cc", "one.client == client", "true", around="one.client == client && one.side == side;"),)),
    Defence("a_runner_is_on_one_side", NEXT_ATTEMPT, (OURS, engine("both sides of a comparison are kept, each for its side")),
            (Change(NODE + "gpu_pool.cc", "one.side == side", "true"),)),
    Defence("what_is_not_emptied_serves_nobody", NEXT_ATTEMPT, (engine("a runner that cannot be emptied serves nobody"),),
            (Change(NODE + "gpu_pool.cc", '!answers(*one.process, {{"type", "reset"}}, "reset", kEmptyingLimit)', "false"),)),
    Defence("a_device_in_doubt_keeps_nothing", NEXT_ATTEMPT, (engine("what was kept on a device in doubt is given up"),),
            (Change(NODE + "gpu_pool.cc", "let_go(0);", NOTHING, STATEMENT, around="returned_.clear();\n  let_go(0);"),)),
    Defence("memory_is_scrubbed_between_attempts", NEXT_ATTEMPT, (gpu("test_nothing_of_an_attempt_is_there_for_the_next"),),
            (Change(RUNNER + "gpu_timer.cc",
                    "driver.check(driver.MemsetD32Async(memory.address(), 0, memory.bytes() / 4, context_.stream()),\n                 \"scrubbing\");",
                    NOTHING, STATEMENT),)),
    Defence("lent_memory_is_filled", NEXT_ATTEMPT,
            (engine("nothing that a run left behind the tensors of lent memory is there for the next"),
             gpu("test_nothing_behind_lent_tensors_is_there_for_the_next")),
            (Change(RUNNER + "device_examination.cc", "filled.lent_bytes", "layout_.total_bytes", around="fill_pattern(arena, 0, filled.lent_bytes"),)),
    Defence("device_code_that_allocates_serves_once", NEXT_ATTEMPT, (gpu("test_device_code_that_allocates_serves_once"),),
            (Change(NODE + "kernel_job.cc", "!program->leaves_memory()", "true"),)),

    Defence("graphs_of_enough_launches", "to make the shorter graph longer", (gpu("test_who_is_slow_at_first_has_no_shorter_graph"),),
            (Change(RUNNER + "gpu_graphs.cc", "2 * kept->launches >= wanted_launches()", "true"),)),
    Defence("right_in_each_round", "to be right while few runs are asked of it", (engine("the reference judges each variant in each round"),),
            (Change(NODE + "sweep_job.cc", "request_for(row, trials, With::reference)",
                    "request_for(row, trials, row.measured ? With::nothing : With::reference)"),)),
    Defence("flushed_cache", "to keep data in the L2 cache", (gpu("test_cold_runs_find_nothing_in_the_cache"),),
            (Change(RUNNER + "gpu_measurement.cc", "timer_.flush_.queue(timer_.place_bytes_)", "int{cuda::kSuccess}"),),
            "that a carve-out is set to 0 shows nowhere: a new context has none, and device code cannot ask for one"),
    Defence("swept_cache", "to keep data in the L2 cache", (gpu("test_a_cache_that_was_not_read_over_is_seen"),),
            (Change(RUNNER + "gpu_measurement.cc", "timer_.flush_.queue(timer_.place_bytes_)", "int{cuda::kSuccess}"),
             Change(RUNNER + "gpu_measurement.cc", "is_shown_anew(run) ? timer_.flush_.sweep() : cuda::kSuccess", "int{cuda::kSuccess}")),
            "it is what shows that the cache was not read over; where it was, nothing is missing"),
    Defence("word_of_the_driver", "a launch that fails and is very fast",
            (engine("a launch that no device of this kind accepts is the kernel's, whatever it asked for"),),
            (Change(RUNNER + "gpu_launch.cc", "return {.ending = Ending::invalid_launch, .message = text};", "return {};", STATEMENT),),
            "on a GPU it is told without it, too: what never ran has written nothing"),

    Defence("wall_clock", "to write over what events have written",
            (engine("a kernel whose events hide half of its work is told"),
             engine("events that hide work from the host's clock are evidence, honest ones are figures")),
            (Change(NODE + "wall_clock.cc", "hidden_ns > kMostHidden * slope_ns + kMostHiddenNs", "false"),)),
    Defence("sum_of_times", "to write over what events have written", (engine("times that add up to more than they were taken in are told"),),
            (Change(NODE + "wall_clock.cc", "times.summed_ns > times.asked_ns * (1 + kClocksDiffer) + kQuestionDoubtNs", "false"),)),
    Defence("times_not_held", "to write over what events have written",
            (engine("short runs that no host's clock stands behind are doubtful, long ones are held"),),
            (Change(NODE + "gpu_claims.cc", "!wall.doubt.empty()", "false"),)),
    Defence("below_floor", "to be faster than the memory can take its results",
            (engine("a time below what the memory takes for the outputs is evidence"),),
            (Change(NODE + "floor.cc", "claimed_ns + kEventResolutionNs < kShareOfMust * must_ns", "false"),)),

    Defence("landlock", SECRETS, (ATTACKS,),
            (Change(WALLS + "worker.cc", "confinement.layers.landlock", "false", around="if (confinement.layers.landlock) restrict_files"),)),
    Defence("call_filter", SECRETS, (ATTACKS,), (Change(WALLS + "worker.cc", "install_filter(filter);", NOTHING, STATEMENT),)),
    Defence("new_environment", SECRETS, (ATTACKS,),
            (Change(WALLS + "child.cc", "return environment;",
                    "for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry); return environment;", STATEMENT),)),
    Defence("pid_namespace", SECRETS, (ATTACKS, walls("the best layers are the first that pass, and are said in full")),
            (Change(WALLS + "init.cc", "has_pid_namespace(layers.level)", "false", around="if (has_pid_namespace(layers.level)) flags |="),)),
    Defence("no_capabilities", SECRETS, (walls("the best layers are the first that pass, and are said in full"),),
            (Change(WALLS + "worker.cc", "drop_capabilities();", NOTHING, STATEMENT),)),
    Defence("own_limits", FAULTS, (ATTACKS,), (Change(WALLS + "worker.cc", "set_limits(confinement);", NOTHING, STATEMENT),)),
    Defence("flood_is_ended", FAULTS, (ZOO,), (Change(NODE + "runner_process.cc", "output_seen_ > limits_.output_bytes", "false"),)),
    Defence("deadline", FAULTS, (ZOO,), (Change(NODE + "runner_process.cc", "Clock::now() >= deadline", "false"),)),

    Defence("turns_alternate", TURNS, (engine("a kernel and its reference take turns, and neither is always the first"),),
            (Change(NODE + "gpu_timing.cc", "turn % 2 == 1", "false"),)),
    Defence("interval_of_the_ratio", TURNS, (engine("a kernel against itself is told from itself in less than one of a hundred"),),
            (Change(NODE + "ratio.cc", "mean - half > 0 && std::min(mean, middle) > least", "mean > 0"),
             Change(NODE + "ratio.cc", "mean + half < 0 && std::max(mean, middle) < -least", "mean < 0"))),
)

# Of kernels in Python, whose host code runs in the process that is timed: not all of docs/python.md, which has a test
# for each cheat, but what many of them rest on.
CAUGHT, PYTHON = "test_cheats.Cheats.test_each_is_caught_as_it_is_documented", "docs/python.md"
NO_NAMES = "std::vector<std::string>()"
OF_PYTHON = (
    Defence("patched_functions", "`patched_functions`",
            (torch(CAUGHT, "patches the clocks", "patches copying", "traces every call", "leaves a dispatch mode on", "leaves a function mode on",
                   "patches the pointer of tensors", "overrides builtins", "tells its monitor of every line"),),
            (Change(NODE + "python_judged.cc", "claims.patched", NO_NAMES, around='note("patched_functions", claims.patched,'),), page=PYTHON),
    Defence("tracers_and_modes", "a tracer is there that was not",
            (torch(CAUGHT, "traces every call", "leaves a dispatch mode on", "leaves a function mode on", "tells its monitor of every line"),),
            (Change("src/engine/python/assay_runner/watch.py", "[name for name, now in _hooks().items() if now != self._hooks[name]]", "[]"),), page=PYTHON),
    Defence("all_of_pythons_own", "all of Python's own", (torch(CAUGHT, "overrides builtins"),),
            (Change("src/engine/python/assay_runner/watch.py", 'yield from _callables("builtins", builtins)', "pass", STATEMENT),), page=PYTHON),
    Defence("tensor_subclass", "`tensor_subclass`", (torch(CAUGHT, "lazy subclass"),),
            (Change(NODE + "python_judged.cc", "claims.foreign", NO_NAMES, around='note("tensor_subclass", claims.foreign,'),), page=PYTHON),
    Defence("all_is_quiet", "`quiet_after_end`", (torch(CAUGHT, "keeps a thread busy"),),
            (Change(NODE + "python_timing.cc", "used > kRestlessCpu", "false"),
             Change(NODE + "python_timing.cc", "used > kLeastAside && used > wall * kMostAside", "false"),
             Change(NODE + "python_timing.cc", "!plan_.on_device && kernel_wall_ >= kLeastWall && cores > kMostCores", "false")),
            "after the end, beside the reference's turns, and on more than one core: each alone tells", PYTHON),
    Defence("quiet_in_others_turn", "`quiet_in_others_turn`",
            (torch("test_cheats.Cheats.test_work_in_the_references_turn_is_suspect_though_all_is_quiet_at_the_end"),),
            (Change(NODE + "python_timing.cc", "used > kLeastAside && used > wall * kMostAside", "false"),), page=PYTHON),
    Defence("timed_calls_are_examined", "timed calls are examined like others", (torch(CAUGHT, "knows the timed calls"),),
            (Change(NODE + "python_timing.cc", "choose(calls)", "std::vector<std::uint32_t>()", around="const auto chosen = choose(calls);"),),
            page=PYTHON),
    Defence("no_frame_is_proof", "no frame is proof too",
            (torch(CAUGHT, "writes rubbish to the channel", "claims a fault of ours", "writes a frame nested without end"),),
            (Change(NODE + "python_session.cc", "end->why == Why::malformed || end->why == Why::fault", "false"),), page=PYTHON),
    Defence("answers_are_numbered", "answers bear the number of their question", (torch(CAUGHT, "writes frames of its own"),),
            (Change(NODE + "python_session.cc", 'said.at("seq") != seq_', "false"),
             Change(NODE + "python_session.cc", 'said.at("type") != expected', "false")), "and have its type", PYTHON),
)

DEFENCES = (*OF_DEVICE_CODE, *OF_PYTHON)

# Rows of which nothing can be taken away.
NO_ENTRY = {
    "to launch kernels that go on after the last event":
        "there is nothing in the product to take away: what device code would launch with is in a library that no program is linked with",
}
