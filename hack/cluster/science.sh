#!/usr/bin/env bash
# Gives the nodes of the running cluster an image with NumPy, pandas, scikit-learn and
# cloudpickle, and prints its name.
set -euo pipefail
source "$(dirname "$0")/extra.sh"
needed+=('/usr/share/zoneinfo/*.*') # for pandas
extra_image science python3-sklearn,python3-pandas,python3-cloudpickle
