#!/usr/bin/env bash
# Starts what of the control plane does not run: etcd, kube-apiserver,
# kube-controller-manager and kube-scheduler.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

etcd=http://127.0.0.1:2379
peer=http://127.0.0.1:2380
# Without fsync: what a crash of the machine would lose is a test's.
start etcd "$kubebox" etcd --data-dir "$KUBEBOX_DIR/etcd" --unsafe-no-fsync --log-level warn \
	--listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
	--listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
await etcd curl -sf "$etcd/health"

# A lost node is noticed after 20 s and its pods are given up 10 s later, not after
# Kubernetes' 50 s and 5 minutes: tests wait for that.
start apiserver "$kubebox" kube-apiserver --etcd-servers "$etcd" \
	--bind-address "${api%:*}" --secure-port "${api#*:}" --advertise-address "$host" \
	--tls-cert-file pki/apiserver.crt --tls-private-key-file pki/apiserver.key --client-ca-file pki/ca.crt \
	--kubelet-client-certificate pki/admin.crt --kubelet-client-key pki/admin.key --kubelet-certificate-authority pki/ca.crt \
	--kubelet-preferred-address-types InternalIP \
	--service-account-issuer https://kubernetes.default.svc \
	--service-account-key-file pki/tokens.pub --service-account-signing-key-file pki/tokens.key \
	--service-cluster-ip-range "${api_for_pods%.*}.0/24" --authorization-mode RBAC --allow-privileged \
	--default-not-ready-toleration-seconds 10 --default-unreachable-toleration-seconds 10 --profiling=false
await apiserver ask "https://$api/readyz"

keep controllers "$kubebox" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false \
	--service-account-private-key-file pki/tokens.key --root-ca-file pki/ca.crt --secure-port 0 \
	--node-monitor-grace-period 20s --node-monitor-period 2s \
	--allocate-node-cidrs=false --controllers '*,-node-route-controller,-cloud-node-lifecycle-controller,-service-lb-controller' --profiling=false
keep scheduler "$kubebox" kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false --secure-port 0 --profiling=false
await controllers ask "https://$api/api/v1/namespaces/default/serviceaccounts/default"
