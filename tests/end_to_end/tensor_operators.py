"""What operators give, computed from their definitions in plain Python: independent of the product.

As a program it is the runner of a plan: tensor_operators.py SPEC.json CASE INPUT,… OUTPUT, where the
specification has for each case {operator, params, dtypes, shapes, output_dtype, output_shape}. With
SPOIL=1 in the environment one element of the output is wrong.
"""

import itertools
import json
import math
import os
import struct
import sys

FORMATS = {"float64": "d", "float32": "f", "float16": "e", "int64": "q", "int32": "i", "int16": "h", "int8": "b",
           "uint64": "Q", "uint32": "I", "uint16": "H", "uint8": "B", "bool": "?"}
BITS = {"int64": 64, "int32": 32, "int16": 16, "int8": 8, "uint64": 64, "uint32": 32, "uint16": 16, "uint8": 8}


def count(shape):
    return math.prod(shape)


def decode(raw, dtype):
    if dtype == "bfloat16":
        return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
    size = struct.calcsize(FORMATS[dtype])
    return list(struct.unpack(f"<{len(raw) // size}{FORMATS[dtype]}", raw))


def encode(values, dtype):
    if dtype == "bool":
        return bytes(1 if value else 0 for value in values)
    if dtype in BITS:
        bits = BITS[dtype]
        wrapped = [int(value) & ((1 << bits) - 1) for value in values]
        if dtype.startswith("int"):
            wrapped = [value - (1 << bits) if value >> (bits - 1) else value for value in wrapped]
        return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *wrapped)
    if dtype == "bfloat16":
        out = b""
        for value in values:
            bits = struct.unpack("<I", struct.pack("<f", value))[0]
            out += struct.pack("<H", (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)
        return out
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *[float(value) for value in values])


class Tensor:
    def __init__(self, shape, values):
        self.shape = list(shape)
        self.values = values

    def at(self, *index):
        place = 0
        for extent, i in zip(self.shape, index):
            place = place * extent + i
        return self.values[place]


def indices(shape):
    return itertools.product(*[range(extent) for extent in shape])


def spread(tensor, index):
    """The element that NumPy's broadcasting puts at `index` of a larger shape."""
    own = index[len(index) - len(tensor.shape):]
    return tensor.at(*[0 if extent == 1 else i for extent, i in zip(tensor.shape, own)])


def pairwise(function):
    def operator(inputs, params, shape):
        left, right = inputs
        return [function(spread(left, index), spread(right, index)) for index in indices(shape)]
    return operator


def each(function):
    return lambda inputs, params, shape: [function(value) for value in inputs[0].values]


def total(values):
    values = list(values)
    return math.fsum(values) if any(isinstance(value, float) for value in values) else sum(values)


def gemm(inputs, params, shape):
    a, b = inputs[:2]
    rows, columns = shape
    inner = a.shape[0] if params.get("trans_a") else a.shape[1]

    def left(i, k):
        return a.at(k, i) if params.get("trans_a") else a.at(i, k)

    def right(k, j):
        return b.at(j, k) if params.get("trans_b") else b.at(k, j)

    out = []
    for i, j in indices((rows, columns)):
        value = total(left(i, k) * right(k, j) for k in range(inner)) * params.get("alpha", 1)
        if len(inputs) == 3:
            value += params.get("beta", 1) * spread(inputs[2], (i, j))
        out.append(value)
    return out


def matmul(inputs, params, shape):
    a, b = inputs
    if len(a.shape) == 1:
        a = Tensor([1] + a.shape, a.values)
    if len(b.shape) == 1:
        b = Tensor(b.shape + [1], b.values)
    rows, columns, inner = a.shape[-2], b.shape[-1], a.shape[-1]
    batch = shape[:max(len(a.shape), len(b.shape)) - 2]
    return [total(spread(a, [*index, i, k]) * spread(b, [*index, k, j]) for k in range(inner))
            for index in indices(batch) for i in range(rows) for j in range(columns)]


def two(value):
    return tuple(value) if isinstance(value, list) else (value, value)


def windows(params, sizes, kernel, default_stride):
    """For each direction: stride, dilation, padding before it."""
    stride = two(params.get("stride", default_stride))
    dilation = two(params.get("dilation", 1))
    padding = params.get("padding", 0)
    if padding == "valid":
        padding = 0
    if padding == "same":
        before = []
        for size, window, step, apart in zip(sizes, kernel, stride, dilation):
            needed = max(0, (math.ceil(size / step) - 1) * step + apart * (window - 1) + 1 - size)
            before.append(needed // 2)
    elif isinstance(padding, list) and len(padding) == 4:
        before = [padding[0], padding[2]]
    else:
        before = list(two(padding))
    return stride, dilation, before


def conv2d(inputs, params, shape):
    x, weights = inputs[:2]
    groups = params.get("groups", 1)
    per_group = weights.shape[0] // groups
    stride, dilation, before = windows(params, x.shape[2:], weights.shape[2:], 1)
    out = []
    for image, channel, row, column in indices(shape):
        terms = [inputs[2].values[channel]] if len(inputs) == 3 else []
        for k, i, j in indices(weights.shape[1:]):
            y = row * stride[0] + i * dilation[0] - before[0]
            z = column * stride[1] + j * dilation[1] - before[1]
            if 0 <= y < x.shape[2] and 0 <= z < x.shape[3]:
                terms.append(x.at(image, channel // per_group * weights.shape[1] + k, y, z) * weights.at(channel, k, i, j))
        out.append(total(terms))
    return out


def pool(reduce):
    def operator(inputs, params, shape):
        x = inputs[0]
        kernel = two(params["kernel_size"])
        stride, dilation, before = windows(params, x.shape[2:], kernel, list(kernel))
        out = []
        for image, channel, row, column in indices(shape):
            seen = []
            for i, j in indices(kernel):
                y = row * stride[0] + i * dilation[0] - before[0]
                z = column * stride[1] + j * dilation[1] - before[1]
                if 0 <= y < x.shape[2] and 0 <= z < x.shape[3]:
                    seen.append(x.at(image, channel, y, z))
            out.append(reduce(seen, params, kernel))
        return out
    return operator


def mean_of_window(seen, params, kernel):
    return total(seen) / (kernel[0] * kernel[1] if params.get("count_include_pad") else len(seen))


def softmax(inputs, params, shape):
    axis = params.get("axis", -1) % len(shape)
    x = inputs[0]
    out = []
    for index in indices(shape):
        line = [x.at(*index[:axis], i, *index[axis + 1:]) for i in range(shape[axis])]
        out.append(1 / math.fsum(math.exp(value - x.at(*index)) for value in line))
    return out


def reduction(finish):
    def operator(inputs, params, shape):
        x = inputs[0]
        axes = params.get("axis")
        axes = range(len(x.shape)) if axes is None else axes if isinstance(axes, list) else [axes]
        axes = {axis % len(x.shape) for axis in axes}
        groups = {}
        for index in indices(x.shape):
            kept = tuple(i for axis, i in enumerate(index) if axis not in axes)
            groups.setdefault(kept, []).append(x.at(*index))
        return [finish(groups[key]) for key in sorted(groups)]
    return operator


OPERATORS = {
    "elementwise_add": pairwise(lambda a, b: a + b),
    "elementwise_sub": pairwise(lambda a, b: a - b),
    "elementwise_mul": pairwise(lambda a, b: a * b),
    "elementwise_div": pairwise(lambda a, b: a / b),
    "equal": pairwise(lambda a, b: a == b),
    "greater": pairwise(lambda a, b: a > b),
    "less": pairwise(lambda a, b: a < b),
    "less_equal": pairwise(lambda a, b: a <= b),
    "greater_equal": pairwise(lambda a, b: a >= b),
    "vector_dot": lambda inputs, params, shape: [total(a * b for a, b in zip(inputs[0].values, inputs[1].values))],
    "vector_norm": lambda inputs, params, shape: [math.sqrt(math.fsum(value * value for value in inputs[0].values))],
    "vector_sum": lambda inputs, params, shape: [total(inputs[0].values)],
    "gemm": gemm,
    "matmul": matmul,
    "conv2d": conv2d,
    "maxpool2d": pool(lambda seen, params, kernel: max(seen)),
    "avgpool2d": pool(mean_of_window),
    "relu": each(lambda x: max(x, 0)),
    "sigmoid": each(lambda x: 1 / (1 + math.exp(-x))),
    "tanh": each(math.tanh),
    "leaky_relu": lambda inputs, params, shape: [x if x > 0 else params.get("alpha", 0.01) * x for x in inputs[0].values],
    "sinh": each(math.sinh),
    "softmax": softmax,
    "reduce_sum": reduction(total),
    "reduce_mean": reduction(lambda values: total(values) / len(values)),
    "broadcast_to": lambda inputs, params, shape: [spread(inputs[0], index) for index in indices(shape)],
}


def compute(case, inputs):
    """The values of the output, in order; `inputs`: lists of Python's numbers."""
    tensors = [Tensor(shape, values) for values, shape in zip(inputs, case["shapes"])]
    return OPERATORS[case["operator"]](tensors, case["params"], case["output_shape"])


def main():
    specification, name, inputs, output = sys.argv[1:5]
    with open(specification, encoding="utf-8") as file:
        case = json.load(file)[name]
    numbers = []
    for path, dtype in zip(inputs.split(","), case["dtypes"]):
        with open(path, "rb") as file:
            numbers.append(decode(file.read(), dtype))
    values = compute(case, numbers)
    if os.environ.get("SPOIL"):
        middle = len(values) // 2
        values[middle] = not values[middle] if case["output_dtype"] == "bool" else values[middle] * (2 if isinstance(values[middle], float) else 1) + 5
    with open(output, "wb") as file:
        file.write(encode(values, case["output_dtype"]))


if __name__ == "__main__":
    main()
