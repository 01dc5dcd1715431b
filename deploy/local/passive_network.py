"""Turns an ONNX classifier of one face into the list of layers that Shared/C/CFaceNet runs (passive_model.h).

Layers read and write maps whose channels are adjacent and filled up to a multiple of 16 with zeros. A layer is a convolution of all
channels (dense) or of each by itself (depthwise), a sum, a product, an average or the greatest of windows; it ends with an activation.
Normalisations and constants are depthwise layers of one pixel, and are folded into the layer before where nothing else reads that.
Groups of channels become a dense layer with zeros. A fully connected layer is a dense one whose kernel is the whole map.
"""

import numpy as np

DENSE, DEPTHWISE, ADD, MULTIPLY, AVERAGE, GREATEST = 1, 2, 3, 4, 5, 6
NONE, SLOPES, RELU6, SIGMOID, HARD_SIGMOID, HARD_SWISH = range(6)
# As in passive_model.h.
ACTIVATION_COST = 16


class Unsupported(Exception):
    """A network, or a part of it, that the program cannot run."""


class Layer:
    def __init__(self, kind, input, shape, second=0, kernel=(0, 0), step=(0, 0), pads=(0, 0, 0, 0), weights=None, bias=None):
        self.kind, self.input, self.second, self.shape = kind, input, second, shape
        self.kernel, self.step, self.pads = kernel, step, pads
        # Dense: [out, in, y, x]; depthwise: [channel, y, x].
        self.weights, self.bias = weights, bias
        self.activation, self.slopes = NONE, None

    def record(self):
        words = [self.kind, self.input, self.second, self.shape[0], *self.kernel, *self.step, *self.pads, self.activation, 0, 0, 0]
        return np.array(words, "<u4")

    def arrays(self, input_channels):
        weights = [] if self.weights is None else [self.filled_weights(input_channels), fill(self.bias, 0)]
        return [array.astype("<f4") for array in weights + ([] if self.slopes is None else [fill(self.slopes, 0)])]

    def filled_weights(self, input_channels):
        if self.kind == DEPTHWISE:
            return fill(self.weights.transpose(1, 2, 0), 2)
        assert self.weights.shape[1] == input_channels
        return fill(fill(self.weights.transpose(0, 2, 3, 1), 3), 0)


def filled(channels):
    return -(-channels // 16) * 16


def fill(array, axis):
    """Fills an axis up to a multiple of 16 with zeros."""
    return np.pad(array, [(0, filled(size) - size if i == axis else 0) for i, size in enumerate(array.shape)])


class Network:
    """The layers of a graph, in an order in which each reads what is there already. A subclass has a method for each operator."""

    supported = ""

    def __init__(self, graph, side):
        self.layers, self.output = [], None
        self.tensors = {name: value for name, value in graph.tensors.items()}
        # Of each value of the graph: the number of the map that has it, and the shape it has in the graph without the first axis.
        self.values = {graph.input: (0, (3, side[1], side[0]))}
        self.shapes = [(3, side[1], side[0])]
        self.readers = graph.readers
        # Maps that have several names of the graph, so that no single reader is known.
        self.shared = set()
        for node in graph.nodes:
            self.add(node)
        number, shape = self.value(graph.output)
        if number != len(self.layers) or self.shapes[number][1:] != (1, 1):
            raise Unsupported(f"the output {graph.output} has the shape {shape}: it has to be one number for each class")
        self.classes = self.shapes[number][0]

    def multiply_adds(self):
        """Returns the cost of a face as passive_plan.c counts it: what writes a float takes time without multiply-adds, too."""
        total = 0
        for layer in self.layers:
            inputs = filled(self.shapes[layer.input][0]) if layer.kind == DENSE else 1
            total += int(np.prod([filled(layer.shape[0]), *layer.shape[1:], *layer.kernel], dtype=object)) * inputs
            floats = int(np.prod([filled(layer.shape[0]), *layer.shape[1:]], dtype=object))
            total += floats * (1 if layer.activation == NONE else ACTIVATION_COST)
        return total

    def value(self, name):
        if name not in self.values:
            raise Unsupported(f"{name} is computed from no picture, or by a part that is not supported")
        return self.values[name]

    def add(self, node):
        if all(name in self.tensors or not name for name in node.inputs) and node.kind == "Identity":
            self.tensors[node.outputs[0]] = self.tensors[node.inputs[0]]
            return
        if self.output is not None:
            raise Unsupported(f"{node.kind} after {self.output}: Softmax and Sigmoid of classes are supported at the end only")
        method = getattr(self, "add_" + node.kind, None)
        if method is None:
            raise Unsupported(f"the operator {node.kind} is not supported. Supported are {self.supported}. A simplified export (onnxsim) "
                              "has fewer kinds of operators")
        method(node)

    def append(self, node, layer):
        self.layers.append(layer)
        self.shapes.append(layer.shape)
        self.values[node.outputs[0]] = (len(self.layers), layer.shape)

    def same(self, node, shape=None):
        """Makes the result of a node that computes nothing the value of its input."""
        number, old = self.value(node.inputs[0])
        self.values[node.outputs[0]] = (number, shape or old)
        if self.readers[node.inputs[0]] != 1:
            self.shared.add(number)

    def map_of(self, name):
        """Returns the number and the shape of a map."""
        number, shape = self.value(name)
        if len(shape) != 3:
            shape = (shape[0], 1, 1) if self.shapes[number] == (*shape, 1, 1) else None
        if shape is None:
            raise Unsupported(f"{name} is a list that was a map before: only fully connected layers read such lists")
        return number, shape

    # What is folded into the layer before

    def last(self, node):
        """Returns the layer before if the node is the only one that reads it, and it has no activation yet."""
        number, _ = self.value(node.inputs[0])
        if number == 0 or number in self.shared or self.readers[node.inputs[0]] != 1:
            return None
        return self.layers[number - 1] if self.layers[number - 1].activation == NONE else None

    def affine(self, node, factor, summand):
        """Multiplies and adds a number a channel."""
        number, shape = self.value(node.inputs[0])
        channels = self.shapes[number][0]
        if len(shape) != 3 and self.shapes[number][1:] != (1, 1):
            raise Unsupported(f"{node.kind} of a list that was a map before is not supported")
        factor, summand = (np.broadcast_to(np.asarray(a, np.float64).reshape(-1), (channels,)) for a in (factor, summand))
        layer = self.last(node)
        if layer and layer.kind in (DENSE, DEPTHWISE):
            layer.weights = layer.weights * factor.reshape(-1, *[1] * (layer.weights.ndim - 1))
            layer.bias = layer.bias * factor + summand
            self.same(node)
        else:
            identity = Layer(DEPTHWISE, number, self.shapes[number], 0, (1, 1), (1, 1), (0, 0, 0, 0), factor.reshape(-1, 1, 1), summand)
            self.append(node, identity)
            self.values[node.outputs[0]] = (len(self.layers), shape)

    def activate(self, node, activation, slopes=None):
        if not self.last(node):
            self.affine(node, 1, 0)
        else:
            self.same(node)
        number, _ = self.values[node.outputs[0]]
        layer = self.layers[number - 1]
        layer.activation = activation
        if slopes is not None:
            layer.slopes = np.broadcast_to(np.asarray(slopes, np.float64).reshape(-1), layer.shape[:1])
