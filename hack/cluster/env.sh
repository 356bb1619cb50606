#!/usr/bin/env bash
# Prints what makes a shell use the cluster: eval "$(make -s cluster-env)".
set -euo pipefail
source "$(dirname "$0")/box.sh"

running apiserver || fail "no cluster is running here: start it with make cluster"
# The cluster may have been started under another HOME, from the cache there.
kubebox=$(readlink "/proc/$(cat "$KUBEBOX_DIR/pid/apiserver")/exe")
[[ -x $kubebox && $kubebox == */"${cache##*/}"/bin/kubebox ]] || fail "the cluster that is running here was made by another version of these scripts: make cluster replaces it"
cache=${kubebox%/bin/kubebox}

# The shell's settings for other clusters: they would count before the kubeconfig's, or
# name a Secret that is not there.
echo "unset KINETIC_PROJECT KINETIC_ZONE KINETIC_CLUSTER KINETIC_NAMESPACE KINETIC_PROFILE KINETIC_STORE_CREDENTIALS"
cat <<SH
export KUBECONFIG='$KUBECONFIG'
export KINETIC_PROFILES_FILE='$KUBEBOX_DIR/profiles.json'
export KINETIC_STORE='gs://$bucket'
export STORAGE_EMULATOR_HOST='$store_url'
export KINETIC_IMAGE='$(python_image)'
export KINETIC_BASE_IMAGE='$(python_image)'
export KINETIC_IMAGE_REPO='$image_repo'
export NO_PROXY='$NO_PROXY' no_proxy='$NO_PROXY'
export KUBEBOX='$kubebox'
export KUBEBOX_DIR='$KUBEBOX_DIR'
SH
# Plugins take a kubectl; the cluster's own does where the machine has none.
command -v kubectl >/dev/null || echo "export PATH=\"\$PATH:$cache/bin\""
