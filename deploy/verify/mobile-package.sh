#!/usr/bin/env bash
# Builds an app's package that depends on MobileClient alone, from nothing, and looks at what it links: Swift's own libraries and those of
# the system, no C library of a service and no NIO. Prints the time.
set -euo pipefail
cd "$(dirname -- "$0")/../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/Sources/App"
cat >"$work/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "App",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "$root/Shared/MobileClient")],
    targets: [.executableTarget(name: "App", dependencies: ["MobileClient"])])
EOF
cat >"$work/Sources/App/main.swift" <<'EOF'
import Foundation
import MobileClient

print(HeliographError(.unreachable, "no connection"))
EOF
start=$(date +%s.%N)
swift build --package-path "$work" --scratch-path "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
seconds=$(echo "$(date +%s.%N) - $start" | bc)
"$work/build/debug/App"
if compgen -G "$work/build/checkouts/*"; then
    echo "the package fetches others" >&2
    exit 1
fi
libraries=$(ldd "$work/build/debug/App" | awk '{print $1}' | sed 's|.*/||')
# A line of their own, so that a tool that is missing ends the script: `|| true` below is for a grep that finds nothing.
needed=$(readelf -d "$work/build/debug/App" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
allowed='^(linux-vdso|ld-linux|lib(c|m|dl|pthread|rt|util|gcc_s|stdc\+\+)\.so|libswift|lib_?Foundation|libdispatch|libBlocksRuntime)'
# FoundationNetworking brings curl's own libraries along, as it does for any Swift program; on Apple's systems there are none.
foreign=$(grep -vE "$allowed" <<<"$libraries" || true)
direct=$(grep -vE "$allowed" <<<"$needed" || true)
if [ -n "$direct" ]; then
    echo "it links: $direct" >&2
    exit 1
fi
echo "$(echo "$libraries" | wc -l) libraries, $(echo "$foreign" | grep -c . || true) of them through FoundationNetworking"
echo "built in ${seconds%.*} s"
