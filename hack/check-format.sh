#!/usr/bin/env bash
# Fails if gofmt would change a file.
set -euo pipefail
cd "$(dirname "$0")/.."

changed=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 -r gofmt -l)
if [[ -n $changed ]]; then
	echo "gofmt would change these; run gofmt -w on them:" >&2
	echo "$changed" >&2
	exit 1
fi
