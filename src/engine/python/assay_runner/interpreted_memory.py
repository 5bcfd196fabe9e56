"""Where interpreted kernels store: the interpreter writes to any address, and what lies beyond a tensor is this process's own
memory, which dies of it later and elsewhere. Told is the store itself, in the user's own line, and the load that would end
the process. What lies within any tensor is no concern here."""

import functools
import gc

import torch

_launches = []  # running, the innermost last


class OutOfBounds(Exception):
    """As it is told: its name stands in the sentence."""


class _Launch:
    def __init__(self, kernel, names, positional, named):
        self.kernel = kernel
        self.regions = []  # (begin, end, name)
        self._knows_all = False
        for name, value in [*zip(names, positional), *named.items()]:
            for tensor in _tensors(value):
                self._add(tensor, f"'{name}'")

    def _add(self, tensor, name):
        storage = tensor.untyped_storage()
        if storage.nbytes() > 0:  # else it has no place
            self.regions.append((storage.data_ptr(), storage.data_ptr() + storage.nbytes(), name))

    def beyond(self, addresses, size):
        """Those of the addresses (of numpy) where `size` bytes lie in none of the tensors that were passed."""
        if addresses.size == 0:
            return addresses
        low, high = int(addresses.min()), int(addresses.max()) + size
        if any(begin <= low and high <= end for begin, end, _ in self.regions):
            return addresses[:0]
        for begin, end, _ in self.regions:
            if end - begin >= size:
                addresses = addresses[(addresses < begin) | (addresses > end - size)]
        return addresses

    def add_all(self):
        """Tables of pointers lead to tensors that were not passed."""
        if not self._knows_all:
            self._knows_all = True
            for found in gc.get_objects():
                if isinstance(found, torch.Tensor) and found.layout == torch.strided and found.device.type == "cpu":
                    self._add(found, "a tensor")

    def sentence(self, what, address, size, block):
        """Of an access of `size` bytes that lies beyond every tensor: by the nearest one."""
        text = f"{what} of {self.kernel} in block {block} lies beyond every tensor"
        if not self.regions:
            return text
        begin, end, name = min(self.regions, key=lambda one: max(address - one[1], one[0] - address))
        far = "right behind the end" if address == end else (
            f"{address - end} bytes behind the end" if address > end else
            f"{begin - address} bytes before the beginning" if address < begin else f"{end - address} bytes before the end")
        return f"{text}: {size} bytes, {far} of {name}, which has {end - begin}"


def install(interpreter):
    """From here on stores of this module's kernels (triton.runtime.interpreter) are looked at before they are done. False where
    this version of it has no place for that."""
    try:
        executor, builder, dtype_of = interpreter.GridExecutor, interpreter.InterpreterBuilder, interpreter._get_np_dtype
        execute, load, store = executor.__call__, builder.create_masked_load, builder.create_masked_store
        add, exchange = builder.create_atomic_rmw, builder.create_atomic_cas
    except AttributeError:
        return False

    def executed(self, *arguments, **named):
        try:
            launch = _Launch(self.fn.__name__, self.arg_names, arguments, named)
        except Exception:  # of what has no storage: the interpreter's to take or refuse
            launch = None
        _launches.append(launch)
        try:
            return execute(self, *arguments, **named)
        finally:
            _launches.pop()

    def stored(self, ptrs, value, mask, *more, **named):
        _refuse_beyond(self, "a store", _chosen(ptrs, mask), value.data.dtype.itemsize)
        return store(self, ptrs, value, mask, *more, **named)

    def loaded(self, ptrs, mask, *more, **named):
        _refuse_unmapped(self, _chosen(ptrs, mask), interpreter.np.dtype(dtype_of(ptrs.get_element_ty())).itemsize)
        return load(self, ptrs, mask, *more, **named)

    def added(self, operation, ptr, val, mask, *more, **named):
        _refuse_beyond(self, "an atomic operation", _chosen(ptr, mask), val.data.dtype.itemsize)
        return add(self, operation, ptr, val, mask, *more, **named)

    def exchanged(self, ptr, cmp, *more, **named):
        _refuse_beyond(self, "an atomic operation", ptr.data.reshape(-1), cmp.data.dtype.itemsize)
        return exchange(self, ptr, cmp, *more, **named)

    executor.__call__ = functools.wraps(execute)(executed)
    builder.create_masked_store, builder.create_masked_load = functools.wraps(store)(stored), functools.wraps(load)(loaded)
    builder.create_atomic_rmw, builder.create_atomic_cas = functools.wraps(add)(added), functools.wraps(exchange)(exchanged)
    return True


def _chosen(pointers, mask):
    return pointers.data.reshape(-1)[mask.data.reshape(-1).astype(bool)]


def _refuse_beyond(builder, what, addresses, size):
    launch = _launches[-1] if _launches else None
    if launch is None or launch.beyond(addresses, size).size == 0:
        return
    launch.add_all()
    beyond = launch.beyond(addresses, size)
    if beyond.size:
        raise OutOfBounds(launch.sentence(what, int(beyond[0]), size, builder.grid_idx))


def _refuse_unmapped(builder, addresses, size):
    """A load of what is mapped is of something: as on a GPU it may be nothing that is used."""
    launch = _launches[-1] if _launches else None
    if launch is None:
        return
    beyond = launch.beyond(addresses, size)
    if beyond.size == 0:
        return
    mapped = _readable()
    for address in beyond if mapped else ():
        if not any(begin <= int(address) < end for begin, end in mapped):
            launch.add_all()
            raise OutOfBounds(launch.sentence("a load", int(address), size, builder.grid_idx))


def _readable():
    """[(begin, end)] of what this process may read; nothing where it is not told."""
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as lines:
            found = [line.split() for line in lines]
    except OSError:
        return []
    return [tuple(int(bound, 16) for bound in words[0].split("-")) for words in found if words[1].startswith("r")]


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)
    elif isinstance(getattr(value, "base", None), torch.Tensor):  # reinterpreted, or behind a descriptor
        yield value.base
