#!/usr/bin/env bash
# Starts what of the cluster does not run, all of it at first, in the order of need.
set -euo pipefail
source "$(dirname "$0")/box.sh"

mkdir -p "$KUBEBOX_DIR"/{log,pid}
"$here/keys.sh"
"$here/control-plane.sh"
"$here/network.sh"

parallel=()
"$here/registry.sh" & parallel+=($!)
"$here/storage.sh" & parallel+=($!)
"$here/leaderworkerset.sh" & parallel+=($!)
"$here/kwok.sh" & parallel+=($!)
"$here/gcsfuse.sh" & parallel+=($!)
for node in "${nodes[@]}"; do
	"$here/node.sh" "$node" & parallel+=($!)
done
failed=false
for pid in "${parallel[@]}"; do
	wait "$pid" || failed=true # to the end: who takes the cluster down must not race with one that still starts things
done
if $failed; then exit 1; fi
"$here/base.sh"

# The service account that jobs use unless told otherwise.
kubectl create serviceaccount kinetic --dry-run=client -o yaml | kubectl apply -f - >/dev/null
