#!/bin/sh
# Copies what the images hold out of a release build into dist/out: dist.sh FOLDER-OF-BINARIES
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
binaries=$1
backtracer=$(dirname "$(readlink -f "$(command -v swift)")")/../libexec/swift/linux/swift-backtrace-static
mkdir -p "$root/dist/out"
for name in identity-api face-matching-worker image-worker token-registry notifier heliographctl heliograph-load fcm-emulator; do
    cp "$binaries/$name" "$root/dist/out/.$name.new" && mv "$root/dist/out/.$name.new" "$root/dist/out/$name"
done
cp "$backtracer" "$root/dist/out/swift-backtrace-static"
echo "in dist/out: $(cd "$root/dist/out" && echo *)"
