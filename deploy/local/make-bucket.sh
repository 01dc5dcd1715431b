#!/usr/bin/env bash
# Makes the bucket S3_BUCKET at S3_ENDPOINT, unless it is there: with the credentials in S3_ACCESS_KEY_ID_FILE and
# S3_SECRET_ACCESS_KEY_FILE, which are secrets of docker-compose.yml where nothing is said.
set -euo pipefail
id=$(cat "${S3_ACCESS_KEY_ID_FILE:-/run/secrets/s3-access-key-id}")
key=$(cat "${S3_SECRET_ACCESS_KEY_FILE:-/run/secrets/s3-secret-access-key}")

# Credentials go through a file descriptor: arguments are seen by everybody.
ask() { # ask METHOD: prints the status
    curl -sS -o /dev/null -w '%{http_code}' --max-time 30 --retry 5 --retry-connrefused --retry-all-errors -X "$1" \
        --aws-sigv4 "aws:amz:$S3_REGION:s3" -K <(printf 'user = "%s:%s"\n' "$id" "$key") "$S3_ENDPOINT/$S3_BUCKET"
}
# Some answer 409 when it is one's own already, some 200.
case $(ask PUT) in
    200 | 204 | 409) echo "the bucket $S3_BUCKET is there" ;;
    *) echo "make-bucket: $S3_ENDPOINT refuses to make the bucket $S3_BUCKET" >&2; exit 1 ;;
esac
