#!/usr/bin/env bash
# Starts what of a node does not run: a containerd and a kubelet of its own, with an
# address, a range of pod addresses and a cgroup of its own.
#
#   node.sh NAME
set -euo pipefail
source "$(dirname "$0")/box.sh"

name=$1
for i in "${!nodes[@]}"; do
	if [[ ${nodes[i]} == "$name" ]]; then index=$i; fi
done
[[ -n ${index:-} ]] || fail "there is no node $name: it is one of ${nodes[*]}"
dir=$KUBEBOX_DIR/nodes/$name
address=$(address_of "$index")
containerd=$dir/containerd.sock
mkdir -p "$dir/cni"
cd "$KUBEBOX_DIR"

write_cni() {
	cat >"$dir/cni/10-kubebox.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "kubebox", "plugins": [
  {"type": "bridge", "bridge": "$bridge", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$dir/addresses", "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[
     {"subnet": "$pods", "rangeStart": "${pods%.*.*}.$((index + 1)).1", "rangeEnd": "${pods%.*.*}.$((index + 1)).250", "gateway": "$host"}]]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
}

# restrict_oom_score_adj: root in a container or a small virtual machine may not be
# allowed to lower it. netns_mounts_under_state_dir: everything that is left to clean
# up is below our directory.
write_containerd_config() {
	cat >"$dir/containerd.toml" <<TOML
version = 2
root = "$dir/containerd/root"
state = "$dir/containerd/state"
oom_score = 0
[grpc]
  address = "$containerd"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$KUBEBOX_DIR/registries"
TOML
}

# A lease of 16 s is renewed every 4, which suits the 20 s after which the node counts
# as lost. Disks are shared with the rest of the machine, so how full they are evicts
# no pod.
write_kubelet_config() {
	cat >"$dir/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $KUBEBOX_DIR/pki/ca.crt}}
authorization: {mode: AlwaysAllow}
tlsCertFile: $KUBEBOX_DIR/pki/$name.crt
tlsPrivateKeyFile: $KUBEBOX_DIR/pki/$name.key
containerRuntimeEndpoint: unix://$containerd
cgroupDriver: cgroupfs
cgroupRoot: /kubebox-$name
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
clusterDNS: [$host]
clusterDomain: cluster.local
resolvConf: ""
nodeLeaseDurationSeconds: 16
evictionHard: {memory.available: 100Mi, nodefs.available: 100Mi, imagefs.available: 100Mi, nodefs.inodesFree: "1%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
healthzPort: 0
makeIPTablesUtilChains: false
podLogsDir: $dir/logs
$taints
YAML
}

labels=cloud.google.com/gke-nodepool=${name%-*}-pool
taints=
if [[ $name == tpu-* ]]; then
	# Two hosts of four chips are one slice of this topology.
	labels+=,cloud.google.com/gke-tpu-accelerator=tpu-v5-lite-podslice,cloud.google.com/gke-tpu-topology=2x4,cloud.google.com/gke-accelerator-count=4
	taints='registerWithTaints: [{key: google.com/tpu, value: present, effect: NoSchedule}]'
fi

make_cgroup "$name"
ip addr replace "$address/${pods#*/}" dev "$bridge"
write_cni
write_containerd_config
write_kubelet_config

start "containerd-$name" containerd -c "$dir/containerd.toml"
await "containerd-$name" ctr -a "$containerd" version
if [[ ! -e $dir/imported ]]; then
	for images in images sidecar; do
		ctr -a "$containerd" -n k8s.io images import "$cache/$images.tar" >>"log/containerd-$name.log" 2>&1
	done
	touch "$dir/imported"
fi

start "kubelet-$name" "$kubebox" kubelet --config "$dir/kubelet.yaml" --kubeconfig "$KUBECONFIG" --root-dir "$dir/kubelet" \
	--hostname-override "$name" --node-ip "$address" --node-labels "$labels"
await "kubelet-$name" ask "https://$address:10250/healthz"
await "kubelet-$name" kubectl get node "$name"
if [[ $name == tpu-* ]]; then
	kubectl patch node "$name" --subresource=status --type=merge -p '{"status": {"capacity": {"google.com/tpu": "4"}, "allocatable": {"google.com/tpu": "4"}}}' >/dev/null
fi
kubectl wait --for=condition=Ready "node/$name" --timeout=60s >/dev/null
