#!/usr/bin/env bash
# Brings the cluster up: makes what is missing, starts what does not run. A cluster
# of another version of these scripts, or from before the machine was restarted, or one
# that can't be mended, is replaced.
set -euo pipefail
"$(dirname "$0")/machine.sh"
source "$(dirname "$0")/box.sh"
alone "$0"

"$here/prepare.sh"

version="$(cd "$here" && find . -type f ! -name 'check*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum) $(cat /proc/sys/kernel/random/boot_id)"
if [[ -d $KUBEBOX_DIR && $(cat "$KUBEBOX_DIR/version" 2>/dev/null) != "$version" ]]; then
	echo "replacing the cluster that was made by another version, or before this machine was restarted" >&2
	"$here/down.sh"
fi

fresh=$([[ -d $KUBEBOX_DIR ]] || echo true)
mkdir -p "$KUBEBOX_DIR"
echo "$version" >"$KUBEBOX_DIR/version"
if ! "$here/start.sh"; then
	[[ -z $fresh ]] || fail "the cluster did not come up; its logs are in $KUBEBOX_DIR/log"
	echo "it can't be mended: replacing it" >&2
	"$here/down.sh"
	mkdir -p "$KUBEBOX_DIR"
	echo "$version" >"$KUBEBOX_DIR/version"
	"$here/start.sh"
fi
touch "$KUBEBOX_DIR/whole"
has=$(<"$cache/python")
mine=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[[ $has == "$mine" ]] || echo "its image has Python $has, from this machine's packages, and python3 here is $mine" >&2
# shellcheck disable=SC2016 # to be typed as it stands
echo 'the cluster is up: eval "$(make -s cluster-env)" makes this shell use it' >&2
