// Package kube runs jobs in a cluster, as the kinds of workloads that package diagnose knows. It
// creates, lists, watches and removes them, and follows the logs of their pods. Package job/local
// does the same on this machine.
//
// Below it, apiserver connects to API servers and explains their errors; diagnose determines a
// job's state and why it waits, from the objects of one moment; joblist reads the jobs of a whole
// cluster, and which of them hold a pool's chips; versions what a cluster has. kueue has the parts
// of its objects that are read; podconn forwards a port of a pod and runs a program in it. The
// file probe.go asks a pod what it uses; quotas.go and volume.go find out before
// anything is sent whether the cluster can take a job.
//
// A value's way: objects of a watch → diagnose → api.Status → job.Backend's caller.
package kube
