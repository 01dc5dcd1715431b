#!/usr/bin/env python3
"""Converts the three face models into the flat files that Shared/C/CFaceNet loads.

    convert-models.py DIRECTORY

reads two ONNX files and dlib's landmark model in DIRECTORY, and writes `<name>.hgm` beside them. The same input gives the same
bytes on every machine: all sums are exact or rounded once. fetch-models.sh checks the hashes of what this reads and writes.

A flat file is little-endian: a header of 64 bytes (8 bytes magic, u32 version, u32 kind, 32 bytes SHA-256 of the source, which is
the model's id, u64 length and u64 checksum of the rest), then arrays in a fixed order, each aligned to 64 bytes. The program knows
their sizes. The checksum detects damage; what protects against malice is the SHA-256 of the file.
"""

import hashlib
import math
import struct
import sys
from pathlib import Path

import numpy as np

MAGIC, VERSION, ALIGNMENT = b"HGMODEL\0", 1, 64
DETECTOR, RECOGNISER, LANDMARKS = 1, 2, 3


# Flat files

def checksum(payload):
    """Returns the sum of all words in the high half, and of each word times its distance from the end, folded, in the low half."""
    words = np.frombuffer(payload, "<u4").astype(np.uint64)
    plain = int(words.sum(dtype=np.uint64))
    weighted = int((words * np.arange(len(words), 0, -1, dtype=np.uint64)).sum(dtype=np.uint64))
    return (plain & 0xFFFFFFFF) << 32 | (weighted ^ weighted >> 32) & 0xFFFFFFFF


def write(path, kind, source, arrays):
    payload = b""
    for array in arrays:
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        payload += data + bytes(-len(data) % ALIGNMENT)
    header = struct.pack("<8sII32sQQ", MAGIC, VERSION, kind, hashlib.sha256(source).digest(), len(payload), checksum(payload))
    temporary = path.with_suffix(".part")
    temporary.write_bytes(header + payload)
    temporary.rename(path)


# ONNX, as far as these two files use it: a message of protocol buffers is a list of (field number, value)

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def packed(value):
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        numbers.append(number)
    return numbers


def tensor(data):
    """Returns the name and the array of a TensorProto."""
    dimensions, kind, name, content = [], 0, "", b""
    for field, value in fields(data):
        if field == 1:
            dimensions += packed(value)
        elif field == 2:
            kind = value
        elif field == 8:
            name = value.decode()
        elif field in (4, 9):  # float_data, raw_data
            content += value
    return name, np.frombuffer(content, {1: "<f4", 3: "i1", 7: "<i8"}[kind]).reshape(dimensions)


class Node:
    def __init__(self, data):
        self.inputs, self.outputs, self.kind, self.integers, self.real = [], [], "", {}, {}
        for field, value in fields(data):
            if field == 1:
                self.inputs.append(value.decode())
            elif field == 2:
                self.outputs.append(value.decode())
            elif field == 4:
                self.kind = value.decode()
            elif field == 5:
                attribute = list(fields(value))
                name = next(value for field, value in attribute if field == 1).decode()
                self.integers[name] = [n for field, value in attribute if field in (3, 8) for n in packed(value)]
                self.real[name] = next((struct.unpack("<f", value)[0] for field, value in attribute if field == 2), None)


class Graph:
    """The computing nodes of a network in their order, and its tensors; quantised ones are replaced by what they stand for."""

    def __init__(self, data):
        graph = next(value for field, value in fields(data) if field == 7)
        self.tensors = dict(tensor(value) for field, value in fields(graph) if field == 5)
        self.nodes = []
        for node in (Node(value) for field, value in fields(graph) if field == 1):
            if node.kind == "DequantizeLinear":
                self.tensors[node.outputs[0]] = self.dequantised(node)
            elif node.kind == "Reshape" and node.inputs[0] in self.tensors:
                self.tensors[node.outputs[0]] = self.tensors[node.inputs[0]].reshape(self.tensors[node.inputs[1]])
            else:
                self.nodes.append(node)

    def dequantised(self, node):
        quantised, scale, zero = (self.tensors[name] for name in node.inputs)
        axis, block = node.integers["axis"][0], node.integers["block_size"][0]
        of = np.arange(quantised.shape[axis]) // block
        steps = quantised.astype(np.float32) - np.take(zero, of, axis).astype(np.float32)
        return steps * np.take(scale, of, axis)

    def of_kind(self, *kinds):
        return [node for node in self.nodes if node.kind in kinds]

    def affine(self, node):
        """Returns the factor and the summand of a batch normalisation, in double precision."""
        gamma, beta, mean, variance = (self.tensors[name].astype(np.float64) for name in node.inputs[1:])
        factor = gamma / np.sqrt(variance + node.real["epsilon"])
        return factor, beta - mean * factor


# The networks

def arranged(weights):
    """Arranges a convolution's weights for pictures whose channels are adjacent: depthwise [y, x, channel], else [out, y, x, in]."""
    return weights[:, 0].transpose(1, 2, 0) if weights.shape[1] == 1 else weights.transpose(0, 2, 3, 1)


def recogniser(graph):
    """Writes for each of 27 convolutions its weights, bias and slopes, with the normalisation folded in; then the last layer.

    That keeps its 8 bits, a quarter of the memory traffic, and its own order: channel, then place.
    """
    convolutions, norms, slopes = (graph.of_kind(kind) for kind in ("Conv", "BatchNormalization", "PRelu"))
    assert len(convolutions) == len(slopes) == 27 and len(norms) == 29
    arrays = []
    for convolution, norm, slope in zip(convolutions, norms, slopes):
        assert norm.inputs[0] == convolution.outputs[0] and slope.inputs[0] == norm.outputs[0]
        factor, summand = graph.affine(norm)
        weights = graph.tensors[convolution.inputs[1]].astype(np.float64) * factor[:, None, None, None]
        arrays += [arranged(weights), summand, graph.tensors[slope.inputs[1]]]
    factor, summand = graph.affine(norms[27])
    out_factor, out_summand = graph.affine(norms[28])
    bias = graph.tensors["pre_fc1_bias_dequantized"].astype(np.float64) * out_factor + out_summand
    scale = graph.tensors["pre_fc1_weight_scales"].astype(np.float64) * out_factor[:, None]
    arrays = [array.astype(np.float32) for array in arrays + [factor, summand, bias, scale]]
    return arrays + [graph.tensors["pre_fc1_weight_zero_point"], graph.tensors["pre_fc1_weight_quantized"]]


def detector(graph):
    """Writes for each convolution its weights and bias. The four heads of a level become one: they read the same input."""
    convolutions = graph.of_kind("Conv")
    assert len(convolutions) == 53
    layers = [[graph.tensors[name] for name in node.inputs[1:]] for node in convolutions]
    body, heads = layers[:29], layers[29:]
    for level in range(3):
        # In the file: class, box, objectness, points; each for three levels; each a pointwise and a depthwise layer.
        for part in range(2):
            of_level = [heads[head * 6 + level * 2 + part] for head in range(4)]
            body.append([np.concatenate(arrays) for arrays in zip(*of_level)])
    return [array.astype(np.float32) for weights, bias in body for array in (arranged(weights), bias)]


# dlib's landmark model, in the format of its serialize functions

class DlibReader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def integer(self):
        control = self.data[self.at]
        end = self.at + 1 + (control & 0x0F)
        value = int.from_bytes(self.data[self.at + 1:end], "little")
        self.at = end
        return -value if control & 0x80 else value

    def real(self):
        mantissa = self.integer()
        return math.ldexp(mantissa, self.integer())

    def list(self, element):
        return [element() for _ in range(self.integer())]

    def column(self):
        rows, columns = -self.integer(), -self.integer()
        assert columns == 1
        return [self.real() for _ in range(rows)]

    def split(self):
        return self.integer(), self.integer(), self.real()

    def tree(self):
        return self.list(self.split), self.list(self.column)


def landmarks(data):
    """Writes counts (cascades, trees, splits a tree, pixels), the mean shape, the pixels, the splits and the leaves."""
    reader = DlibReader(data)
    assert reader.integer() == 1
    shape = reader.column()
    forests = reader.list(lambda: reader.list(reader.tree))
    anchors = reader.list(lambda: reader.list(reader.integer))
    offsets = reader.list(lambda: reader.list(lambda: (reader.real(), reader.real())))
    assert reader.at == len(data) and len(shape) == 10
    splits = [split for forest in forests for tree in forest for split in tree[0]]
    leaves = [leaf for forest in forests for tree in forest for leaf in tree[1]]
    counts = [len(forests), len(forests[0]), len(forests[0][0][0]), len(anchors[0])]
    assert len(splits) == math.prod(counts[:3]) and len(leaves) == counts[0] * counts[1] * (counts[2] + 1)
    return [
        np.array(counts, "u4"), np.array(shape, "f4"), np.array(anchors, "u2"), np.array(offsets, "f4"),
        np.array([split[:2] for split in splits], "u2"), np.array([split[2] for split in splits], "f4"), np.array(leaves, "f4"),
    ]


def main(directory):
    for name, source, kind, arrays in (
        ("face-detector", "face_detection_yunet_2023mar_int8bq.onnx", DETECTOR, lambda data: detector(Graph(data))),
        ("face-recogniser", "face_recognition_sface_2021dec_int8bq.onnx", RECOGNISER, lambda data: recogniser(Graph(data))),
        ("face-landmarks", "shape_predictor_5_face_landmarks.dat", LANDMARKS, landmarks),
    ):
        data = (directory / source).read_bytes()
        write(directory / f"{name}.hgm", kind, data, arrays(data))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
