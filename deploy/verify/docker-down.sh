#!/usr/bin/env bash
# Stops the Docker Engine that docker-up.sh started and takes back what it left in the kernel: docker-down.sh [--purge]
# --purge also removes its images.
set -uo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
home=$root/.cache/verify/docker
[ -s "$home/docker.pid" ] || exit 0
pid=$(cat "$home/docker.pid")
# A file from before a restart of the machine names somebody else.
if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; then kill "$pid"; else rm -f "$home/docker.pid"; fi
# Its file goes when it has ended; the process itself may stay as a zombie where nobody reaps.
for ((i = 0; i < 120; i++)); do
    [ -e "$home/docker.pid" ] || break
    sleep 0.25
done
ip link del docker0 2>/dev/null
umount "$home/exec/netns/default" 2>/dev/null
for table in filter nat; do
    iptables-save -t "$table" 2>/dev/null | grep -E '^-A .*(DOCKER|docker0|br-)' | sed 's/^-A/-D/' | while read -r rule; do
        # shellcheck disable=SC2086
        eval iptables -t "$table" $rule 2>/dev/null
    done
    iptables-save -t "$table" 2>/dev/null | sed -n 's/^:\(DOCKER[^ ]*\) .*/\1/p' | while read -r chain; do
        iptables -t "$table" -F "$chain" 2>/dev/null
        iptables -t "$table" -X "$chain" 2>/dev/null
    done
done
[ "${1:-}" != --purge ] || rm -rf "$home/data" "$home/exec"
exit 0
