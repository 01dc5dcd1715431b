#!/usr/bin/env python3
"""Compares hg_detector_find with FaceDetectorYN of OpenCV 5 (4.8 or later), and writes the boxes for compare_landmarks.

    compare_detector.py LIBRARY MODELS REFERENCE SCRATCH PHOTO…       (needs the Python packages numpy and opencv-python-headless)

LIBRARY is CFaceNet as a shared library, REFERENCE the folder that reference.py has filled. Each photo is searched at five sizes, as
it is, darker, mirrored and turned by up to 20 degrees. In SCRATCH it leaves pictures and `boxes`, with moved boxes for each face.
"""

import ctypes
import sys
from pathlib import Path

import cv2
import numpy as np

THRESHOLD, OVERLAP, CAPACITY = 0.7, 0.3, 64


class Picture(ctypes.Structure):
    _fields_ = [("pixels", ctypes.c_char_p), ("width", ctypes.c_int), ("height", ctypes.c_int)]


def load(library, models):
    library.hg_detector_load.restype = library.hg_scratch_create.restype = ctypes.c_void_p
    file = (models / "face-detector.hgm").read_bytes()
    fault = ctypes.c_int()
    detector = library.hg_detector_load(file, ctypes.c_size_t(len(file)), 0, ctypes.byref(fault))
    assert detector, fault.value
    return ctypes.c_void_p(detector), ctypes.c_void_p(library.hg_scratch_create())


def ours(library, detector, scratch, image):
    """Returns rows of x, y, width, height, ten coordinates of points and the score, like FaceDetectorYN."""
    found = np.zeros((CAPACITY, 15), np.float32)
    count = ctypes.c_int()
    rgb = np.ascontiguousarray(image[:, :, ::-1])
    picture = Picture(ctypes.cast(rgb.ctypes.data, ctypes.c_char_p), image.shape[1], image.shape[0])
    assert library.hg_detector_find(
        detector, scratch, picture, ctypes.c_float(THRESHOLD), ctypes.c_float(OVERLAP), ctypes.c_void_p(found.ctypes.data), CAPACITY,
        ctypes.byref(count))
    found = found[:count.value]
    return np.concatenate([found[:, :4], found[:, 5:], found[:, 4:5]], 1)


def theirs(detector, image):
    detector.setInputSize((image.shape[1], image.shape[0]))
    faces = detector.detect(image)[1]
    return np.zeros((0, 15), np.float32) if faces is None else faces


def variants(image):
    for side in (160, 320, 480, 640, 800):
        scale = side / max(image.shape[:2])
        scaled = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        yield scaled
        yield (scaled * 0.4).astype(np.uint8)
        yield np.ascontiguousarray(scaled[:, ::-1])
        for degrees in (-20, 12):
            centre = (scaled.shape[1] / 2, scaled.shape[0] / 2)
            yield cv2.warpAffine(scaled, cv2.getRotationMatrix2D(centre, degrees, 1), scaled.shape[1::-1])


def main(library, models, reference, scratch_directory, photos):
    library = ctypes.CDLL(library)
    detector, scratch = load(library, Path(models))
    peer = cv2.FaceDetectorYN.create(str(Path(reference) / "yunet.onnx"), "", (320, 320), THRESHOLD, OVERLAP, 5000)
    cv2.setNumThreads(1)
    pictures = faces = differing = 0
    box = points = score = 0.0
    random = np.random.default_rng(1)
    lines = []
    for photo in photos:
        for number, image in enumerate(variants(cv2.imread(photo))):
            mine, others = ours(library, detector, scratch, image), theirs(peer, image)
            pictures += 1
            if len(mine) != len(others):
                differing += 1
                print("number of faces differs:", photo, number, len(mine), len(others), mine[:, 14], others[:, 14])
                continue
            faces += len(mine)
            # Both are sorted by score, where equal ones may change places.
            for row in mine:
                other = others[np.abs(others[:, :4] - row[:4]).sum(1).argmin()]
                box = max(box, np.abs(row[:4] - other[:4]).max())
                points = max(points, np.abs(row[4:14] - other[4:14]).max())
                score = max(score, abs(row[14] - other[14]))
            path = f"{scratch_directory}/{Path(photo).parent.name}-{Path(photo).stem}-{number}.ppm"
            cv2.imwrite(path, image)
            for x, y, width, height in mine[:, :4]:
                for _ in range(3):
                    moved = np.array([x, y, x + width, y + height]) + random.normal(0, 0.06 * width, 4)
                    lines.append(path + " " + " ".join(str(int(v)) for v in moved))
    Path(scratch_directory, "boxes").write_text("\n".join(lines) + "\n")
    print(f"{pictures} pictures, {faces} faces, {differing} with another number of faces; greatest deviation: "
          f"box {box:.2g} px, points {points:.2g} px, score {score:.2g}")
    return differing > 0 or box > 1e-2 or points > 1e-2 or score > 1e-4


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5], sys.argv[5:]))
