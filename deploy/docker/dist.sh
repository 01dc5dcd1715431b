#!/bin/sh
# Copies what the images hold out of a release build into dist/out, and writes its bill of materials beside it: dist.sh FOLDER-OF-BINARIES
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
binaries=$1
backtracer=$(dirname "$(readlink -f "$(command -v swift)")")/../libexec/swift/linux/swift-backtrace-static
mkdir -p "$root/dist/out"
for name in identity-api face-matching-worker image-worker image-decoder token-registry notifier heliographctl heliograph-load \
    fcm-emulator mobile-sim; do
    cp "$binaries/$name" "$root/dist/out/.$name.new" && mv "$root/dist/out/.$name.new" "$root/dist/out/$name"
done
cp "$backtracer" "$root/dist/out/swift-backtrace-static"
python3 "$root/deploy/docker/sbom.py" "$root/dist/out" >"$root/dist/.heliograph.cdx.json.new"
mv "$root/dist/.heliograph.cdx.json.new" "$root/dist/heliograph.cdx.json"
echo "in dist/out: $(cd "$root/dist/out" && echo *); bill of materials: dist/heliograph.cdx.json"
