#!/usr/bin/env bash
# Plays the scenes of a directory, and draws each as docs/recordings/NAME.svg.
#
#   draw.sh DIRECTORY
set -euo pipefail
scenes=$(realpath "$1")
cd "$(dirname "$0")/../.."
mkdir -p docs/recordings .cache
for scene in "$scenes"/*.scene; do
	KINETIC_BIN="$PWD/bin" PYTHONPATH="$PWD/runner" hack/recordings/record.py "$scene" >.cache/recording.svg
	mv .cache/recording.svg "docs/recordings/$(basename "$scene" .scene).svg"
done
