#!/usr/bin/env bash
# Starts the LeaderWorkerSet controller. Its webhooks, which put LWS_… variables into
# the pods, are served on this machine's loopback.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

# A controller that finds its kind not yet there sleeps for 10 s.
kubectl apply --server-side -f "$cache/lws-crd.yaml" >/dev/null
for ((i = 0; i < 100; i++)); do # kubectl wait fails on a CRD that has no conditions yet
	if ask "https://$api/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets" >/dev/null; then break; fi
	sleep 0.1
done

mkdir -p webhook
cp pki/webhook.crt webhook/tls.crt
cp pki/webhook.key webhook/tls.key
cat >lws.yaml <<YAML
apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
webhook: {host: 127.0.0.1, port: 9443, certDir: $KUBEBOX_DIR/webhook}
metrics: {bindAddress: "127.0.0.1:8444"}
health: {healthProbeBindAddress: "127.0.0.1:8082"}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
YAML
keep lws "$cache/bin/lws" --config lws.yaml --kubeconfig "$KUBECONFIG"
await lws curl -s -o /dev/null --cacert pki/ca.crt https://127.0.0.1:9443/
sed "s|CA_BUNDLE|$(base64 -w0 pki/ca.crt)|" "$here/manifests/lws-webhooks.yaml" | kubectl apply -f - >/dev/null
