// Package warm gives calls to warm hosts, and answers for the calls that they run: their status, their log and their end.
// The host itself is runner/kinetic_runner/warm.
//
// A value's way: api.WarmCall → Conn → the holder in the pod → frames of its output; what a call leaves in the store is that
// of any job.
package warm
