#!/usr/bin/env bash
# Starts fake-gcs-server, which speaks Cloud Storage's API at one address for pods and
# for this machine, and makes the bucket that is the store. Objects are held in memory.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

start storage "$cache/bin/fake-gcs-server" -scheme http -host "$host" -port "${store_url##*:}" \
	-backend memory -data "$KUBEBOX_DIR/no-seed" -external-url "$store_url" -public-host "${store_url#http://}"
await storage curl -sf "$store_url/storage/v1/b"
curl -sf "$store_url/storage/v1/b/$bucket" >/dev/null ||
	curl -sSf -H 'Content-Type: application/json' -d "{\"name\": \"$bucket\"}" "$store_url/storage/v1/b?project=kubebox" >/dev/null
