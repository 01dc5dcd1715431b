#!/usr/bin/env python3
"""Converts an ONNX classifier that tells a live face from a presentation attack into the file that FACE_PASSIVE_MODEL names.

    convert-passive-model.py --onnx FILE --output FILE --live-class 1 --threshold 0.9 [--crop-scale 2.7] [--crop inside] \\
        [--channels bgr] [--mean 0] [--scale 1] [--side 80]

The network reads one picture of a face, 1 x 3 x height x width, and gives one number for each class, as numbers whose softmax are
shares, or as shares. Mean and scale are those of its training: it reads (level - mean) * scale of levels from 0 to 255; three numbers,
separated by commas, are for its three channels. passive_operators.py lists the operators that are supported, and the limits of
passive_model.h hold. The file has the results for a test picture, which passive_reference.py computes; the service compares its own
with them when it starts.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import passive_reference
from model_formats import PASSIVE, Node, fields, tensor, write
from passive_network import Unsupported
from passive_operators import Classifier

SEED = 20
# As in passive_model.h.
SIDES, MAX_LAYERS, MAX_CHANNELS, MAX_CLASSES, MAX_MULTIPLY_ADDS = range(8, 513), 256, 4096, 16, 2_000_000_000
MAX_KERNEL, MAX_STEP = 512, 8
# As in PassiveModel.swift.
MAX_FILE_BYTES = 64 * 1024 * 1024
OUTPUTS = {"none": 0, "softmax": 1, "sigmoid": 2}


class Graph:
    """The nodes of which one output is computed, in their order, the constants, and how many nodes read each value."""

    def __init__(self, data, output):
        graph = next((value for field, value in fields(data) if field == 7), None)
        if graph is None:
            raise Unsupported("the file is no ONNX model")
        parts = list(fields(graph))
        self.tensors = dict(tensor(value) for field, value in parts if field == 5)
        inputs, outputs = ([self.described(value) for field, value in parts if field == wanted] for wanted in (11, 12))
        inputs = [entry for entry in inputs if entry[0] not in self.tensors]
        if len(inputs) != 1:
            raise Unsupported(f"the file has {len(inputs)} inputs without values: a network of one, the picture, is supported")
        names = [name for name, _ in outputs]
        if output is None and len(names) != 1 or output is not None and output not in names:
            raise Unsupported(f"the network has the outputs {names}: name one by --output-name")
        (self.input, self.shape), self.output = inputs[0], output or names[0]
        needed, self.nodes = {self.output}, []
        for node in reversed([Node(value) for field, value in parts if field == 1]):
            if needed & set(node.outputs):
                needed |= set(node.inputs)
                self.nodes.insert(0, node)
        self.readers = Counter(name for node in self.nodes for name in node.inputs)

    @staticmethod
    def described(data):
        """Returns the name and the dimensions of a ValueInfoProto; 0 is one that is not fixed."""
        name = next(value.decode() for field, value in fields(data) if field == 1)
        shape = []
        for path in ([2], [1], [2]):
            data = next((value for field, value in fields(data) if field in path), b"")
        for field, value in fields(data):
            if field == 1:
                shape.append(next((number for kind, number in fields(value) if kind == 1), 0))
        return name, shape


def numbers(text):
    values = [float(part) for part in text.split(",")]
    if len(values) not in (1, 3) or not np.isfinite(values).all():
        raise argparse.ArgumentTypeError("one number, or three separated by commas")
    return values * (3 // len(values))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--onnx", type=Path, required=True, help="the network")
    parser.add_argument("--output", type=Path, required=True, help="the file to write, such as passive.hgm")
    parser.add_argument("--output-name", help="the output to read, for a network with several")
    parser.add_argument("--live-class", type=int, required=True,
                        help="the class of live faces, from 0; of a network with one output, 1 if that is the share of live faces, else 0")
    parser.add_argument("--threshold", type=float, required=True, help="the least share of that class that a live face has")
    parser.add_argument("--crop-scale", type=float, default=2.7, help="sides of what is cut out, in those of the face (2.7)")
    parser.add_argument("--crop", choices=("inside", "square"), default="inside",
                        help="inside: with the proportions of the face's box, moved into the photo (as Silent-Face does); "
                             "square: of its longer side, black outside")
    parser.add_argument("--channels", choices=("bgr", "rgb"), default="bgr", help="the order of colours that the network reads (bgr)")
    parser.add_argument("--mean", type=numbers, default=[0.0] * 3, help="is subtracted from levels from 0 to 255 (0)")
    parser.add_argument("--scale", type=numbers, default=[1.0] * 3, help="is multiplied with the difference (1)")
    parser.add_argument("--side", "--size", type=int, help="side of the input in pixels, for a network that does not fix it")
    parser.add_argument("--activation", choices=OUTPUTS,
                        help="how outputs become shares (by default as the network ends, else softmax, or sigmoid of one output)")
    return parser.parse_args()


def input_side(shape, side):
    if len(shape) != 4 or shape[1] != 3 or shape[0] > 1:
        raise Unsupported(f"the input has the shape {shape} instead of 1 x 3 x height x width")
    height, width = (fixed or side for fixed in shape[2:])
    if not height or not width:
        raise Unsupported("the network does not fix the size of its input: give it by --side")
    if side and (side, side) != (height, width):
        raise Unsupported(f"the input is {width} x {height} pixels, not {side}")
    return width, height


def windows_fit(layer):
    """Returns whether the pads of a layer are smaller than its kernel, and its kernel and its steps not too large."""
    return layer.kernel == (0, 0) or all(
        1 <= kernel <= MAX_KERNEL and 1 <= step <= MAX_STEP and max(pads) < kernel
        for kernel, step, pads in zip(layer.kernel, layer.step, (layer.pads[::2], layer.pads[1::2])))


def check_limits(network, sides):
    widest = max(shape[0] for shape in network.shapes)
    misfit = next((layer for layer in network.layers if not windows_fit(layer)), None)
    size = sum(array.nbytes for layer in network.layers for array in layer.arrays(network.shapes[layer.input][0]))
    for what, is_within in (
        (f"an input of {sides[0]} x {sides[1]} pixels", set(sides) <= set(SIDES)),
        (f"{len(network.layers)} layers", len(network.layers) <= MAX_LAYERS),
        (f"{widest} channels", widest <= MAX_CHANNELS),
        (f"{network.classes} outputs", network.classes <= MAX_CLASSES),
        (misfit and f"a kernel of {misfit.kernel} with steps of {misfit.step} and pads of {misfit.pads}", misfit is None),
        (f"{size:,} bytes of numbers", size <= MAX_FILE_BYTES - 128 * 1024),
        (f"{network.multiply_adds():,} multiply-adds", network.multiply_adds() <= MAX_MULTIPLY_ADDS),
    ):
        if not is_within:
            raise Unsupported(f"the network has {what}, which is beyond what the service runs (passive_model.h, PassiveModel.swift)")


def convert(options):
    source = options.onnx.read_bytes()
    graph = Graph(source, options.output_name)
    width, height = input_side(graph.shape, options.side)
    network = Classifier(graph, (width, height))
    check_limits(network, (width, height))
    classes, live = network.classes, options.live_class
    if not 0 <= live < max(2, classes) or not 0.001 <= options.threshold <= 1 or not 0.5 <= options.crop_scale <= 8:
        raise Unsupported(f"--live-class is none of {classes} classes, or --threshold not 0.001 to 1, or --crop-scale not 0.5 to 8")
    own = network.output and network.output.lower()
    kind = own or options.activation or ("sigmoid" if classes == 1 else "softmax")
    if options.activation not in (None, kind) or kind == "softmax" and classes == 1:
        raise Unsupported(f"--activation {options.activation or kind} does not fit {classes} outputs that are {own or 'numbers'}")
    order = slice(None, None, -1) if options.channels == "bgr" else slice(None)
    picture = passive_reference.test_picture(SEED, width, height)[:, :, order].astype(np.float64)
    picture = ((picture - np.float32(options.mean)) * np.float32(options.scale)).transpose(2, 0, 1)
    expected = passive_reference.results(graph, picture, network.output)
    if not np.isfinite(expected).all():
        raise Unsupported("the network's results for noise are no numbers")
    whole = [width, height, len(network.layers), classes, live, options.channels == "bgr", options.crop == "square", OUTPUTS[kind], SEED]
    real = [options.crop_scale, options.threshold, *options.mean, *options.scale]
    arrays = [np.array(whole + [0] * (16 - len(whole)), "<u4"), np.array(real + [0] * (16 - len(real)), "<f4"), expected.astype("<f4"),
              np.concatenate([layer.record() for layer in network.layers])]
    for layer in network.layers:
        arrays += layer.arrays(network.shapes[layer.input][0])
    write(options.output, PASSIVE, source, arrays)
    print(f"{options.output}: {len(network.layers)} layers, {classes} classes, input {width} x {height}, threshold {options.threshold}")


if __name__ == "__main__":
    options = arguments()
    try:
        convert(options)
    except (Unsupported, OSError) as fault:
        sys.exit(f"convert-passive-model: {fault}")
    except (ValueError, KeyError, IndexError, StopIteration, TypeError) as fault:
        sys.exit(f"convert-passive-model: {options.onnx} is no ONNX model, or a damaged one ({fault!r})")
