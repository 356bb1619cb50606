# shellcheck shell=bash
# Sourced by scripts that give the nodes of the running cluster one more image. It is made
# like the first one and kept like it, but not before somebody asks for it: it takes
# minutes and gigabytes, and few tests want it.
#
# The exit code is 77, a skipped test's, where this machine can't have it.
source "$(dirname "$0")/box.sh"
running apiserver || fail "no cluster is running here: start it with make cluster"

# Most of what such packages bring is for compiling with them, drawing and videos.
left_out=(
	'/usr/share/*' '/usr/include/*' '*.a' '*/tests/*' '/usr/lib/gcc/*' '/usr/lib/jvm/*'
	'/usr/lib/*/dri/*' '*/mfx/*' '*/gconv/*' '*libLLVM*' '*libz3.so*' '*/dist-packages/matplotlib/*'
)
needed=('/usr/share/base-passwd/*' '/usr/share/ca-certificates/*' '/usr/share/python3/*')

# extra_image NAME PACKAGE[,PACKAGE…] [PATH TO LEAVE OUT]…: makes localhost/NAME:1 unless
# it is there, gives it to all nodes, and prints its name. The links to libblas and
# liblapack are otherwise made by scripts of their packages.
extra_image() {
	local image=localhost/$1:1 packages=$2 recipe name archive
	left_out+=("${@:3}")
	alone "$0"
	recipe=$(cat "$0" "$here"/extra.sh "$here"/image/* | sha256sum)
	name=$1-${recipe:0:12}
	archive=$(dirname "$cache")/$name.tar
	if [[ ! -e $archive ]]; then
		local first=${packages%%,*}
		if [[ $(apt-cache madison "$first") != */main\ * ]]; then
			echo "cluster: no image $image: $first is in none of the packages that images are made from" >&2
			exit 77
		fi
		room "$(dirname "$cache")" 3
		echo "making the image $image; minutes the first time" >&2
		# shellcheck disable=SC2016 # mmdebstrap gives $1, the root of the new system, to its hooks
		"$here/image/rootfs.sh" "${archive%.tar}-rootfs.tar" --include="$packages" \
			"${left_out[@]/#/--dpkgopt=path-exclude=}" "${needed[@]/#/--dpkgopt=path-include=}" \
			--extract-hook='cd "$1"/usr/lib/*-linux-gnu && ln -s blas/libblas.so.3 lapack/liblapack.so.3 .' \
			--extract-hook='chroot "$1" ldconfig' >&2
		"$here/image/oci.py" "${archive%.tar}-rootfs.tar" "$archive" "$image=python3"
		rm "${archive%.tar}-rootfs.tar"
	fi
	for node in "${nodes[@]}"; do
		local dir=$KUBEBOX_DIR/nodes/$node
		if [[ -e $dir/$name ]]; then continue; fi
		room "$dir" 2
		ctr -a "$dir/containerd.sock" -n k8s.io images import "$archive" >>"$KUBEBOX_DIR/log/containerd-$node.log" 2>&1
		touch "$dir/$name"
	done
	echo "$image"
}
