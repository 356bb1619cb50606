#!/bin/sh
# Sends a signal to the runner of a pod, which is the first process there: signal.sh KILL
# POD
set -eu
uid=$("$KUBEBOX" kubectl get pod "$2" -n "$NAMESPACE" -o 'jsonpath={.metadata.uid}')
firsts=$(grep -ls '^NSpid:.*[[:space:]]1$' /proc/[0-9]*/status | sed 's/status$/environ/')
runner=$(echo "$firsts" | xargs grep -lsxz "KINETIC_POD_UID=$uid" | cut -d / -f 3)
if [ -z "$runner" ]; then
	echo "the runner of pod $2 is not on this machine" >&2
	exit 1
fi
kill "-$1" "$runner"
