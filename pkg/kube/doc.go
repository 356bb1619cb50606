// Package kube runs jobs in a cluster, as the workloads that package status knows: it
// creates them, lists and watches them and their pods, follows their logs, and removes
// them. What objects mean is package status's. It is the cluster's counterpart of package
// local.
package kube
