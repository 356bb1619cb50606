#!/usr/bin/env bash
# Gives the nodes of the running cluster a second image, with PyTorch, and prints its
# name. Made like the first one and kept like it, but not before somebody asks for it: it
# takes minutes and gigabytes, and few tests want it.
#
# Exit code 77, a skipped test's, where this machine can't have it.
set -euo pipefail
source "$(dirname "$0")/box.sh"
running apiserver || fail "no cluster is running here: start it with make cluster"
alone "$0"

torch=localhost/torch:1
recipe=$(cat "$0" "$here"/image/* | sha256sum)
name=torch-${recipe:0:12}
archive=$(dirname "$cache")/$name.tar

cannot() {
	echo "cluster: no image with PyTorch: $*" >&2
	exit 77
}

# Most of what PyTorch's packages bring is for compiling with it, drawing and videos.
left_out=(
	'/usr/share/*' '/usr/include/*' '*.a' '*/tests/*' '*/torch/bin/test*' '/usr/lib/gcc/*' '/usr/lib/jvm/*'
	'/usr/lib/*/dri/*' '*/mfx/*' '*/gconv/*' '*libLLVM*' '*libz3.so*'
	'*/dist-packages/matplotlib/*' '*/dist-packages/onnx/*' '*/dist-packages/pythran/*' '*/dist-packages/scipy/*' '*/dist-packages/sympy/*'
)
needed=('/usr/share/base-passwd/*' '/usr/share/ca-certificates/*' '/usr/share/python3/*')

# The links to libblas and liblapack are otherwise made by scripts of their packages.
make_image() {
	local rootfs=${archive%.tar}-rootfs.tar
	# shellcheck disable=SC2016 # mmdebstrap gives $1, the root of the new system, to its hooks
	"$here/image/rootfs.sh" "$rootfs" --include=python3-torch \
		"${left_out[@]/#/--dpkgopt=path-exclude=}" "${needed[@]/#/--dpkgopt=path-include=}" \
		--extract-hook='cd "$1"/usr/lib/*-linux-gnu && ln -s blas/libblas.so.3 lapack/liblapack.so.3 .' \
		--extract-hook='chroot "$1" ldconfig'
	"$here/image/oci.py" "$rootfs" "$archive" "$torch=python3"
	rm "$rootfs"
}

give_to() { # NODE
	local dir=$KUBEBOX_DIR/nodes/$1
	if [[ -e $dir/$name ]]; then return; fi
	room "$dir" 2
	ctr -a "$dir/containerd.sock" -n k8s.io images import "$archive" >>"$KUBEBOX_DIR/log/containerd-$1.log" 2>&1
	touch "$dir/$name"
}

if [[ ! -e $archive ]]; then
	[[ $(apt-cache madison python3-torch) == */main\ * ]] || cannot "python3-torch is in none of the packages that images are made from"
	room "$(dirname "$cache")" 3
	echo "making the image with PyTorch; minutes the first time" >&2
	make_image >&2
fi
for node in "${nodes[@]}"; do give_to "$node"; done
echo "$torch"
