// Package frontdoor is the program kubectl finds when someone types `kubectl
// kinetic …`. kubectl joins words with dashes, so it never finds a binary named
// kubectl-kinetic_run by itself; this program does, in its own folder first,
// and hands the process over.
//
// It uses the standard library and small packages of this module alone, since
// every command pays for its start.
package frontdoor
