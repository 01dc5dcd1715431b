"""Writes the flat files that Shared/C/CFaceNet loads, and reads ONNX files, without a package for either.

A flat file is little-endian: a header of 64 bytes (8 bytes magic, u32 version, u32 kind, 32 bytes SHA-256 of the source, which is
the model's id, u64 length and u64 checksum of the rest), then arrays in a fixed order, each aligned to 64 bytes. The program knows
their sizes, or finds them in the first ones. The checksum detects damage; what protects against malice is the SHA-256 of the file.
"""

import hashlib
import struct

import numpy as np

MAGIC, VERSION, ALIGNMENT = b"HGMODEL\0", 1, 64
DETECTOR, RECOGNISER, LANDMARKS, PASSIVE = 1, 2, 3, 4


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


# ONNX: a message of protocol buffers is a list of (field number, value)

# The types of TensorProto.DataType whose numbers are read.
TYPES = {1: "<f4", 3: "i1", 6: "<i4", 7: "<i8", 11: "<f8"}


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
    """Returns the signed integers of a field."""
    numbers, at = [value] if isinstance(value, int) else [], 0
    while not isinstance(value, int) and at < len(value):
        number, at = varint(value, at)
        numbers.append(number)
    return [number - (1 << 64) if number >> 63 else number for number in numbers]


def tensor(data):
    """Returns the name and the array of a TensorProto."""
    dimensions, kind, name, content, integers = [], 0, "", b"", []
    for field, value in fields(data):
        if field == 1:
            dimensions += packed(value)
        elif field == 2:
            kind = value
        elif field == 8:
            name = value.decode()
        elif field in (4, 9, 10):  # float_data, raw_data, double_data
            content += value
        elif field in (5, 7):  # int32_data, int64_data
            integers += packed(value)
        elif field == 14 and value != 0:
            raise ValueError(f"the tensor {name} is in another file: save the model with its data inside")
    if kind not in TYPES:
        raise ValueError(f"the tensor {name} has numbers of type {kind} of ONNX: float, double and integers are read")
    values = np.array(integers, TYPES[kind]) if integers else np.frombuffer(content, TYPES[kind])
    return name, values.reshape(dimensions)


class Node:
    """A node with its attributes: integers, reals and tensors by their names."""

    def __init__(self, data):
        self.inputs, self.outputs, self.kind, self.integers, self.real, self.text, self.tensors = [], [], "", {}, {}, {}, {}
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
                self.text[name] = next((value.decode() for field, value in attribute if field == 4), None)
                self.tensors[name] = next((tensor(value)[1] for field, value in attribute if field == 5), None)
