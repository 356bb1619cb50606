#!/usr/bin/env bash
# Kills a node's kubelet, as a crash would, and starts it again. Its containers run on.
#
#   restart-kubelet.sh NODE
set -euo pipefail
source "$(dirname "$0")/box.sh"
(($# == 1)) || fail "usage: restart-kubelet.sh NODE; NODE is one of ${nodes[*]}"

alone "$0" "$1"

stop "kubelet-$1" KILL
"$here/node.sh" "$1"
