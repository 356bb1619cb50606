// Package accelerator knows what GKE can schedule (the catalogue, one line of
// data for each machine type) and reads what users type to ask for it:
// `tpu-v6e-8:spot`, `l4x2`, `v5p-2x2x4`, `gpu`, `cpu`.
//
// Package price, below it, has list prices and what jobs cost at these.
//
// A value's way: a flag's text → Parse → api.Accelerator, the shape that render, gke and
// price read. A new machine type is a line of catalogue.txt.
package accelerator
