#!/usr/bin/env bash
# Makes the network of the pods: a bridge, the way from it to the API server, and DNS.
# There is no kube-proxy: services of a cluster IP other than the API server's are not
# reachable, headless ones are.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

if ! ip link show "$bridge" >/dev/null 2>&1; then
	if running dns; then fail "the bridge $bridge is gone, and with it the network of all pods"; fi
	# Without an address of its own, a bridge takes the lowest one of the pods, so that the others lose the way to this
	# machine for seconds when that pod goes.
	ip link add "$bridge" address 0a:58:0a:59:00:01 type bridge
	ip addr add "$host/${pods#*/}" dev "$bridge"
	ip link set "$bridge" up
fi

# The API server listens on this machine's loopback only; pods reach it through its
# service address.
sysctl -qw "net.ipv4.conf.$bridge.route_localnet=1"
rule=(PREROUTING -i "$bridge" -d "$api_for_pods/32" -p tcp --dport 443 -m comment --comment kubebox -j DNAT --to-destination "$api")
iptables -w -t nat -C "${rule[@]}" 2>/dev/null || iptables -w -t nat -A "${rule[@]}"

cat >Corefile <<CONF
.:53 {
  bind $host
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $KUBECONFIG
    ttl 1
  }
}
CONF
keep dns "$kubebox" coredns -conf Corefile
