#!/usr/bin/env bash
# Makes the documentation of MobileClient: mobile-docs.sh FOLDER
#
# FOLDER/site gets what a web server serves, FOLDER/modules the modules that the tests check the Swift of documents against. Apple's SDK does
# not exist on Linux: the modules of Tests/AppleStubs stand in for it, so that the documentation has the adapters too. A warning is an error.
set -euo pipefail
output=$(realpath -m "${1:?mobile-docs.sh FOLDER}")
cd "$(dirname -- "$0")/../.."
modules=$output/modules
rm -rf "$output"
mkdir -p "$modules" "$output/symbols"
flags=(-parse-as-library -swift-version 6 -I "$modules" -enable-upcoming-feature InternalImportsByDefault)

module() {
    swiftc -emit-module -module-name "$1" -o "$modules/$1.swiftmodule" "${flags[@]}" "${@:2}"
}
for name in FoundationNetworking CoreFoundationTypes Security CryptoKit CoreGraphics ImageIO UniformTypeIdentifiers UserNotifications UIKit \
    SwiftUI PhotosUI FirebaseCore FirebaseMessaging; do
    module "$name" Tests/AppleStubs/"$name"/*.swift
done
for feature in ExistentialAny MemberImportVisibility InferIsolatedConformances NonisolatedNonsendingByDefault; do
    flags+=(-enable-upcoming-feature "$feature")
done
# Declarations are all that it needs: the bodies are checked elsewhere.
mapfile -t files < <(find Shared/MobileClient -name '*.swift' -not -name Package.swift -not -path '*.docc/*' | sort)
module MobileClient -Xfrontend -experimental-skip-non-inlinable-function-bodies \
    -emit-symbol-graph -emit-symbol-graph-dir "$output/symbols" "${files[@]}"

docc=$(command -v docc || echo "$(dirname -- "$(readlink -f -- "$(command -v swiftc)")")/docc")
"$docc" convert Shared/MobileClient/MobileClient.docc --additional-symbol-graph-dir "$output/symbols" --output-path "$output/site" \
    --fallback-display-name MobileClient --fallback-bundle-identifier org.heliograph.MobileClient \
    --transform-for-static-hosting --warnings-as-errors
