#!/usr/bin/env bash
# Starts Kueue's controller on the running cluster. Not before somebody asks for it: it
# takes minutes to build, and few tests want it. It looks after namespaces with the
# label kubebox/queues=true; all others do without it.
#
# Exit code 77, a skipped test's, where this machine can't have it.
set -euo pipefail
source "$(dirname "$0")/box.sh"
running apiserver || fail "no cluster is running here: start it with make cluster"
alone "$0"
cd "$KUBEBOX_DIR"

made_from=$(cat "$here"/kueue/go.* "$here/kueue.sh" | sha256sum)
own=${cache%/*}/kueue-${made_from:0:12}
webhook=https://127.0.0.1:9444

build() {
	[[ -e $own/crds.yaml ]] && return
	if ! command -v go >/dev/null; then
		echo "cluster: no Kueue: go is missing: install the version in go.mod from https://go.dev/dl/" >&2
		exit 77
	fi
	echo "building Kueue; minutes if it is the first time" >&2
	local module
	room "$(go env GOCACHE)" 2
	mkdir -p "$own"
	# Nice to the tests that run at the same time: some have bounds.
	(cd "$here/kueue" && CGO_ENABLED=0 nice -n 19 go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$own/" sigs.k8s.io/kueue/cmd/kueue)
	module=$(cd "$here/kueue" && go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
	cat "$module"/config/components/crd/bases/*.yaml >"$own/crds.yaml.new"
	mv "$own/crds.yaml.new" "$own/crds.yaml"
}

# Off is an API of Kueue's own, for positions in a queue, which only a service of the
# cluster can reach.
configure() {
	local metrics=kueue/etc/kueue/metrics/certs
	mkdir -p "$metrics"
	cp pki/webhook.crt kueue/tls.crt
	cp pki/webhook.key kueue/tls.key
	cp kueue/tls.* "$metrics"
	cat >kueue.yaml <<YAML
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
webhook: {host: 127.0.0.1, port: ${webhook##*:}, certDir: $KUBEBOX_DIR/kueue}
metrics: {bindAddress: "127.0.0.1:8445"}
health: {healthProbeBindAddress: "127.0.0.1:8083"}
leaderElection: {leaderElect: false}
clientConnection: {qps: 50, burst: 100}
internalCertManagement: {enable: false}
manageJobsWithoutQueueName: false
managedJobsNamespaceSelector: {matchLabels: {kubebox/queues: "true"}}
integrations: {frameworks: [batch/job, pod, statefulset, leaderworkerset.x-k8s.io/leaderworkerset]}
featureGates: {VisibilityOnDemand: false}
YAML
}

# The kinds that are kept in one version and served in another.
convert() {
	local kind how
	how='{"spec": {"conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "'$webhook'/convert", "caBundle": "'$(base64 -w0 pki/ca.crt)'"}}}}}'
	for kind in workloads clusterqueues localqueues cohorts multikueueclusters; do
		kubectl patch crd "$kind.kueue.x-k8s.io" --type=merge -p "$how" >/dev/null
	done
}

# It looks for the certificate of its metrics in one place only, below /etc, which is
# there for this process alone.
with_metrics_certificate() { # COMMAND…
	# shellcheck disable=SC2016 # expanded by the shell that starts it
	keep kueue unshare --mount sh -c 'mount -t overlay overlay -o "lowerdir=kueue/etc:/etc" /etc && exec "$@"' sh "$@"
}

build
if running kueue; then exit; fi
kubectl create namespace kueue-system --dry-run=client -o yaml | kubectl apply -f - >/dev/null
kubectl apply --server-side -f "$own/crds.yaml" >/dev/null
convert
kubectl wait --for=condition=Established crd/workloads.kueue.x-k8s.io --timeout=60s >/dev/null
configure
with_metrics_certificate "$own/kueue" --config kueue.yaml --kubeconfig "$KUBECONFIG"
await kueue curl -s -o /dev/null --cacert pki/ca.crt "$webhook/"
sed "s|CA_BUNDLE|$(base64 -w0 pki/ca.crt)|" "$here/manifests/kueue-webhooks.yaml" | kubectl apply -f - >/dev/null
