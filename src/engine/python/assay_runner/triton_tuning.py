"""Which configuration of an autotuned kernel is compiled. Without a device none can be timed: it is the first that is left
where Triton would drop some, and that a device takes."""

from assay_runner.failure import Located, Refused

_MOST_WHY = 200


class _Named(dict):
    """The arguments by position. A meta may have been one: it is found there, though no call spreads it."""

    def __init__(self, plain, metas):
        super().__init__(plain)
        self._metas = metas

    def __missing__(self, name):
        return self._metas[name]


def candidates(kernel, values, metas):
    """Those that agree with what the contract says, of what pruning leaves; [None] of a kernel that has none."""
    if not kernel.configs:
        return [None]
    for config in (kept := _pruned(kernel, values, metas)):
        if place(kernel, config) is None:
            kernel.configs.append(config)  # which pruning made
    # What the contract itself names is taken, though pruning would not.
    for among in (kept, kernel.configs):
        if agreeing := [config for config in among
                        if all(values.get(name, value) == value for name, value in config.kwargs.items())]:
            return agreeing
    stated = {name: values[name] for config in kernel.configs for name in config.kwargs if name in values}
    raise Refused("arity", f"None of the {len(kernel.configs)} configurations of '{kernel.name}' has {stated}")


def _pruned(kernel, values, metas):
    tuned = {name for config in kernel.configs for name in config.all_kwargs()}
    named = {name: value for name, value in values.items() if name in metas - tuned}
    plain = _Named({name: value for name, value in values.items() if name not in metas | tuned}, named)
    left = []
    for tuner in kernel.tuners:
        tuner.nargs = plain
        left += tuner.prune_configs(named)
    return left


def place(kernel, config):
    """Its number among the kernel's own; None if it is none of them."""
    return next((number for number, one in enumerate(kernel.configs) if one is config), None if config else 0)


def first_that_fits(configs, max_shared_bytes, build):
    """(configuration, what was built, [(one before it, why it was passed over)]). Triton's autotuner takes those that fail
    an assertion of the kernel's or ask for too much of a device as endlessly slow; where all do, the first one tells."""
    failed = []
    for config in configs:
        try:
            built = build(config)
        except Located as error:
            if error.kind != "CompileTimeAssertionFailure":
                raise
            failed.append((config, error, f"{error.kind} at line {error.line}"))
            continue
        if not isinstance(built.shared_bytes, int) or built.shared_bytes <= max_shared_bytes:  # a forged one is the engine's to refuse
            return config, built, [(one, why[:_MOST_WHY]) for one, _, why in failed]
        failed.append((config, built, f"{built.shared_bytes} bytes of shared memory"))
    config, outcome, _ = failed[0]
    if isinstance(outcome, Located):
        raise outcome
    return config, outcome, []
