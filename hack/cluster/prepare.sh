#!/usr/bin/env bash
# Makes what the cluster consists of, once for each version of its sources: binaries
# from Go modules, and container images from Debian packages. What exists is kept. The
# programs that it takes are machine.sh's to install.
set -euo pipefail
source "$(dirname "$0")/box.sh"

# Builds into a folder beside the cache, so that a build which was cut off leaves no
# half of a binary behind.
build() { # MODULE PACKAGE…
	echo "building ${*:2}; minutes if it is the first time" >&2
	(cd "$here/$1" && go build -buildvcs=false -trimpath -ldflags "$ldflags" -o "$cache/new/" "${@:2}")
}

build_binaries() {
	local version=v1.36.3 stamp=k8s.io/component-base/version ldflags
	[[ -x $cache/bin/lws ]] && return
	command -v go >/dev/null || fail "go is missing: install the version in go.mod from https://go.dev/dl/"
	export CGO_ENABLED=0
	# Kubernetes takes its version from the linker. Clients compare it with theirs.
	ldflags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=36 -X $stamp.gitTreeState=clean"
	room "$(go env GOCACHE)" 6
	rm -rf "$cache/new"
	build kubebox . ./gcsfuse/sidecar sigs.k8s.io/kwok/cmd/kwok github.com/fsouza/fake-gcs-server github.com/googlecloudplatform/gcsfuse/v3
	build lws sigs.k8s.io/lws/cmd
	mv "$cache/new/cmd" "$cache/new/lws"
	printf '#!/bin/sh\nexec "%s" kubectl "$@"\n' "$kubebox" >"$cache/new/kubectl"
	chmod +x "$cache/new/kubectl"
	mv "$cache/new" "$cache/bin"
}

# Manifests come from the modules that the controllers were built from.
copy_manifests() {
	[[ -e $cache/lws-crd.yaml ]] && return
	local stages lws
	stages=$(cd "$here/kubebox" && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
	lws=$(cd "$here/lws" && go list -m -f '{{.Dir}}' sigs.k8s.io/lws)
	for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-delete; do
		echo ---
		cat "$stages/$stage.yaml"
	done >"$cache/kwok-stages.yaml"
	cat "$lws"/config/crd/bases/*.yaml >"$cache/lws-crd.yaml.new"
	mv "$cache/lws-crd.yaml.new" "$cache/lws-crd.yaml"
}

make_images() {
	[[ -e $cache/images.tar ]] && return
	echo "making the images" >&2
	"$here/image/rootfs.sh" "$cache/rootfs.tar"
	tar -tf "$cache/rootfs.tar" | sed -nE 's|^\./usr/bin/python(3\.[0-9]+)$|\1|p' >"$cache/python"
	[[ -s $cache/python ]] || fail "the image that was made has no /usr/bin/python3.Y"
	"$here/image/oci.py" "$cache/rootfs.tar" "$cache/images.tar" "$(python_image)=python3" "$pause=sleep infinity"
	rm "$cache/rootfs.tar"
}

# The sidecar of pods with volumes from buckets.
make_sidecar() {
	[[ -e $cache/sidecar.tar ]] && return
	tar -C "$cache/bin" -cf "$cache/rootfs.tar" sidecar gcsfuse
	"$here/image/oci.py" "$cache/rootfs.tar" "$cache/sidecar.tar" "$sidecar=/sidecar"
	rm "$cache/rootfs.tar"
}

mkdir -p "$cache"
build_binaries
copy_manifests
make_images
make_sidecar
