"""Makes the photos of the demo and the tests from the originals that fetch-photos.sh fetched.

usage: synthesise-views.py ORIGINALS OUTPUT

Nobody has nine public-domain photos of one head in three poses, so further views are made: the head is taken as an
ellipsoid with a bump for a nose, turned about its vertical axis, and the picture is drawn on it again. Up to some
22 degrees that looks natural, and to the face network it is a different photo of the same person.
"""

import os
import sys

import numpy as np
from PIL import Image

# Where the face is in each original (the detector's box) and where its nose begins, in pixels.
FACES = {
    "obama": {"box": (366, 136, 624, 394), "nose": (495, 294)},
    "obama2": {"box": (164, 302, 474, 611), "nose": (289, 471)},
    "obama3": {"box": (646, 302, 955, 611), "nose": (800, 467)},
    "biden": {"box": (439, 233, 749, 542), "nose": (582, 428)},
}

# Output: original, degrees to turn by (positive: the nose goes towards the picture's right), brightness. Those that answer a challenge are
# of one photo, so that light and background stay, and none of them is one of the nine.
VIEWS = {
    "person-a/left-1": ("obama", -16, 1.00),
    "person-a/left-2": ("obama", -24, 1.05),
    "person-a/left-3": ("obama2", 0, 1.00),
    "person-a/right-1": ("obama", 15, 1.00),
    "person-a/right-2": ("obama", 20, 0.95),
    "person-a/right-3": ("obama", 25, 1.08),
    "person-a/front-1": ("obama", 0, 1.00),
    "person-a/front-2": ("obama", 7, 1.08),
    "person-a/front-3": ("obama2", 20, 1.00),
    "person-a/sign-in-1": ("obama3", -22, 1.00),
    "person-a/sign-in-2": ("obama3", -8, 1.00),
    "person-a/sign-in-3": ("obama3", 0, 1.00),
    "person-a/challenge-left": ("obama", -20, 1.00),
    "person-a/challenge-right": ("obama", 22, 1.00),
    "person-a/challenge-front": ("obama", 3, 1.00),
    "person-a/challenge-nearer": ("obama", -2, 1.00),
    "person-b/sign-in-1": ("biden", -22, 1.00),
    "person-b/sign-in-2": ("biden", -8, 1.00),
    "person-b/sign-in-3": ("biden", 0, 1.00),
}

# A phone held at arm's length: the face takes a third of the picture's height.
CROP_WIDTHS, CROP_HEIGHTS, CROP_ABOVE = 2.5, 3.1, 1.3
# The same, nearer to the camera by this factor.
NEARER = 1.35


def load_whole(originals, name):
    return np.asarray(Image.open(os.path.join(originals, name + ".jpg")).convert("RGB"), dtype=np.float64)


def load(originals, name):
    """The picture with its face's box and nose."""
    pixels = load_whole(originals, name)
    return pixels, FACES[name]["box"], FACES[name]["nose"]


def sample(pixels, x, y):
    """Bilinear interpolation of the picture at the points (x, y)."""
    height, width = pixels.shape[:2]
    x, y = np.clip(x, 0, width - 1.001), np.clip(y, 0, height - 1.001)
    column, row = x.astype(int), y.astype(int)
    across, down = (x - column)[..., None], (y - row)[..., None]
    upper = pixels[row, column] * (1 - across) + pixels[row, column + 1] * across
    lower = pixels[row + 1, column] * (1 - across) + pixels[row + 1, column + 1] * across
    return upper * (1 - down) + lower * down


def turn(pixels, box, nose, degrees):
    """The same head, turned about its vertical axis."""
    if degrees == 0:
        return pixels
    left, top, right, bottom = box
    face = right - left
    half_width, half_height = 0.78 * face, 1.05 * face
    centre_x, centre_y = (left + right) / 2, (top + bottom) / 2 - 0.05 * face
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))

    def depth(x, y):
        u, v = (x - centre_x) / half_width, (y - centre_y) / half_height
        ball = np.sqrt(np.clip(1 - u * u - v * v, 0, None))
        bump = np.exp(-((x - nose[0]) ** 2 + (y - nose[1]) ** 2) / (2 * (0.14 * face) ** 2))
        return half_width * (ball + 0.22 * bump)

    rows, columns = np.mgrid[0 : pixels.shape[0], 0 : pixels.shape[1]].astype(np.float64)
    source = columns.copy()
    for _ in range(25):
        wanted = centre_x + (columns - centre_x - depth(source, rows) * sine) / cosine
        source = 0.5 * source + 0.5 * wanted
    distance = np.hypot((columns - centre_x) / half_width, (rows - centre_y) / half_height)
    weight = np.clip((1.45 - distance) / 0.45, 0, 1)
    weight = weight * weight * (3 - 2 * weight)
    return sample(pixels, columns + (source - columns) * weight, rows)


def crop(pixels, box, nearness):
    """The part of the picture a selfie would show."""
    left, top, right, bottom = box
    face, centre = right - left, (left + right) / 2
    x0 = int(max(0, centre - face * CROP_WIDTHS / nearness / 2))
    x1 = int(min(pixels.shape[1], centre + face * CROP_WIDTHS / nearness / 2))
    middle = (top + bottom) / 2
    y0 = int(max(0, middle - face * CROP_ABOVE / nearness))
    return pixels[y0 : min(pixels.shape[0], y0 + int(face * CROP_HEIGHTS / nearness)), x0:x1]


def save(pixels, output, name):
    path = os.path.join(output, name + ".jpg")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # No metadata is passed on.
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path, quality=93, subsampling=0)


def selfie(originals, name, degrees=0, brightness=1.0, nearness=1.0):
    pixels, box, nose = load(originals, name)
    return crop(turn(pixels, box, nose, degrees) * brightness, box, nearness)


def side_by_side(first, second):
    """Two people in one photo, each as large as the other."""
    height = 600
    halves = []
    for pixels in (first, second):
        picture = Image.fromarray(np.rint(pixels).astype(np.uint8))
        halves.append(picture.resize((picture.width * height // picture.height, height), Image.BICUBIC))
    return np.concatenate([np.asarray(half, dtype=np.float64) for half in halves], axis=1)


def main(originals, output):
    for name, (original, degrees, brightness) in VIEWS.items():
        nearness = NEARER if name.endswith("nearer") else 1.0
        save(selfie(originals, original, degrees, brightness, nearness), output, name)
    save(side_by_side(selfie(originals, "obama"), selfie(originals, "biden")), output, "cases/two-people")
    save(load_whole(originals, "obama_partial_face2"), output, "cases/partial-face")
    # The suit, below any face.
    save(load_whole(originals, "obama3")[1100:2000, 300:1100], output, "cases/no-face")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
