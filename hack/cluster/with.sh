#!/usr/bin/env bash
# Runs a command on the cluster. A cluster that is up is used, and stays; else it is
# brought up for the command and taken down after it. One command at a time, whichever
# checkout it comes from: tests break the cluster on purpose.
#
#   with.sh COMMAND…
#
# Exit code: the command's; 77 where this machine can't run a cluster; 1 if it can and
# the cluster did not come up.
set -euo pipefail
"$(dirname "$0")/machine.sh"
source "$(dirname "$0")/box.sh"

turn=/run/lock/kubebox-with.lock
if [[ ${KUBEBOX_TURN:-} != true ]]; then
	flock --nonblock "$turn" true || echo "waiting until another checkout's tests have left the cluster" >&2
	KUBEBOX_TURN=true exec flock --close "$turn" "$0" "$@"
fi

if ! whole; then trap '"$here/down.sh"' EXIT; fi
if ! "$here/up.sh"; then
	tail -n 10 "$KUBEBOX_DIR"/log/*.log >&2 || true
	fail "it should come up on this machine, and does not: see above, before the ends of its logs"
fi
eval "$("$here/env.sh")"
"$@"
