"""The operators of tensor_operators.py once more, by NumPy's own functions: a second witness."""

import numpy as np
from tensor_operators import two, windows


def padded(x, kernel, params, default_stride, shape, fill):
    """`x` with `fill` around it, and the windows of it that the output's elements see."""
    stride, dilation, before = windows(params, x.shape[2:], kernel, default_stride)
    spans = [apart * (size - 1) + 1 for apart, size in zip(dilation, kernel)]
    needed = [(count - 1) * step + span for count, step, span in zip(shape[2:], stride, spans)]
    after = [max(0, need - size - first) for need, size, first in zip(needed, x.shape[2:], before)]
    wide = np.pad(x, [(0, 0), (0, 0), *zip(before, after)], constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(wide, spans, axis=(2, 3))
    view = view[:, :, ::stride[0], ::stride[1], ::dilation[0], ::dilation[1]]
    return view[:, :, :shape[2], :shape[3]]


def conv2d(inputs, params, shape):
    x, weights = inputs[:2]
    groups = params.get("groups", 1)
    view = padded(x, weights.shape[2:], params, 1, shape, 0)
    parts = [np.einsum("nchwij,ocij->nohw", part, own)
             for part, own in zip(np.split(view, groups, axis=1), np.split(weights, groups, axis=0))]
    out = np.concatenate(parts, axis=1)
    return out + inputs[2].reshape(1, -1, 1, 1) if len(inputs) == 3 else out


def maxpool2d(inputs, params, shape):
    kernel = two(params["kernel_size"])
    x = inputs[0].astype(np.float64)
    return padded(x, kernel, params, list(kernel), shape, -np.inf).max(axis=(4, 5))


def avgpool2d(inputs, params, shape):
    kernel = two(params["kernel_size"])
    sums = padded(inputs[0], kernel, params, list(kernel), shape, 0).sum(axis=(4, 5))
    if params.get("count_include_pad"):
        return sums / (kernel[0] * kernel[1])
    inside = padded(np.ones_like(inputs[0]), kernel, params, list(kernel), shape, 0)
    return sums / inside.sum(axis=(4, 5))


def gemm(inputs, params, shape):
    a, b = inputs[:2]
    out = (a.T if params.get("trans_a") else a) @ (b.T if params.get("trans_b") else b)
    out = out * params.get("alpha", 1)
    return out + params.get("beta", 1) * inputs[2] if len(inputs) == 3 else out


def softmax(inputs, params, shape):
    axis = params.get("axis", -1)
    powers = np.exp(inputs[0] - inputs[0].max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def reduced(function):
    def operator(inputs, params, shape):
        axis = params.get("axis")
        return function(inputs[0], axis=tuple(axis) if isinstance(axis, list) else axis)
    return operator


OPERATORS = {
    "vector_dot": lambda inputs, params, shape: np.dot(*inputs),
    "vector_norm": lambda inputs, params, shape: np.linalg.norm(inputs[0].astype(np.float64)),
    "vector_sum": lambda inputs, params, shape: np.sum(inputs[0]),
    "gemm": gemm,
    "matmul": lambda inputs, params, shape: np.matmul(*inputs),
    "conv2d": conv2d,
    "maxpool2d": maxpool2d,
    "avgpool2d": avgpool2d,
    "relu": lambda inputs, params, shape: np.maximum(inputs[0], 0),
    "sigmoid": lambda inputs, params, shape: 1 / (1 + np.exp(-inputs[0])),
    "leaky_relu": lambda inputs, params, shape: np.where(inputs[0] > 0, inputs[0], params.get("alpha", 0.01) * inputs[0]),
    "softmax": softmax,
    "reduce_sum": reduced(np.sum),
    "reduce_mean": reduced(np.mean),
    "broadcast_to": lambda inputs, params, shape: np.broadcast_to(inputs[0], shape),
}
UNIVERSAL = {"elementwise_add": np.add, "elementwise_sub": np.subtract, "elementwise_mul": np.multiply,
             "elementwise_div": np.divide, "equal": np.equal, "greater": np.greater, "less": np.less,
             "less_equal": np.less_equal, "greater_equal": np.greater_equal, "tanh": np.tanh, "sinh": np.sinh}


def wide(values, dtype, shape):
    """Python's numbers in the widest type of their kind: what is judged is the operator, not a width."""
    kind = np.float64 if dtype.startswith(("float", "bfloat")) else np.uint64 if dtype == "uint64" else np.int64
    return np.array(values, dtype=kind).reshape(shape)


def compute(case, inputs):
    """The values of the output, in order; `inputs`: lists of Python's numbers."""
    arrays = [wide(values, dtype, shape) for values, dtype, shape in zip(inputs, case["dtypes"], case["shapes"])]
    operator = case["operator"]
    result = UNIVERSAL[operator](*arrays) if operator in UNIVERSAL else OPERATORS[operator](arrays, case["params"], case["output_shape"])
    return np.asarray(result).reshape(-1).tolist()
