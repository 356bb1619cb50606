// Package render turns an api.Spec into Kubernetes objects with kustomize: a
// base and components from the package manifests, a component generated from
// the Spec, and at the end the component of the user. The same files, written
// to a directory, give the same bytes with `kubectl kustomize`.
//
// All of it is pure but for ReadOverlay and WriteOverlay. Kustomize keeps
// global state: callers must not render on two goroutines at a time.
package render
