#!/bin/sh
# Tests Shared/C/CFaceNet by the driver in C: optimised, with the address and the undefined-behaviour sanitizer, and, where a cross
# compiler and qemu-user are installed (packages gcc-aarch64-linux-gnu and qemu-user), for ARM with NEON.
#
#   Tests/CFaceNet/run.sh [MODELS]
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
models=${1:-"$root/.cache/models"}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
library="$root/Shared/C/CFaceNet"

clang -std=gnu11 -O2 -Wall -Wextra -Werror "$root/Tests/CFaceNet/driver.c" "$library"/*.c -lm -o "$scratch/driver"
"$scratch/driver" "$models"

echo "with sanitizers:"
clang -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined "$root/Tests/CFaceNet/driver.c" "$library"/*.c \
    -lm -o "$scratch/sanitized" 2> "$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
"$scratch/sanitized" "$models" 30

if command -v aarch64-linux-gnu-gcc > /dev/null && command -v qemu-aarch64 > /dev/null; then
    echo "for ARM, emulated:"
    for source in "$root/Tests/CFaceNet/driver.c" "$library"/*.c; do
        clang --target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include -std=gnu11 -O2 -c "$source" \
            -o "$scratch/$(basename "$source").o"
    done
    aarch64-linux-gnu-gcc -static "$scratch"/*.o -lm -o "$scratch/arm"
    qemu-aarch64 "$scratch/arm" "$models" 3
fi
