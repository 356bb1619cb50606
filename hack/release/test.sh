#!/usr/bin/env bash
# Tests what a release consists of: makes snapshots of two versions, for this machine's
# platform or for all, and installs them with the real kubectl and krew.
#
#   test.sh [all]
set -euo pipefail
cd "$(dirname "$0")/../.."
made=$PWD/.cache/release # stays, so that a failed test can be looked into
platform=${1:-$(go env GOOS)/$(go env GOARCH)}

export CGO_ENABLED=0
# kubectl is the one of the cluster of hack/cluster, which builds the same packages.
GOFLAGS=-trimpath go -C hack/cluster/kubebox build -o "$made/bin/" k8s.io/kubernetes/cmd/kubectl
go -C hack/tools/krew build -o "$made/bin/" sigs.k8s.io/krew/cmd/krew sigs.k8s.io/krew/cmd/validate-krew-manifest

hack/release/snapshot.sh "$made/first" "$platform"
GORELEASER_CURRENT_TAG=v1000.0.0 hack/release/snapshot.sh "$made/second" "$platform" --skip=homebrew,nfpm

RELEASE=$made go -C hack/release test -count=1 # in its folder go shows what the tests say
