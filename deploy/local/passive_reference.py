"""Computes an ONNX classifier by plain formulas in double precision, node by node, in ONNX's own order of numbers.

It shares nothing with passive_network.py but the graph: its results stand in the flat file, and the service compares its own with them.
"""

import numpy as np


def test_picture(seed, width, height):
    """Makes noise by a linear congruential generator: hg_passive_check makes the same."""
    state, levels = seed, np.zeros(width * height * 3, np.uint8)
    for i in range(len(levels)):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        levels[i] = state >> 24
    return levels.reshape(height, width, 3)


def windows(x, node, kernel, fill):
    """Returns what lies under each pixel of the kernel: a list of ((row, column), values of the result's size)."""
    top, left, bottom, right = node.integers.get("pads") or (0, 0, 0, 0)
    down, across = node.integers.get("strides") or (1, 1)
    x = np.pad(x, ((0, 0), (top, bottom), (left, right)), constant_values=fill)
    height, width = (x.shape[1] - kernel[0]) // down + 1, (x.shape[2] - kernel[1]) // across + 1
    return [((row, column), x[:, row:row + down * (height - 1) + 1:down, column:column + across * (width - 1) + 1:across])
            for row in range(kernel[0]) for column in range(kernel[1])]


def convolution(node, x, weights, bias=None):
    groups = (node.integers.get("group") or [1])[0]
    of_group, out_of_group = x.shape[0] // groups, weights.shape[0] // groups
    total = 0
    for (row, column), values in windows(x, node, weights.shape[2:], 0):
        parts = [np.tensordot(weights[g * out_of_group:(g + 1) * out_of_group, :, row, column], values[g * of_group:(g + 1) * of_group], 1)
                 for g in range(groups)]
        total = total + np.concatenate(parts)
    return total if bias is None else total + bias[:, None, None]


def normalisation(node, x, gamma, beta, mean, variance):
    epsilon = 1e-5 if node.real.get("epsilon") is None else node.real["epsilon"]
    gamma, beta, mean, variance = (a.reshape(-1, *[1] * (x.ndim - 1)) for a in (gamma, beta, mean, variance))
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def pool(node, x):
    kernel = node.integers["kernel_shape"]
    if node.kind == "MaxPool":
        return np.max([values for _, values in windows(x, node, kernel, -np.inf)], axis=0)
    return np.sum([values for _, values in windows(x, node, kernel, 0)], axis=0) / np.prod(kernel)


def mean(node, x, *axes):
    return x.mean((1, 2), keepdims=node.integers.get("keepdims") != [0])


def gemm(node, x, weights, bias=0):
    return (weights if (node.integers.get("transB") or [0])[0] else weights.T) @ x + np.reshape(bias, -1)


def softmax(x):
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def slope(node):
    return 0.01 if node.real.get("alpha") is None else node.real["alpha"]


def squeezed(node, x, *_):
    return x.reshape(-1)


FORMULAS = {
    "Conv": convolution, "BatchNormalization": normalisation, "AveragePool": pool, "MaxPool": pool, "ReduceMean": mean, "Gemm": gemm,
    "MatMul": lambda node, x, weights: x @ weights,
    "GlobalAveragePool": lambda node, x: x.mean((1, 2), keepdims=True),
    "GlobalMaxPool": lambda node, x: x.max((1, 2), keepdims=True),
    "Relu": lambda node, x: np.maximum(x, 0),
    "PRelu": lambda node, x, slopes: np.where(x < 0, x * slopes, x),
    "LeakyRelu": lambda node, x: np.where(x < 0, x * slope(node), x),
    "Clip": lambda node, x, *_: np.clip(x, 0, 6),
    "Sigmoid": lambda node, x: 1 / (1 + np.exp(-x)),
    "HardSigmoid": lambda node, x: np.clip(x / 6 + 0.5, 0, 1),
    "HardSwish": lambda node, x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Add": lambda node, a, b: a + b,
    "Sub": lambda node, a, b: a - b,
    "Mul": lambda node, a, b: a * b,
    "Div": lambda node, a, b: a / b,
    "Flatten": squeezed, "Reshape": squeezed, "Squeeze": squeezed,
    "Unsqueeze": lambda node, x, *_: x.reshape(-1, 1, 1),
    "Identity": lambda node, x: x,
    "Dropout": lambda node, x, *_: x,
    "Softmax": lambda node, x: softmax(x.reshape(-1)),
}


def constant(value, kind):
    """Returns a constant in double precision, without the axis of the batch where it has one."""
    value = np.asarray(value)
    if kind in ("Add", "Sub", "Mul", "Div", "PRelu") and value.ndim == 4:
        value = value[0]
    return value.astype(np.float64) if value.dtype.kind == "f" else value


def results(graph, picture, end=None):
    """Returns the numbers of the output for a normalised picture [channel, row, column]; those before the last node if it is of the
    kind `end`."""
    values = {graph.input: picture.astype(np.float64)}
    for node in graph.nodes:
        if node.kind == "Constant":
            graph.tensors[node.outputs[0]] = node.tensors["value"]
            continue
        if node.kind == end and node is graph.nodes[-1]:
            return values[node.inputs[0]].reshape(-1)
        inputs = [values[name] if name in values else constant(graph.tensors[name], node.kind) for name in node.inputs if name]
        values[node.outputs[0]] = FORMULAS[node.kind](node, *inputs)
    return values[graph.output].reshape(-1)
