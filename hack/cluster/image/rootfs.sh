#!/usr/bin/env bash
# Makes a root file system with Python, from packages of this machine's release of
# Debian or Ubuntu, without a registry. Packages are unpacked, not configured: that is
# faster and smaller, and the hooks do the little that matters of their scripts.
#
#   rootfs.sh OUT.tar [OPTION OF mmdebstrap]…
set -euo pipefail
out=$1
shift

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
packages=base-files,base-passwd,bash,coreutils,dash,libc-bin,tar,ca-certificates,python3,python3-pip

# shellcheck disable=SC2016 # mmdebstrap gives $1, the root of the new system, to its hooks
mmdebstrap --quiet --variant=extract --include="$packages" \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
	--extract-hook='ln -sf dash "$1/bin/sh"' \
	--extract-hook='cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"' \
	--extract-hook='cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"' \
	--extract-hook='find "$1/usr/share/ca-certificates" -name "*.crt" -exec cat {} + >"$1/etc/ssl/certs/ca-certificates.crt"' \
	--extract-hook='echo "hosts: files dns" >"$1/etc/nsswitch.conf"' \
	--extract-hook='chroot "$1" python3 -m compileall -q -j 0 /usr/lib/python3 /usr/lib/python3.*' \
	"$@" "$release" "$out"
