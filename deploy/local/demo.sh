#!/usr/bin/env bash
# Shows both paths end to end on the running stack ('make up'), with phones that use MobileClient: a person signs up with nine photos,
# signs in with three others, and another person tries to sign in as them; then the first has one portrait made into six pictures. Every
# answer, state and push is checked; exits with 1 when one differs. The story and its checks are in Tools/mobile-sim/MobileSim/Demo.
#
# The photos are real portraits in the public domain; deploy/local/fetch-photos.sh says which.
set -euo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
export HELIOGRAPH_RUN=${HELIOGRAPH_RUN:-"$root/.run"} HELIOGRAPH_PHOTOS=${HELIOGRAPH_PHOTOS:-"$root/.cache/photos"}
case "${LC_ALL:-${LC_CTYPE:-${LANG:-}}}" in *[Uu][Tt][Ff]*) ;; *) export LC_ALL=C.UTF-8 ;; esac
# In a container it is among the commands of the system.
phones=${HELIOGRAPH_BINARIES:-"$root/.build/${CONFIGURATION:-debug}"}/mobile-sim
[ -x "$phones" ] || phones=$(command -v mobile-sim) || { echo "demo: mobile-sim is not built: run 'make build'" >&2; exit 1; }
exec "$phones" demo --contact-sheet "$root/deploy/local/contact-sheet.sh" "$@"
