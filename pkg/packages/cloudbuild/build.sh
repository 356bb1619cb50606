#!/usr/bin/env bash
# Builds the image of the Dockerfile in this directory, and pushes it.
#   IMAGE    its name, with a tag
#   CACHE    the name of an image that keeps stages for later builds, or empty
#   REUSED   what it keeps: nothing, tools (the stage of that name), all
set -euo pipefail

# Without this, images of Docker Hub come from there, to addresses that many share: it refuses those that ask
# too often. Images that the mirror lacks still do.
config=${BUILDX_CONFIG:-${DOCKER_CONFIG:-$HOME/.docker}/buildx}
mkdir -p "$config"
printf '[registry."docker.io"]\n  mirrors = ["mirror.gcr.io"]\n' >"$config/buildkitd.default.toml"

# Docker's own builder cannot write a cache to a registry.
docker buildx create --use --driver docker-container >/dev/null

build=(docker buildx build --progress=plain --platform=linux/amd64 --provenance=false)
keep=("--cache-to=type=registry,ref=$CACHE,mode=max,image-manifest=true,ignore-error=true")

if [[ -n $CACHE && $REUSED != nothing ]]; then
	build+=("--cache-from=type=registry,ref=$CACHE")
	if [[ $REUSED == tools ]]; then
		# The environment is not kept: whoever needs the same has the image itself.
		"${build[@]}" "${keep[@]}" --target=tools --output=type=cacheonly .
	else
		build+=("${keep[@]}")
	fi
fi
"${build[@]}" --output="type=image,name=$IMAGE,push=true,compression=gzip,oci-mediatypes=true" --metadata-file=/tmp/image.json .

# The client reads the digest in the results of the build.
if [[ -v BUILDER_OUTPUT ]]; then
	sed -n 's/.*"containerimage\.digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' /tmp/image.json | head -n 1 >"$BUILDER_OUTPUT/output"
fi
