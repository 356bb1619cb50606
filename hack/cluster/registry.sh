#!/usr/bin/env bash
# Starts an image registry and has the nodes ask it for every image, whatever
# registry its name says: a pull never leaves this machine, and what was not pushed
# does not exist.
set -euo pipefail
source "$(dirname "$0")/box.sh"
cd "$KUBEBOX_DIR"

mkdir -p registries/_default
cat >registries/_default/hosts.toml <<TOML
server = "http://$registry"
[host."http://$registry"]
  capabilities = ["pull", "resolve"]
TOML
start registry "$kubebox" registry "$registry"
await registry curl -sf "http://$registry/v2/"
