#!/usr/bin/env bash
# Makes a stand-in for the image of the Swift toolchain out of this machine's own: swift-standin.sh IMAGE
# The engine is the one of docker-up.sh. Where this machine's git has a copy of GitHub's packages, the stand-in has it too.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
image=$1
scratch=$root/.cache/verify/swift

fail() { printf 'verify: %s\n' "$*" >&2; exit 1; }

swift=$(readlink -f "$(command -v swift)") || fail "there is no Swift toolchain on this machine"
usr=$(cd -- "$(dirname -- "$swift")/.." && pwd)
[ -x "$usr/libexec/swift/linux/swift-backtrace-static" ] || fail "the toolchain in $usr has no static backtracer"
rm -rf "$scratch"
mkdir -p "$scratch/toolchain/usr" "$scratch/none"
trap 'rm -rf "$scratch"' EXIT
# Without what debugs, indexes, formats and documents, and what microcontrollers need: half of its size.
for folder in bin include lib libexec share; do cp -al "$usr/$folder" "$scratch/toolchain/usr/" 2>/dev/null || cp -a "$usr/$folder" "$scratch/toolchain/usr/"; done
(
    cd "$scratch/toolchain/usr"
    rm -rf bin/{lldb*,repl_swift,sourcekit-lsp,clangd,docc,swift-format,wasmkit,swift-build-sdk-interfaces} \
        lib/{liblldb*,libsourcekitdInProc*,libSwiftSourceKit*} lib/swift/{embedded,FrameworkABIBaseline} lib/swift_static/embedded
)

# A mirror is a folder that git reads instead of GitHub.
packages=$scratch/none
: >"$scratch/toolchain/gitconfig"
while read -r key instead; do
    folder=${key#url.} folder=${folder%.insteadof}
    if [ "$instead" = https://github.com/ ] && [ -d "$folder" ]; then
        packages=$folder
        printf '[url "/swift-packages/"]\n\tinsteadOf = https://github.com/\n[safe]\n\tdirectory = *\n' >"$scratch/toolchain/gitconfig"
    fi
done < <(git config --get-regexp '^url\..*\.insteadof$' || true)
docker buildx build -q --load -t "$image" --build-context "toolchain=$scratch/toolchain" --build-context "packages=$packages" \
    "$root/deploy/verify/standins/swift" >/dev/null
