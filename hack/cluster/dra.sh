#!/usr/bin/env bash
# Builds Kubernetes' example driver for Dynamic Resource Allocation, which publishes devices of
# a node as GKE's driver of networks does. One test wants it.
#
# Exit code 77, a skipped test's, where this machine can't have it.
set -euo pipefail
source "$(dirname "$0")/box.sh"
alone "$0"

made_from=$(cat "$here"/dra/go.* "$here/dra.sh" | sha256sum)
own=${cache%/*}/dra-${made_from:0:12}
driver=sigs.k8s.io/dra-example-driver/cmd/dra-example-kubeletplugin

build() {
	[[ -x $own/${driver##*/} ]] && return
	if ! (cd "$here/dra" && go mod download); then
		echo "cluster: no example driver: its modules can't be downloaded" >&2
		exit 77
	fi
	echo "building the example driver; a minute if it is the first time" >&2
	room "$(go env GOCACHE)" 2
	# Nice to the tests that run at the same time: some have bounds.
	(cd "$here/dra" && CGO_ENABLED=0 nice -n 19 go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$own/new/" "$driver")
	mv "$own/new/${driver##*/}" "$own/"
}

build
mkdir -p "$KUBEBOX_DIR/dra"
ln -sfn "$own/${driver##*/}" "$KUBEBOX_DIR/dra/driver"
