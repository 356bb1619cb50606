// Package status says how a job stands in a cluster, and why: from the objects of a moment
// (its workload, pods, events and its place in a queue) it makes an api.WorkloadStatus. It reads
// nothing by itself, and knows all kinds of workloads that a job can be.
package status
