#!/bin/sh
# As the official image: its own user, whatever the volume belongs to, and no protected mode, which a container's network replaces.
set -e
if [ "$(id -u)" = 0 ]; then
    chown redis:redis /data
    exec setpriv --reuid=redis --regid=redis --clear-groups --bounding-set=-all "$0" "$@"
fi
if [ "$1" = redis-server ]; then
    exec "$@" --protected-mode no
fi
exec "$@"
