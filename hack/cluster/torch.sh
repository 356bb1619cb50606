#!/usr/bin/env bash
# Gives the nodes of the running cluster an image with PyTorch, and prints its name.
set -euo pipefail
source "$(dirname "$0")/extra.sh"
extra_image torch python3-torch '*/torch/bin/test*' '*/dist-packages/onnx/*' '*/dist-packages/pythran/*' \
	'*/dist-packages/scipy/*' '*/dist-packages/sympy/*'
