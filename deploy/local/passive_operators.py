"""The operators of ONNX that an operator's passive model may have, as layers (passive_network.py)."""

import copy

import numpy as np

from passive_network import (
    ADD, AVERAGE, DENSE, DEPTHWISE, GREATEST, HARD_SIGMOID, HARD_SWISH, MULTIPLY, RELU6, SIGMOID, SLOPES, Layer, Network, Unsupported)


class Classifier(Network):
    """The layers of a graph that ends with a number for each class."""

    supported = (
        "Conv, Gemm, MatMul, BatchNormalization, Relu, PRelu, LeakyRelu, Clip (0 to 6), Sigmoid, HardSigmoid (1/6), HardSwish, Add, Sub, "
        "Mul, Div, AveragePool, MaxPool, GlobalAveragePool, GlobalMaxPool, ReduceMean (of height and width), Flatten, Reshape, Squeeze, "
        "Unsqueeze, Dropout, Identity, Constant, and Softmax or Sigmoid at the end")

    # Layers of windows

    def windows(self, node, kernel):
        integers = node.integers
        if node.text.get("auto_pad") not in (None, "NOTSET"):
            raise Unsupported(f"auto_pad {node.text['auto_pad']} of {node.kind} is not supported: export explicit pads")
        if integers.get("ceil_mode", [0]) not in ([], [0]) or any(d != 1 for d in integers.get("dilations", [])):
            raise Unsupported(f"ceil_mode and dilations of {node.kind} are not supported")
        return kernel, tuple(integers.get("strides") or (1, 1)), tuple(integers.get("pads") or (0, 0, 0, 0))

    def side(self, shape, kernel, step, pads):
        return tuple((shape[1 + i] + pads[i] + pads[2 + i] - kernel[i]) // step[i] + 1 for i in (0, 1))

    def add_Conv(self, node):
        number, shape = self.map_of(node.inputs[0])
        weights = self.tensors[node.inputs[1]].astype(np.float64)
        if weights.ndim != 4:
            raise Unsupported("only convolutions of two dimensions are supported")
        out, of_group, *kernel = weights.shape
        bias = self.tensors[node.inputs[2]].astype(np.float64) if len(node.inputs) > 2 and node.inputs[2] else np.zeros(out)
        groups = (node.integers.get("group") or [1])[0]
        geometry = self.windows(node, tuple(kernel))
        if groups == shape[0] == out and of_group == 1:
            kind, weights = DEPTHWISE, weights[:, 0]
        else:
            kind, spread = DENSE, np.zeros((out, shape[0], *kernel))
            for channel in range(out):
                first = channel // (out // groups) * of_group
                spread[channel, first:first + of_group] = weights[channel]
            weights = spread
        self.append(node, Layer(kind, number, (out, *self.side(shape, *geometry)), 0, *geometry, weights, bias))

    def pool(self, node, kind, kernel):
        number, shape = self.map_of(node.inputs[0])
        geometry = self.windows(node, kernel)
        if kind == AVERAGE and any(geometry[2]) and (node.integers.get("count_include_pad") or [0]) != [1]:
            raise Unsupported("AveragePool with pads is supported with count_include_pad=1 only")
        self.append(node, Layer(kind, number, (shape[0], *self.side(shape, *geometry)), 0, *geometry))

    def add_AveragePool(self, node):
        self.pool(node, AVERAGE, tuple(node.integers["kernel_shape"]))

    def add_MaxPool(self, node):
        self.pool(node, GREATEST, tuple(node.integers["kernel_shape"]))

    def add_GlobalAveragePool(self, node):
        self.pool(node, AVERAGE, self.map_of(node.inputs[0])[1][1:])

    def add_GlobalMaxPool(self, node):
        self.pool(node, GREATEST, self.map_of(node.inputs[0])[1][1:])

    def add_ReduceMean(self, node):
        axes = self.tensors[node.inputs[1]].tolist() if len(node.inputs) > 1 else node.integers["axes"]
        if sorted(axis % 4 for axis in axes) != [2, 3] or len(self.value(node.inputs[0])[1]) != 3:
            raise Unsupported("ReduceMean is supported of height and width only")
        self.pool(node, AVERAGE, self.map_of(node.inputs[0])[1][1:])
        number, shape = self.values[node.outputs[0]]
        if node.integers.get("keepdims") == [0]:
            self.values[node.outputs[0]] = (number, shape[:1])

    # Fully connected layers, on what is in the order channel, row, column

    def connect(self, node, weights, bias):
        """Adds a fully connected layer with weights [out, in]."""
        number, shape = self.value(node.inputs[0])
        channels, height, width = self.shapes[number]
        if len(shape) != 1 and shape[1:] != (1, 1) or weights.shape[1] != channels * height * width:
            raise Unsupported(f"{node.kind} reads {weights.shape[1]} numbers of a value with the shape {shape}")
        weights = weights.astype(np.float64).reshape(-1, channels, height, width)
        layer = Layer(DENSE, number, (weights.shape[0], 1, 1), 0, (height, width), (1, 1), (0, 0, 0, 0), weights, bias.astype(np.float64))
        self.append(node, layer)
        self.values[node.outputs[0]] = (len(self.layers), (weights.shape[0],))

    def add_Gemm(self, node):
        if (node.integers.get("transA") or [0])[0] or any(node.real.get(name) not in (None, 1.0) for name in ("alpha", "beta")):
            raise Unsupported("transA, alpha and beta of Gemm are not supported")
        weights = self.tensors[node.inputs[1]]
        weights = weights if (node.integers.get("transB") or [0])[0] else weights.T
        bias = self.tensors[node.inputs[2]].reshape(-1) if len(node.inputs) > 2 else np.zeros(1)
        self.connect(node, weights, np.broadcast_to(bias, weights.shape[:1]))

    def add_MatMul(self, node):
        if node.inputs[1] not in self.tensors or self.tensors[node.inputs[1]].ndim != 2:
            raise Unsupported("MatMul is supported with a constant matrix only")
        weights = self.tensors[node.inputs[1]].T
        self.connect(node, weights, np.zeros(weights.shape[0]))

    # What is folded into the layer before where nothing else reads that

    def add_BatchNormalization(self, node):
        gamma, beta, mean, variance = (self.tensors[name].astype(np.float64) for name in node.inputs[1:])
        factor = gamma / np.sqrt(variance + (1e-5 if node.real.get("epsilon") is None else node.real["epsilon"]))
        self.affine(node, factor, beta - mean * factor)

    def add_Relu(self, node):
        self.activate(node, SLOPES, 0)

    def add_PRelu(self, node):
        slopes, (_, shape) = self.tensors[node.inputs[1]], self.value(node.inputs[0])
        if slopes.size > 1 and (slopes.ndim < len(shape) or slopes.shape[-len(shape)] != slopes.size):
            raise Unsupported(f"PRelu with slopes of the shape {slopes.shape}: one is supported, or one for each channel")
        self.activate(node, SLOPES, slopes)

    def add_LeakyRelu(self, node):
        self.activate(node, SLOPES, 0.01 if node.real.get("alpha") is None else node.real["alpha"])

    def add_Clip(self, node):
        limits = [self.tensors[name].item() for name in node.inputs[1:]] or [node.real.get("min"), node.real.get("max")]
        if limits != [0, 6]:
            raise Unsupported(f"Clip is supported from 0 to 6 only, not {limits}")
        self.activate(node, RELU6)

    def add_Sigmoid(self, node):
        number, shape = self.value(node.inputs[0])
        if self.readers[node.outputs[0]] == 0 and self.shapes[number][1:] == (1, 1):
            self.end(node)
        else:
            self.activate(node, SIGMOID)

    def add_HardSigmoid(self, node):
        if abs((node.real.get("alpha") or 0.2) - 1 / 6) > 1e-4 or node.real.get("beta") not in (None, 0.5):
            raise Unsupported("HardSigmoid is supported with alpha 1/6 and beta 0.5 only")
        self.activate(node, HARD_SIGMOID)

    def add_HardSwish(self, node):
        self.activate(node, HARD_SWISH)

    # Sums and products

    def pair(self, node, kind):
        (first, shape), (second, other) = (self.map_of(name) for name in node.inputs)
        if kind == MULTIPLY and shape[1:] == (1, 1) != other[1:]:
            (first, shape), (second, other) = (second, other), (first, shape)
        if shape[0] != other[0] or (other != shape and not (kind == MULTIPLY and other[1:] == (1, 1))):
            raise Unsupported(f"{node.kind} of the shapes {shape} and {other} is not supported")
        self.append(node, Layer(kind, first, shape, second))

    def constant(self, node, function):
        """Adds a node of a value and a constant, of which `function` makes factor and summand. Returns False for two values."""
        constants = [name for name in node.inputs if name in self.tensors]
        if not constants:
            return False
        is_first = node.inputs[0] in self.tensors
        number = self.tensors[constants[0]].astype(np.float64)
        of, shape = self.value(node.inputs[1 if is_first else 0])
        channels = self.shapes[of][0]
        axis = number.shape[-3 if number.ndim > 2 else -1] if number.ndim else 1
        # A list is one factor for each column of a map.
        if number.size not in (1, channels) or number.size > 1 and (axis != channels or number.ndim < len(shape)):
            raise Unsupported(f"{node.kind} with a constant of the shape {number.shape}: a number is supported, or one for each channel")
        if is_first:
            # A copy, because passive_reference.py reads the same nodes.
            node = copy.copy(node)
            node.inputs = node.inputs[::-1]
        self.affine(node, *function(number, is_first))
        return True

    def add_Add(self, node):
        self.constant(node, lambda number, _: (1, number)) or self.pair(node, ADD)

    def add_Sub(self, node):
        if not self.constant(node, lambda number, is_first: (-1, number) if is_first else (1, -number)):
            raise Unsupported("Sub is supported with a constant only")

    def add_Mul(self, node):
        self.constant(node, lambda number, _: (number, 0)) or self.pair(node, MULTIPLY)

    def add_Div(self, node):
        if node.inputs[0] in self.tensors or not self.constant(node, lambda number, _: (1 / number, 0)):
            raise Unsupported("Div is supported by a constant only")

    # What computes nothing

    def add_Constant(self, node):
        self.tensors[node.outputs[0]] = node.tensors["value"]

    def add_Identity(self, node):
        self.same(node)

    add_Dropout = add_Identity

    def reshape(self, node):
        number, shape = self.value(node.inputs[0])
        size = int(np.prod(shape))
        new = [int(n) for n in self.tensors[node.inputs[1]]] if node.kind == "Reshape" else [1, size]
        new = [1 if i == 0 and n in (0, -1) and len(new) > 1 and new[1] == size else n for i, n in enumerate(new)]
        if new[0] not in (0, 1) or new[1:] not in ([-1], [size], [size, 1, 1], [-1, 1, 1]):
            raise Unsupported(f"{node.kind} to {new} is not supported: only to a list, in the order channel, row, column")
        self.same(node, (size,) if self.shapes[number][1:] != (1, 1) or len(new) == 2 else (size, 1, 1))

    add_Reshape = add_Flatten = reshape

    def add_Squeeze(self, node):
        number, _ = self.value(node.inputs[0])
        if self.shapes[number][1:] != (1, 1):
            raise Unsupported(f"{node.kind} of a map that is larger than a pixel is not supported")
        self.same(node, self.shapes[number] if node.kind == "Unsqueeze" else self.shapes[number][:1])

    add_Unsqueeze = add_Squeeze

    # The end

    def end(self, node):
        self.output = node.kind
        self.same(node)

    def add_Softmax(self, node):
        number, shape = self.value(node.inputs[0])
        if self.readers[node.outputs[0]] != 0 or self.shapes[number][1:] != (1, 1):
            raise Unsupported("Softmax is supported at the end only, of the classes")
        axis = (node.integers.get("axis") or [-1])[0]
        if axis not in (1, -len(shape)):
            raise Unsupported(f"Softmax along the axis {axis} is not supported: only of the classes")
        self.end(node)
