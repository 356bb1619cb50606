#!/usr/bin/env bash
# Makes sure that this machine can run the cluster: installs the Debian packages that
# are missing, and tries what nodes and pods are made of.
#
# Exit code 77, a skipped test's, where the machine itself can't; 1 where it should and
# something went wrong.
set -euo pipefail

cannot() {
	echo "cluster: this machine can't run it: $*" >&2
	exit 77
}
[[ $(uname) == Linux ]] || cannot "containers take Linux, and this is $(uname)"
((EUID == 0)) || cannot "network interfaces, mounts and cgroups take root"

source "$(dirname "$0")/box.sh"

install_packages() {
	local missing=()
	need() { # COMMAND PACKAGE
		command -v "$1" >/dev/null || missing+=("$2")
	}
	need containerd containerd
	need runc runc
	need mmdebstrap mmdebstrap
	need iptables iptables
	need ip iproute2
	need sysctl procps
	need openssl openssl
	need curl curl
	need python3 python3
	[[ -x /usr/lib/cni/bridge ]] || missing+=(containernetworking-plugins)
	if ((${#missing[@]} == 0)); then return; fi
	command -v apt-get >/dev/null || cannot "it lacks ${missing[*]}, which can be installed here on Debian and Ubuntu only"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq
	apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=600 "${missing[@]}" >/dev/null
}

# Tries are made in namespaces and folders of their own, and leave nothing.
try() { # WHAT COMMAND…
	local said
	said=$("${@:2}" 2>&1) || cannot "it can't $1: $said"
}

try_cgroup() {
	local made
	make_cgroup "try-$$"
	made=$(find /sys/fs/cgroup -depth -type d -path "*/kubebox-try-$$")
	# shellcheck disable=SC2086 # one word each
	[[ -n $made ]] && rmdir $made
}

try_overlay() {
	mkdir "$scratch"/{lower,upper,work,merged}
	unshare --mount mount -t overlay overlay -o "lowerdir=$scratch/lower,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/merged"
}

install_packages
# Where containers will be: what the file system below /tmp can do says little.
scratch=$(mktemp -d "$(dirname "$KUBEBOX_DIR")/kubebox-try.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
try "make cgroups" try_cgroup
try "mount overlays" try_overlay
try "open /dev/fuse" sh -c ': <>/dev/fuse'
try "make network bridges" unshare --net ip link add "$bridge" type bridge
try "rewrite addresses with iptables" unshare --net iptables -w -t nat -A PREROUTING -p tcp -m comment --comment kubebox -j DNAT --to-destination "$api"
