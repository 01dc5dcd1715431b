#!/usr/bin/env python3
"""Makes the networks with which passive models of liveness are tested, and what onnxruntime computes with them.

    make.py OUTPUT        (needs the Python packages numpy, onnx and onnxruntime)

They have weights by chance and judge nothing. `layers.onnx` has every operator that deploy/local/convert-passive-model.py supports, and
`constant.onnx` gives each picture the shares 0.05 and 0.95. `expected.json` has the outputs for the test picture of passive_reference.py.
With --mini-fas-net, `mini-fas-net.onnx` is made as well: the layers of MiniFASNetV2 of Silent-Face-Anti-Spoofing, 80 x 80, for times.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy/local"))
import passive_reference  # noqa: E402

SEED = 20


class Builder:
    """Adds nodes one after the other; each takes the last value unless another is named."""

    def __init__(self, height, width):
        self.random, self.nodes, self.tensors, self.last, self.channels = np.random.default_rng(SEED), [], [], "picture", 3
        self.size = (height, width)

    def constant(self, values, kind=np.float32):
        self.tensors.append(numpy_helper.from_array(np.asarray(values, kind), f"t{len(self.tensors)}"))
        return self.tensors[-1].name

    def node(self, kind, *inputs, source=None, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [source or self.last, *inputs], [name], **attributes))
        self.last = name
        return name

    def conv(self, out, kernel=1, stride=1, pad=0, group=1, bias=False, source=None, **attributes):
        inputs = self.channels // group
        weights = self.random.normal(0, (2 / (inputs * kernel * kernel)) ** 0.5, (out, inputs, kernel, kernel))
        more = [self.constant(self.random.normal(0, 0.1, out))] if bias else []
        pads = pad if isinstance(pad, list) else [pad] * 4
        self.channels = out
        return self.node("Conv", self.constant(weights), *more, source=source, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads,
                         group=group, **attributes)

    def norm(self):
        c = self.channels
        gamma, variance = (self.random.uniform(0.5, 1.5, c) for _ in range(2))
        beta, mean = (self.random.normal(0, 0.2, c) for _ in range(2))
        parts = [gamma, beta, mean, variance]
        return self.node("BatchNormalization", *map(self.constant, parts), epsilon=1e-4)

    def prelu(self):
        return self.node("PRelu", self.constant(self.random.uniform(0, 0.5, (self.channels, 1, 1))))

    def gemm(self, inputs, out):
        self.channels = out
        weights = self.random.normal(0, inputs ** -0.5, (out, inputs))
        return self.node("Gemm", self.constant(weights), self.constant(self.random.normal(0, 0.1, out)), transB=1)

    def model(self):
        picture = helper.make_tensor_value_info("picture", TensorProto.FLOAT, [1, 3, *self.size])
        output = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "passive", [picture], [output], self.tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def layers():
    b = Builder(26, 22)
    b.conv(20, 3, 2, 1), b.norm(), b.prelu()
    b.conv(20, 3, 1, 1, 20), b.norm(), b.node("Relu")
    first = b.conv(24, bias=True)
    b.node("Clip", b.constant(0), b.constant(6))
    b.conv(24, 5, 1, [3, 2, 1, 2], 24, bias=True), b.node("HardSwish")
    b.conv(24, 3, 1, 1, 4), b.norm()
    b.node("Add", first)
    residual = b.node("LeakyRelu", alpha=0.2)
    b.node("GlobalAveragePool"), b.conv(8), b.node("Relu"), b.conv(24), b.node("Sigmoid")
    b.nodes.append(helper.make_node("Mul", [residual, b.last], ["excited"]))
    b.last = "excited"
    b.node("AveragePool", kernel_shape=[2, 2], strides=[1, 1])
    b.norm()
    b.node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    pooled = b.conv(16, 1, 2)
    b.node("HardSigmoid", alpha=1 / 6)
    b.node("Mul", pooled)
    b.node("Sub", b.constant(0.25)), b.node("Div", b.constant(b.random.uniform(1, 2, (1, 16, 1, 1)))), b.node("Mul", b.constant(1.5))
    b.node("Add", b.constant(b.random.normal(0, 0.1, (1, 16, 1, 1))))
    b.conv(18, 2, 1, 1, 2), b.node("Dropout"), b.prelu()
    b.nodes.append(helper.make_node("Sub", [b.constant([1.0]), b.node("Identity")], ["difference"]))
    b.nodes.append(helper.make_node("Constant", [], ["third"], value=numpy_helper.from_array(np.float32(1 / 3))))
    whole = b.node("Mul", "third", source="difference")
    b.node("GlobalMaxPool"), b.node("Squeeze", b.constant([2, 3], np.int64)), b.node("Unsqueeze", b.constant([2, 3], np.int64))
    b.node("Add", b.node("ReduceMean", source=whole, axes=[2, 3]), source=b.last), b.node("Mul", whole)
    height, width = onnxruntime_shape(b)
    b.node("Flatten"), b.gemm(18 * height * width, 12)
    b.norm(), b.node("Relu")
    b.node("Reshape", b.constant([1, -1], np.int64))
    b.node("MatMul", b.constant(b.random.normal(0, 0.3, (12, 3)))), b.node("Add", b.constant([0.1, -0.2, 0.3]))
    b.node("Softmax", axis=1)
    return b.model()


def onnxruntime_shape(b):
    return run(b.model(), np.zeros((1, 3, *b.size), np.float32)).shape[2:]


def constant():
    b = Builder(32, 32)
    b.node("GlobalAveragePool"), b.node("Flatten")
    b.node("Gemm", b.constant(np.zeros((2, 3))), b.constant([np.log(0.05), np.log(0.95)]), transB=1)
    return b.model()


def mini_fas_net():
    """The layers of MiniFASNetV2 (keep_dict 1.8M_) with 80 x 80 pixels."""
    keep = [32, 32, 103, 103, 64, 13, 13, 64, 26, 26, 64, 13, 13, 64, 52, 52, 64, 231, 231, 128, 154, 154, 128, 52, 52, 128, 26, 26, 128,
            52, 52, 128, 26, 26, 128, 26, 26, 128, 308, 308, 128, 26, 26, 128, 26, 26, 128, 512, 512]
    b = Builder(80, 80)

    def block(at, stride, is_residual):
        source = b.last
        b.conv(keep[at]), b.norm(), b.prelu()
        b.conv(keep[at + 1], 3, stride, 1, keep[at + 1]), b.norm(), b.prelu()
        b.conv(keep[at + 2]), b.norm()
        if is_residual:
            b.node("Add", source)

    b.conv(32, 3, 2, 1), b.norm(), b.prelu()
    b.conv(32, 3, 1, 1, 32), b.norm(), b.prelu()
    # Each block reads the channels of the one before, and passes through three layers.
    block(2, 2, False)
    for at in range(5, 17, 3):
        block(at, 1, True)
    block(17, 2, False)
    for at in range(20, 38, 3):
        block(at, 1, True)
    block(38, 2, False)
    for at in (41, 44):
        block(at, 1, True)
    b.conv(512), b.norm(), b.prelu()
    b.conv(512, 5, 1, 0, 512), b.norm()
    b.node("Flatten"), b.gemm(512, 128), b.norm(), b.node("Dropout"), b.gemm(128, 3)
    return b.model()


def run(model, picture):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"picture": picture})[0]


def main(output, made):
    expected = {}
    for name, model in made.items():
        (output / f"{name}.onnx").write_bytes(model.SerializeToString())
        height, width = (d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim[2:])
        # As --channels rgb --mean 127.5 --scale 0.0078125 normalise it.
        picture = (passive_reference.test_picture(SEED, width, height).astype(np.float32) - 127.5) * 0.0078125
        expected[name] = [float(f"{number:.8g}") for number in run(model, picture.transpose(2, 0, 1)[None])[0]]
    (output / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    networks = {"layers": layers(), "constant": constant()}
    main(Path(sys.argv[1]), networks | ({"mini-fas-net": mini_fas_net()} if "--mini-fas-net" in sys.argv else {}))
