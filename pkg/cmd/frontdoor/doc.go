// Package frontdoor is the program kubectl finds when someone types `kubectl kinetic …`.
// kubectl joins words with dashes, so it never finds a binary named kubectl-kinetic_run by
// itself. This program finds it, in its own folder first, and runs it in its place.
//
// It only uses the standard library and small packages of this module, because every
// command includes its startup time.
package frontdoor
