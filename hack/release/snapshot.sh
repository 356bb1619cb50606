#!/usr/bin/env bash
# Makes all that a release consists of, without an account: archives, packages, checksums,
# a cask, krew's manifest, wheels. The version follows the last tag, or GORELEASER_CURRENT_TAG.
#
#   snapshot.sh FOLDER [OS/ARCH|all] [FLAGS OF GORELEASER]
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd) platform=${2:-all}
cd "$(dirname "$0")/../.."

config() {
	if [[ $platform == all ]]; then
		cat .goreleaser.yaml
	else # goreleaser has no flag for a release of one platform
		sed -e "s/^    goos: .*/    goos: [${platform%/*}]/" -e "s/^    goarch: .*/    goarch: [${platform#*/}]/" .goreleaser.yaml
	fi
	echo "dist: '$folder'"
}

if [[ -z ${GORELEASER_CURRENT_TAG:-} ]]; then
	GORELEASER_CURRENT_TAG=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || echo v0.0.0)
fi
export GORELEASER_CURRENT_TAG
# Without a remote, goreleaser would not look at the commit either.
if ! git remote get-url origin >/dev/null 2>&1; then
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/kubectl-kinetic/kinetic
fi

# BUILD_CACHE is for the binaries of the snapshot alone, not for goreleaser itself.
# In archives, goreleaser keeps the order in which builds ended: one at a time, it is always
# the same. Go itself still compiles in parallel.
goreleaser=$(CGO_ENABLED=0 go tool -n -modfile=hack/tools/goreleaser/go.mod goreleaser)
config | GOCACHE=${BUILD_CACHE:-$(go env GOCACHE)} "$goreleaser" release --config=- --parallelism=1 --snapshot --clean --skip=sbom,sign "${@:3}"
go run ./hack/release "$folder"
