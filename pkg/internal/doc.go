// Package internal has no code of its own. Below it lie helpers without a domain: nothing
// here knows what a job is, and anything above may use it.
//
//   - backoff waits between attempts; parallel does the same for many items, several at a
//     time, and shares the newest value with all that wait for it.
//   - transport makes requests to servers: was it ever reached, is it silent, does its clock
//     agree, what does the error mean.
//   - human formats sizes, counts and command lines that can be pasted, and finds the word
//     that a user may have meant; amount checks quantities of Kubernetes.
//   - platform hides what differs between operating systems, such as locks on files;
//     lazyregexp compiles regular expressions at their first use; version reads the product's
//     version; golden compares texts of tests with files.
package internal
