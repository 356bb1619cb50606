#!/usr/bin/env bash
# Takes the cluster down, whole or half-dead, and leaves nothing of it: processes,
# mounts, network, cgroups, data. What took long to build stays in the cache.
set -euo pipefail
source "$(dirname "$0")/box.sh"
[[ -d $KUBEBOX_DIR ]] || exit 0
((EUID == 0)) || fail "run this as root, as the cluster was started"
alone "$0"

# Not asked to end, but killed: nothing that they would still write is kept.
end_components() {
	local file
	for file in "$KUBEBOX_DIR"/pid/*; do
		if [[ -e $file ]]; then stop "$(basename "$file")" KILL & fi
	done
	wait
}

# Containers are found by their cgroup: that needs no containerd. 0 stands for a process
# that can't be seen from here, and to kill it would end this script.
end_containers() {
	local pids
	for ((i = 0; i < 50; i++)); do
		pids=$(find /sys/fs/cgroup -path '*/kubebox-*' -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u | sed '/^0$/d')
		[[ -n $pids ]] || return 0
		# shellcheck disable=SC2086 # one word each
		kill -KILL $pids 2>/dev/null || true
		sleep 0.1
	done
}

# containerd's shims outlive it. They work in folders of ours.
end_shims() {
	local dir
	for dir in /proc/[0-9]*; do
		if [[ $(readlink "$dir/cwd" 2>/dev/null) == "$KUBEBOX_DIR"/nodes/* && $(cat "$dir/comm") == containerd-shim* ]]; then
			kill -KILL "${dir#/proc/}" 2>/dev/null || true
		fi
	done
}

remove_mounts() {
	local mount
	awk -v dir="$KUBEBOX_DIR/" 'index($2, dir) == 1 {print $2}' /proc/mounts | tac | while read -r mount; do
		umount -l "$mount"
	done
}

remove_network() {
	local table rule
	if ! command -v iptables-save >/dev/null; then return; fi
	for table in nat filter; do # in filter: what a test that was killed has left
		iptables-save -t "$table" | sed -nE '/--comment "?kubebox/s/^-A/-D/p' | while read -r rule; do
			xargs iptables -w -t "$table" <<<"$rule"
		done
	done
	if ip link show "$bridge" >/dev/null 2>&1; then ip link del "$bridge"; fi
}

# What kubelet and CNI keep outside our directory, whatever they are told.
remove_elsewhere() {
	local file pod folder
	rm -f /var/lib/kubelet/device-plugins/kubelet.sock
	for file in /var/lib/cni/results/kubebox-*-eth0; do
		pod=${file##*/kubebox-}
		rm -f "$file" "${file%/*}/cni-loopback-${pod%-eth0}-lo"
	done
	for folder in /var/lib/kubelet/device-plugins /var/lib/cni/results; do
		if [[ -d $folder ]]; then rmdir --parents --ignore-fail-on-non-empty "$folder"; fi
	done
}

end_components
end_containers
end_shims
remove_mounts
remove_network
find /sys/fs/cgroup -depth -type d -path '*/kubebox-*' -exec rmdir {} +
remove_elsewhere
rm -rf "$KUBEBOX_DIR"
