#!/bin/sh
# Sends a signal to the runner of a pod, which is the first process there, or to a program
# in its Cloud Storage FUSE sidecar: signal.sh KILL POD [gcsfuse|sidecar]
set -eu
uid=$("$KUBEBOX" kubectl get pod "$2" -n "$NAMESPACE" -o 'jsonpath={.metadata.uid}')
if [ $# -gt 2 ]; then
	processes=$(grep -ls "pod$uid/" /proc/[0-9]*/cgroup | cut -d / -f 3)
	found=$(for p in $processes; do [ "$(readlink "/proc/$p/exe")" != "/$3" ] || echo "$p"; done)
else
	firsts=$(grep -ls '^NSpid:.*[[:space:]]1$' /proc/[0-9]*/status | sed 's/status$/environ/')
	found=$(echo "$firsts" | xargs grep -lsxz "KINETIC_POD_UID=$uid" | cut -d / -f 3)
fi
if [ -z "$found" ]; then
	echo "the ${3:-runner} of pod $2 is not on this machine" >&2
	exit 1
fi
# shellcheck disable=SC2086 # one word each
kill "-$1" $found
