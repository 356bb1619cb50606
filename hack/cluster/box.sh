# shellcheck shell=bash disable=SC2034
# What the scripts of this folder share: where things are, and how a process is
# started, found and waited for. Sourced by them, not run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# State of the one cluster of this machine: keys, logs, pids, etcd's and containerd's
# data. Short, because the path of a unix socket ends at 107 characters.
: "${KUBEBOX_DIR:=/var/lib/kubebox}"

# What is built or downloaded once, by a hash of what it is made from.
built_from=$(cd "$here" && find kubebox lws image prepare.sh -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kinetic/cluster-${built_from:0:12}
kubebox=$cache/bin/kubebox

# The nodes; those with "tpu" in their name pretend to have chips.
nodes=(tpu-0 tpu-1 cpu-0)

# All pods of all nodes, and what they need from this machine, share one bridge.
# Nothing outside this machine can reach it.
bridge=kubebox0
host=10.89.0.1
pods=10.89.0.0/16
api=127.0.0.1:6443
api_for_pods=10.96.0.1
store_url=http://$host:4443
registry=$host:5000
image_repo=$registry/kinetic/env

bucket=kinetic
pause=localhost/pause:1
sidecar=localhost/gcsfuse-sidecar:1

export KUBECONFIG=$KUBEBOX_DIR/kubeconfig KUBECACHEDIR=$KUBEBOX_DIR/discovery

# A proxy can't reach what is on this machine. Some programs read one name, some the other.
direct=127.0.0.1,$host,$pods
if [[ ,${NO_PROXY:-} != *",$direct" ]]; then
	NO_PROXY=${NO_PROXY:-${no_proxy:-}}
	export NO_PROXY=${NO_PROXY:+$NO_PROXY,}$direct
	export no_proxy=$NO_PROXY
fi

# The nodes' image, which is also the base of those that clients make. It has one name,
# since a kubelet of 1.36 that has pulled an image asks the registry again before it uses
# another name of it. The tag is the version of its Python, X.Y.
python_image() { echo "$registry/kinetic/python:$(<"$cache/python")"; }

fail() { echo "cluster: $*" >&2; exit 1; }

# Runs the calling script while no other one changes the cluster: a second make cluster
# waits for the first, and finds all done; and none takes a restart for a crash.
alone() { # SCRIPT ARGUMENT…
	if [[ ${KUBEBOX_LOCKED:-} != true ]]; then
		KUBEBOX_LOCKED=true exec flock --close /run/lock/kubebox.lock "$@"
	fi
}

# The cluster has come up as a whole, and was not taken down or left by a restart of
# the machine since.
whole() { [[ -e $KUBEBOX_DIR/whole ]] && running apiserver; }

# Fails early, and in words, where a full disk would fail late and oddly.
room() { # FOLDER GIGABYTES
	local free
	mkdir -p "$1"
	free=$(df --output=avail -B 1G "$1" | tail -n 1)
	((free >= $2)) || fail "$1 has $((free)) GB free, and this takes $2"
}

# kubectl of the cluster's own version, whatever the machine has.
kubectl() { "$kubebox" kubectl "$@"; }

# A pid file is believed only if its process was started from our directory: after
# a restart of the machine the number may be anybody's.
running() { # NAME
	local pid
	pid=$(cat "$KUBEBOX_DIR/pid/$1" 2>/dev/null) && [[ $(readlink "/proc/$pid/cwd") == "$KUBEBOX_DIR" ]]
}

# Starts a process of the cluster in the background, unless it runs.
start() { # NAME COMMAND…
	local name=$1
	shift
	if running "$name"; then return; fi
	setsid "$@" >>"$KUBEBOX_DIR/log/$name.log" 2>&1 </dev/null &
	echo $! >"$KUBEBOX_DIR/pid/$name"
}

# The same for a process that is started again whenever it ends, as a real control
# plane's are. The scheduler of 1.36 needs it: it ends itself if, while it can't reach
# the API server, a pod is deleted and another one takes its name.
keep() { # NAME COMMAND…
	# shellcheck disable=SC2016 # expanded by the shell that starts it
	start "$1" bash -c 'while true; do "$@"; sleep 1; done' "$@"
}

# Ends a process and what it started, and waits until it is gone.
stop() { # NAME [SIGNAL]
	local pid
	if running "$1"; then
		pid=$(cat "$KUBEBOX_DIR/pid/$1")
		kill "-${2:-TERM}" -- "-$pid"
		for ((i = 0; i < 50; i++)); do
			[[ -e /proc/$pid ]] || break
			sleep 0.1
		done
		if [[ -e /proc/$pid ]]; then kill -KILL -- "-$pid"; fi
	fi
	rm -f "$KUBEBOX_DIR/pid/$1"
}

# Waits until a command succeeds that shows that process NAME is at work. If the
# process ends instead, or a minute passes, its last words are the error.
await() { # NAME COMMAND…
	local name=$1
	shift
	for ((i = 0; i < 600; i++)); do
		if "$@" >/dev/null 2>&1; then return; fi
		if ! running "$name"; then break; fi
		sleep 0.1
	done
	fail "$name does not come up; the end of $KUBEBOX_DIR/log/$name.log:
$(tail -n 5 "$KUBEBOX_DIR/log/$name.log")"
}

# The address of a node by its place in the list, on the bridge beside the host's.
address_of() { # INDEX
	echo "${host%.*}.$((10 + $1))"
}

# kubelet wants its root cgroup to exist. Under version 1 that is a folder in every
# controller's tree, and a cpuset starts empty.
make_cgroup() { # NAME
	local tree set
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		echo "+cpu +cpuset +io +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
		mkdir -p "/sys/fs/cgroup/kubebox-$1"
		return
	fi
	[[ -e /sys/fs/cgroup/memory/tasks ]] || fail "no cgroups are mounted at /sys/fs/cgroup"
	for tree in /sys/fs/cgroup/*/; do
		[[ -e $tree/tasks ]] || continue
		mkdir -p "$tree/kubebox-$1"
		for set in cpuset.cpus cpuset.mems; do
			if [[ -e $tree/$set ]]; then cat "$tree/$set" >"$tree/kubebox-$1/$set"; fi
		done
	done
}

# Asks a server of the cluster as its administrator.
ask() { # URL
	curl -sf --cacert "$KUBEBOX_DIR/pki/ca.crt" --cert "$KUBEBOX_DIR/pki/admin.crt" --key "$KUBEBOX_DIR/pki/admin.key" "$1"
}
