// Package kube runs jobs in a cluster, as the kinds of workloads that package status knows. It
// creates, lists, watches and removes them, and follows the logs of their pods. What the objects
// say about a job is decided by package status. Package local does the same on this machine.
package kube
