// Package render turns an api.Spec into Kubernetes objects with kustomize: a base and
// components from the package manifests, a component generated from the Spec, and finally
// the user's component. The same files, written to a directory, give the same bytes with
// `kubectl kustomize`. The Job of one host, which needs only patches, is made without kustomize: the
// bytes are the same.
//
// All functions are pure except ReadOverlay and WriteOverlay. Kustomize has global state:
// callers must not render on two goroutines at a time.
package render
