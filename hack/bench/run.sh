#!/usr/bin/env bash
# Runs the measurements beside it, one after the other. Each prints its figures
# with what they are to be compared with.
set -euo pipefail
cd "$(dirname "$0")"

for bench in *.sh; do
	[[ $bench == run.sh ]] && continue
	echo "== ${bench%.sh}"
	"./$bench"
done
