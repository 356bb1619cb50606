#!/usr/bin/env bash
# Judges how outputs are saved for up to an hour: first, with 1 GB and 20,000 files, the two
# patterns that need much; then rounds of judge.py, all its rows in random order and 1,000 more.
# It prints with which seed to continue when the hour is up.
#
#   soak.sh [SEED]     SEED: the first round, 1 if it is not given
set -euo pipefail
cd "$(dirname "$0")"
seed=${1:-1}

rounds=$(($(./judge.py --list | wc -l) + 1000))
code=0
if ((seed == 1)); then
	./judge.py --pattern bulk-big --pattern bulk-many --end kill-all --store throttled --seed "$seed" || code=$?
	if ((code == 77)); then exit 77; fi
fi
if ((seed <= rounds)); then
	./judge.py --seed "$seed" --rounds $((rounds - seed + 1)) --minutes 54 || code=$?
fi
exit "$code"
