#!/bin/sh
# Fetches the photos of the demo and the tests into .cache/photos, checked by SHA-256, and makes further views of them.
#
# The originals are official portraits of two public persons (works of the government of the United States, in the
# public domain), which the source archive of the Python package face_recognition 1.3.0 carries among its tests.
#
#   original/…                          as fetched
#   person-a/{left,right,front}-{1,2,3} nine photos to sign up with
#   person-a/sign-in-{1,2,3}            three others of the same person, from a photo not used for signing up
#   person-a/challenge-{left,right,front,nearer}  the poses of a challenge, in other views than the nine
#   person-b/sign-in-{1,2,3}            another person
#   cases/{two-people,no-face,partial-face}
#
# Running it again when everything is there takes a moment and fetches nothing.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$(cd -- "$here/../.." && pwd)
photos="$root/.cache/photos"

sums="3c17508bb91554c637a2eabddfae790e5bb1caba93130814fc2ac50be9760c4c  biden.jpg
0930e3aa8cae5920329c0c8cbc6a2ab70f47b0e67b432875beaa95cbf7e741f6  obama.jpg
a7efcc907375274796f39646510704aa86672d59f6d5469d69af3c85590976a6  obama2.jpg
76ac6bf97c36dc2da0ad16a537d6a5ac1b10f48d49aac29a0cca9a17cdbc3ca3  obama3.jpg
9a812347f97633542b8cd9992de22def11b74f79d82056bc3ee830f13878e028  obama_partial_face2.jpg"

present() { (cd "$1" 2>/dev/null && printf '%s\n' "$sums" | sha256sum --check --status 2>/dev/null); }

# Whether each of the views is there.
has_views() {
    for n in 1 2 3; do
        for view in person-a/left person-a/right person-a/front person-a/sign-in person-b/sign-in; do
            [ -s "$photos/$view-$n.jpg" ] || return 1
        done
    done
    for pose in left right front nearer; do [ -s "$photos/person-a/challenge-$pose.jpg" ] || return 1; done
    for view in two-people no-face partial-face; do [ -s "$photos/cases/$view.jpg" ] || return 1; done
}

# Views are made again one is missing, or the program that makes them has changed.
recipe=$(sha256sum < "$here/synthesise-views.py" | cut -d' ' -f1)
if present "$photos/original" && [ "$(cat "$photos/recipe" 2>/dev/null)" = "$recipe" ] && has_views; then
    echo "photos: present"
    exit 0
fi

mkdir -p "$photos/original"
scratch=$(mktemp -d "$photos/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM

if ! present "$photos/original"; then
    echo "photos: fetching 3 MB …"
    # pip compares the archive with the hash before it looks inside.
    cat > "$scratch/requirements.txt" <<'REQUIREMENTS'
face_recognition==1.3.0 --hash=sha256:5e5efdd1686aa566af0d3cc1313b131e4b197657a8ffd03669e6d3fad92705ec
REQUIREMENTS
    if ! /usr/bin/python3 -m pip download --quiet --no-deps --no-build-isolation --no-binary :all: \
        --require-hashes --dest "$scratch" --requirement "$scratch/requirements.txt" > "$scratch/log" 2>&1; then
        cat "$scratch/log" >&2
        echo "photos: pip could not fetch face_recognition 1.3.0 (needs the packages python3-pip, python3-setuptools" \
            "and python3-wheel, and a package index within reach)" >&2
        exit 1
    fi
    tar -xzf "$scratch/face_recognition-1.3.0.tar.gz" -C "$photos/original" --strip-components=3 \
        face_recognition-1.3.0/tests/test_images
    find "$photos/original" -type f ! -name biden.jpg ! -name 'obama.jpg' ! -name 'obama[23].jpg' \
        ! -name obama_partial_face2.jpg -delete
    if ! present "$photos/original"; then
        echo "photos: the files do not have the expected SHA-256" >&2
        exit 1
    fi
fi

echo "photos: making views …"
/usr/bin/python3 "$here/synthesise-views.py" "$photos/original" "$photos"
printf '%s\n' "$recipe" > "$photos/recipe"
echo "photos: ready in $photos"
