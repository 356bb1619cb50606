// Package wheel turns wheels into layers of a container image. It needs no builder and
// executes nothing of a wheel: the files of an installation are written as a compressed
// tar. The same wheel and layout give the same bytes on every machine, so that a registry
// stores each layer once.
//
//	w, err := wheel.Open(name, file, size, layout) // reads the archive's directory
//	layer, err := wheel.NewLayer(ctx, w)           // reads the wheel, checks it, knows the digests
//	stream := layer.Open()                         // makes the bytes again, to send them
//
// Neither the wheel nor the layer is ever held in memory or on disk as a whole. Large
// members are not compressed again: a gzip file may consist of several members, so a
// wheel's own deflate streams are copied into the layer.
package wheel

// Format is the version of the conversion. It belongs to the key of a layer, together with
// the SHA-256 of the wheel, the Python version (X.Y), and whether the layer has bytecode.
//
// Raise it with every change after which the same wheel gives other bytes: another prefix;
// another order, mode or time of files; another text of scripts, RECORD or INSTALLER;
// another size from which streams are copied; an update of the compression library that
// compresses differently. TestGoldenDigests fails then. A change of compile.py counts, too,
// and no digest shows it. Layers with the old number stay usable, but nothing looks them up
// any more.
const Format = 3
