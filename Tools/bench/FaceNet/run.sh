#!/bin/sh
# Measures CFaceNet against Debian's OpenCV (packages libopencv-dnn-dev, and a Python with numpy, onnx and onnxruntime as PYTHON).
#
#   PYTHON=/path/to/venv/bin/python Tools/bench/FaceNet/run.sh [MODELS [ROUNDS]]
#
# OPENCV_CPU_DISABLE=AVX512-SKX makes OpenCV use AVX2. CXXFLAGS and LDFLAGS may name an OpenCV that is not installed.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$(cd -- "$here/../../.." && pwd)
models=${1:-"$root/.cache/models"}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"${PYTHON:-python3}" "$here/reference.py" "$models" "$scratch"
for source in "$root"/Shared/C/CFaceNet/*.c; do
    clang -std=gnu11 -O2 -c "$source" -o "$scratch/$(basename "$source").o"
done
# shellcheck disable=SC2086
clang++ -std=c++17 -O2 ${CXXFLAGS:-} -I/usr/include/opencv4 -c "$here/bench.cpp" -o "$scratch/bench.o"
# shellcheck disable=SC2086
clang++ "$scratch"/*.o ${LDFLAGS:-} -lopencv_dnn -lopencv_core -lm -o "$scratch/bench"
"$scratch/bench" "$models" "$scratch" "${2:-60}"
