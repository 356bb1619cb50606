// Package internal has no code of its own. Below it lie helpers without a domain: nothing
// here knows what a job is, and anything above may use it.
//
//   - backoff waits between attempts; parallel does the same for many items, several at a
//     time; broadcast shares the newest value with all that wait for it.
//   - transport makes requests to servers: was it ever reached, is it silent, does its clock
//     agree, what does the error mean.
//   - suggest finds the word that a user may have meant; shellquote writes command lines that
//     can be pasted; human formats sizes and counts,
//     and amount checks those of Kubernetes.
//   - platform and filelock hide what differs between operating systems; lazyregexp compiles
//     regular expressions at their first use; version reads the product's version.
package internal
