#!/usr/bin/env bash
# Makes sure that tests and lint have what they need: Go, a C compiler (for the race
# detector), make, git, Python with some modules, mypy, npm (for pyright), shellcheck, and
# OpenSSL (for certificates in the runner's tests). With the argument full, also what make
# test-full has more of: notebooks, scikit-learn, pandas. Installs what is missing with apt-get if
# possible; otherwise says what to install. Go modules come with the first build.
set -euo pipefail

fail() { echo "prepare: $*" >&2; exit 1; }

command -v go >/dev/null || fail "go is missing: install the version in go.mod from https://go.dev/dl/"

missing=()
need() { # COMMAND PACKAGE…: the packages are for Debian and Ubuntu
	command -v "$1" >/dev/null || missing+=("${@:2}")
}
need git git
need make make
need gcc gcc libc6-dev
need python3 python3
need openssl openssl
need shellcheck shellcheck
need mypy mypy
need npm npm

# The tests of the Python package, and of screens, run with the system's Python, which has the modules of
# Debian's packages.
modules=(pytest cloudpickle numpy pyte)
if [[ ${1-} == full ]]; then modules+=(nbclient ipykernel sklearn pandas torch); fi
for module in "${modules[@]}"; do
	/usr/bin/python3 -c "import $module" 2>/dev/null || missing+=("python3-$module")
done
/usr/bin/python3 -c "import xdist" 2>/dev/null || missing+=(python3-pytest-xdist) # the module has another name

if ((${#missing[@]})); then
	command -v apt-get >/dev/null || fail "install these first: ${missing[*]}"
	sudo=()
	if ((EUID != 0)); then
		command -v sudo >/dev/null || fail "run this as root, once: apt-get install ${missing[*]}"
		sudo=(sudo -n)
	fi
	export DEBIAN_FRONTEND=noninteractive
	"${sudo[@]}" apt-get update -qq
	"${sudo[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}"
fi

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
	fail "python3 is $(python3 --version): the runner and its tests need 3.9 or newer"
