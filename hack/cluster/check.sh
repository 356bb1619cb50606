#!/usr/bin/env bash
# Shows that the running cluster does what tests expect of it, crashes of the API
# server and of a kubelet included. Takes half a minute.
set -euo pipefail
source "$(dirname "$0")/box.sh"
running apiserver || fail "no cluster is running here: start it with make cluster"

namespace="kubebox-check"
in_check() { kubectl -n "$namespace" "$@"; }
tidy() { kubectl delete namespace "$namespace" --ignore-not-found >/dev/null; }
trap tidy EXIT

step() { echo "check: $*"; }

# Waits for a line of a command's output, for two minutes at most.
expect() { # PATTERN COMMAND…
	local pattern=$1 said
	shift
	for ((try = 0; try < 240; try++)); do
		said=$("$@" 2>&1) || true
		if grep -qE -- "$pattern" <<<"$said"; then return; fi
		sleep 0.5
	done
	fail "$* never said $pattern, at last: $said"
}

greeting="hello from the bucket"
tidy
kubectl create namespace "$namespace" >/dev/null
curl -sSf --data "$greeting" "$store_url/upload/storage/v1/b/$bucket/o?uploadType=media&name=check/greeting" >/dev/null
image=$(python_image)
sed "s|IMAGE|$image|; s|STORE_URL|$store_url|; s|BUCKET|$bucket|" "$here/manifests/check.yaml" | in_check apply -f - >/dev/null

step "every node is ready, and has what it pretends to have"
kubectl wait --for=condition=Ready node --all --timeout=60s >/dev/null
for node in "${nodes[@]}"; do
	kubectl get node "$node" >/dev/null
	if [[ $node == tpu-* ]]; then expect '^4$' kubectl get node "$node" -o 'jsonpath={.status.allocatable.google\.com/tpu}'; fi
done

step "a Job completes, having read a bucket's object; its log can be read"
in_check wait --for=condition=Complete job/reads --timeout=120s >/dev/null
expect "^$greeting\$" in_check logs job/reads

step "a Job mounts a folder of the bucket"
in_check wait --for=condition=Complete job/mounts --timeout=120s >/dev/null
expect "^$greeting\$" in_check logs job/mounts

step "the base of clients' images can be pulled, and has the Python that its tag says"
in_check wait --for=condition=Complete job/pulled --timeout=120s >/dev/null
expect "^${image##*:}\$" in_check logs job/pulled

step "the hosts of a LeaderWorkerSet get chips and find each other"
in_check wait --for=condition=Available lws/pair --timeout=120s >/dev/null
expect '^the leader says pair-0.pair,pair-0-1.pair$' in_check logs pair-0-1

step "an image that was not pushed can't be pulled"
expect 'ErrImagePull|ImagePullBackOff' in_check get pod unpushed -o 'jsonpath={.status.containerStatuses[0].state.waiting.reason}'
expect 'not found' in_check events --for pod/unpushed

step "the API server can be killed; the pods do not notice"
in_check wait --for=condition=Ready pod/counts --timeout=120s >/dev/null
container=$(in_check get pod counts -o 'jsonpath={.status.containerStatuses[0].containerID}')
"$here/restart-apiserver.sh"
expect '^[0-9]+$' in_check logs counts --tail=1

step "a kubelet can be killed; its containers run on"
"$here/restart-kubelet.sh" cpu-0
kubectl wait --for=condition=Ready node/cpu-0 --timeout=60s >/dev/null
expect "^$container\$" in_check get pod counts -o 'jsonpath={.status.containerStatuses[0].containerID}'
expect ^reached$ in_check exec counts -- echo reached # once the new kubelet has found it

step "all is well"
