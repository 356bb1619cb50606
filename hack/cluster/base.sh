#!/usr/bin/env bash
# Puts the nodes' image into the registry too, unless it is there, for the clients that
# make images from it.
set -euo pipefail
source "$(dirname "$0")/box.sh"

image=$(python_image)
if curl -sf -o /dev/null --head "http://$registry/v2/kinetic/python/manifests/${image##*:}"; then exit; fi
ctr -a "$KUBEBOX_DIR/nodes/${nodes[0]}/containerd.sock" -n k8s.io images push --plain-http "$image" >>"$KUBEBOX_DIR/log/registry.log"
