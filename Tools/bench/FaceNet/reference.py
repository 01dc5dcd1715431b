#!/usr/bin/env python3
"""Computes with onnxruntime what Shared/C/CFaceNet must compute, from the same two ONNX files.

    reference.py MODELS OUTPUT        (needs the Python packages numpy, onnx and onnxruntime)

The path from file to numbers shares no code with deploy/local/convert-models.py: the `onnx` package reads the files. It writes
- OUTPUT/sface.onnx and OUTPUT/yunet.onnx: the dequantised networks, which onnxruntime and OpenCV open;
- OUTPUT/golden.h: descriptors and detector outputs for test pictures that are computed from integers.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def dequantised(path, size=None):
    """Returns the network with numbers in place of quantised blocks, without inputs that are constants, at an old opset."""
    model = onnx.load(path)
    graph = model.graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    nodes = []
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "DequantizeLinear":
            q, scale, zero = (tensors[name] for name in node.input)
            axis, block = attributes["axis"], attributes["block_size"]
            spread = [np.repeat(part, block, axis).take(range(q.shape[axis]), axis) for part in (scale, zero)]
            tensors[node.output[0]] = (q.astype(np.float32) - spread[1].astype(np.float32)) * spread[0]
        elif node.op_type == "Reshape" and node.input[0] in tensors:
            tensors[node.output[0]] = tensors[node.input[0]].reshape(tensors[node.input[1]])
        elif node.op_type == "Dropout":
            nodes.append(helper.make_node("Identity", node.input[:1], node.output[:1]))
        elif node.op_type != "Constant":
            if node.op_type == "BatchNormalization":
                node.ClearField("attribute")
                node.attribute.append(helper.make_attribute("epsilon", attributes["epsilon"]))
            nodes.append(node)
    used = {name for node in nodes for name in node.input}
    shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in graph.input}
    name = next(name for name in shapes if name in ("data", "input"))
    shape = [1, 3, size[1], size[0]] if size else shapes[name]
    outputs = [helper.make_tensor_value_info(o.name, 1, None) for o in graph.output] if size else graph.output
    made = helper.make_graph(
        nodes, "face", [helper.make_tensor_value_info(name, 1, shape)], outputs,
        [numpy_helper.from_array(np.ascontiguousarray(tensors[n]), n) for n in sorted(used & set(tensors))])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)


def run(model, picture):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: picture})))


def test_picture(width, height, seed):
    """Computes waves (seed 0) or noise of a linear congruential generator; test_picture in Tests/CFaceNet/driver.c computes the same."""
    pixels = np.zeros((height, width, 3), np.uint8)
    state = seed
    for y in range(height):
        for x in range(width):
            if seed == 0:
                def wave(position, length):
                    return abs(position % (2 * length) - length) * 255 // length
                pixels[y, x] = wave(x + y, 60), wave(y * 2 + x, 45), (wave(x, 30) + wave(y, 75)) // 2
            else:
                for channel in range(3):
                    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
                    pixels[y, x, channel] = state >> 24
    return pixels


def literals(name, values):
    numbers = [f"{float(v):.9g}f" if "." in f"{float(v):.9g}" or "e" in f"{float(v):.9g}" else f"{float(v):.1f}f" for v in values]
    lines = [", ".join(numbers[i:i + 8]) for i in range(0, len(numbers), 8)]
    return f"static const float {name}[{len(numbers)}] = {{\n" + "".join(f"    {line},\n" for line in lines) + "};\n"


def main(models, output):
    sface = dequantised(models / "face_recognition_sface_2021dec_int8bq.onnx")
    yunet = dequantised(models / "face_detection_yunet_2023mar_int8bq.onnx")
    onnx.save(sface, output / "sface.onnx")
    onnx.save(yunet, output / "yunet.onnx")
    text = "// Made by reference.py with onnxruntime; see there.\n"
    for seed in (0, 1):
        picture = test_picture(112, 112, seed).transpose(2, 0, 1)[None].astype(np.float32)
        text += literals(f"golden_descriptor_{seed}", run(sface, picture)["fc1"].ravel())
    small = dequantised(models / "face_detection_yunet_2023mar_int8bq.onnx", (64, 32))
    # The detector reads blue, green, red.
    picture = test_picture(64, 32, 0)[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32)
    results = run(small, picture)
    for stride in (8, 16, 32):
        parts = [results[f"{part}_{stride}"].reshape(-1, n) for part, n in (("cls", 1), ("bbox", 4), ("obj", 1), ("kps", 10))]
        text += literals(f"golden_detector_{stride}", np.concatenate(parts, 1).ravel())
    (output / "golden.h").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
