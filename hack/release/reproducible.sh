#!/usr/bin/env bash
# Makes the snapshot of the last commit twice, in two clones, the second time with an empty
# build cache, and fails if an archive, wheel or package is not the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone --quiet . "$work/a"
git clone --quiet . "$work/another/folder"
"$work/a/hack/release/snapshot.sh" "$work/first" all
BUILD_CACHE=$work/cache "$work/another/folder/hack/release/snapshot.sh" "$work/second" all

sums() { (cd "$work/$1" && sha256sum -- *.tar.gz *.zip *.whl *.deb *.rpm *_checksums.txt krew/*.yaml homebrew/Casks/*.rb); }
diff <(sums first) <(sums second)
echo "built twice, the same bytes:"
sums first
