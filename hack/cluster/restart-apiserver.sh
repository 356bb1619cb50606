#!/usr/bin/env bash
# Kills the API server, as a crash would, and starts it again.
set -euo pipefail
source "$(dirname "$0")/box.sh"
alone "$0"

stop apiserver KILL
"$here/control-plane.sh"
