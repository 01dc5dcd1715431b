#!/bin/sh
# Fuzzes Shared/C/CJPEG, and Shared/C/CFaceNet behind it, under the address, the leak and the undefined-behaviour sanitizer, with files
# that are made of a photo: baseline, progressive, grey, inks, other samplings, with restarts and turned by EXIF.
#
#   Tests/CJPEG/run.sh [ROUNDS [SEED]]      100,000 rounds take some 10 minutes
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
photo="$root/.cache/photos/person-a/front-1.jpg"
# Small, so that many are tried; the face is 60 and 25 pixels wide.
for side in 160 64; do
    vipsthumbnail "$photo" --size $side -o "$scratch/$side.png"
    vips jpegsave "$scratch/$side.png" "$scratch/$side.jpg" --Q 80
    vips jpegsave "$scratch/$side.png" "$scratch/$side-full.jpg" --Q 90 --subsample-mode off --restart-interval 3
    vips jpegsave "$scratch/$side.png" "$scratch/$side-progressive.jpg" --Q 80 --interlace
    vips colourspace "$scratch/$side.png" "$scratch/$side-grey.jpg" b-w
    vips colourspace "$scratch/$side.png" "$scratch/$side-inks.jpg" cmyk
    vips copy "$scratch/$side.png" "$scratch/$side-turned.v"
    vipsedit --set-field=orientation=6 "$scratch/$side-turned.v" 2> /dev/null || true
    vips jpegsave "$scratch/$side-turned.v" "$scratch/$side-turned.jpg"
done
clang -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wall -Wextra -Werror "$root/Tests/CJPEG/fuzz.c" \
    "$root"/Shared/C/CJPEG/*.c "$root"/Shared/C/CFaceNet/*.c -ljpeg -lm -o "$scratch/fuzz" \
    2> "$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
"$scratch/fuzz" "$root/.cache/models" "${1:-5000}" "${2:-1}" "$scratch"/*.jpg
