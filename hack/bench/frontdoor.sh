#!/usr/bin/env bash
# What the front door adds to a command: the same program started through it
# and by itself. It should stay below 5 ms.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp bin/kubectl-kinetic "$dir/"
cp "$(command -v true)" "$dir/kubectl-kinetic_run"

# each COMMAND…: microseconds of wall time for one start, the mean of 300
each() {
	local began=${EPOCHREALTIME/[.,]/} i
	for ((i = 0; i < 300; i++)); do "$@"; done
	echo $(((${EPOCHREALTIME/[.,]/} - began) / 300))
}

each "$dir/kubectl-kinetic_run" >/dev/null # warm up
direct=$(each "$dir/kubectl-kinetic_run")
through=$(each "$dir/kubectl-kinetic" run)
printf 'direct %d us, through the front door %d us, added %d us\n' "$direct" "$through" $((through - direct))
