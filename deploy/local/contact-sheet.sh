#!/usr/bin/env bash
# Joins pictures into one JPEG: contact-sheet.sh OUTPUT COLUMNS LABEL=FILE…
# Every picture is fitted into a square, with its label below. Needs the package libvips-tools.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: contact-sheet.sh OUTPUT COLUMNS LABEL=FILE…" >&2; exit 2; }
output=$1
columns=$2
shift 2
side=480   # pixels of a square
margin=16  # pixels around it
foot=52    # pixels below it, for the label
paper="250 248 243"

command -v vips >/dev/null || { echo "contact-sheet: vips is missing: run 'make setup'" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

cells=()
for entry in "$@"; do
    label=${entry%%=*} file=${entry#*=} cell="cell-${#cells[@]}.v"
    case $file in /*) ;; *) file=$OLDPWD/$file ;; esac
    vips thumbnail "$file" picture.v "$side" --height "$side" --size both
    vips gravity picture.v framed.v centre $((side + 2 * margin)) $((side + 2 * margin)) --extend background --background "$paper"
    label=$(sed 's/&/\&amp;/g; s/</\&lt;/g' <<<"$label")
    # Text comes as ink on nothing, to be laid as black on the paper.
    vips text ink.v "$label" --font "sans 16" --dpi 96
    vips gravity ink.v line.v north $((side + 2 * margin)) "$foot"
    vips linear line.v shade.v -- "-0.87 -0.86 -0.83" "$paper"
    vips cast shade.v foot.v uchar
    vips copy foot.v label.v --interpretation srgb
    vips join framed.v label.v "$cell" vertical
    cells+=("$cell")
done
vips arrayjoin "${cells[*]}" "sheet.jpg[Q=88,strip]" --across "$columns" --background "$paper"
mv sheet.jpg "$(case $output in /*) echo "$output" ;; *) echo "$OLDPWD/$output" ;; esac)"
