#!/usr/bin/env bash
# Starts KWOK, which plays the kubelet of nodes that exist in the API only, and makes
# those nodes.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

cat "$cache/kwok-stages.yaml" "$here/manifests/kwok-ends.yaml" >kwok-stages.yaml
keep kwok "$cache/bin/kwok" --kubeconfig "$KUBECONFIG" --config kwok-stages.yaml --manage-all-nodes=false \
	--manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake --server-address 127.0.0.1:10247
kubectl apply -f "$here/manifests/kwok-nodes.yaml" >/dev/null
kubectl wait --for=condition=Ready node -l kubebox/fake=true --timeout=60s >/dev/null
