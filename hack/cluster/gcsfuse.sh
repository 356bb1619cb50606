#!/usr/bin/env bash
# Starts the stand-in for GKE's Cloud Storage FUSE driver, one process for all nodes and
# for the webhook that adds its sidecar to pods, and makes the objects that it takes.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

# Whether every node has the driver.
registered() {
	local found
	found=$(ask "https://$api/apis/storage.k8s.io/v1/csinodes" | grep -o '"name": *"gcsfuse.csi.storage.gke.io"' | wc -l)
	((found == ${#nodes[@]}))
}

kubelets=()
for node in "${nodes[@]}"; do kubelets+=("$node=$KUBEBOX_DIR/nodes/$node/kubelet"); done
webhook=127.0.0.1:9543
sed "s|WEBHOOK|https://$webhook/|; s|CA_BUNDLE|$(base64 -w0 pki/ca.crt)|" "$here/manifests/gcsfuse.yaml" | kubectl apply -f - >/dev/null
keep gcsfuse "$kubebox" gcsfuse-driver --kubeconfig "$KUBECONFIG" --storage "$store_url" --sidecar-image "$sidecar" \
	--listen "$webhook" --cert pki/webhook.crt --key pki/webhook.key "${kubelets[@]}"
await gcsfuse registered
