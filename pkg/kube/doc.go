// Package kube runs jobs in a cluster, as the kinds of workloads that package diagnose knows. It
// creates, lists, watches and removes them, and follows the logs of their pods. Package job/local
// does the same on this machine.
//
// Below it, apiserver connects to API servers and explains their errors; diagnose determines a
// job's state and why it waits, from the objects of one moment; admission finds out before
// anything is sent whether the cluster can take a job; joblist and itemlist read lists of jobs,
// usage which jobs hold a pool's chips, versions what a cluster has. kueue and gcsfuse are the
// parts of these that are read; portforward forwards a port, podexec runs a program in a pod,
// podprobe is the one that tells what a pod uses.
//
// A value's way: objects of a watch → diagnose → api.Status → job.Backend's caller.
package kube
