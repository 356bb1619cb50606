#!/usr/bin/env bash
# Puts the stand-in for Pathways' two images into the running cluster's registry, unless it
# is there, and prints its repository, for --pathways-images. The tags are those of two
# versions of JAX.
set -euo pipefail
source "$(dirname "$0")/box.sh"
running apiserver || fail "no cluster is running here: start it with make cluster"
alone "$0"

repository=$registry/pathways-stand-in
made=$KUBEBOX_DIR/pathways
sources=$(cd "$here" && sha256sum pathways.sh pathways/*.go pathways/images/*.go)
there() { curl -sf -o /dev/null --head "http://$registry/v2/pathways-stand-in/proxy_server/manifests/jax-0.9.2"; }
if [[ $(cat "$made.from" 2>/dev/null) != "$sources" ]] || ! there; then
	cd "$here/../.."
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$made" ./hack/cluster/pathways
	CGO_ENABLED=0 go run ./hack/cluster/pathways/images "$made" "$repository" 0.9.0 0.9.2 >&2
	echo "$sources" >"$made.from"
fi
echo "$repository"
