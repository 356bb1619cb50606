// Package status determines the state of a job in a cluster, and its reason. It makes an
// api.WorkloadStatus from the objects of one moment: the job's workload, pods, events and
// place in a queue. It does no I/O, and knows all kinds of workloads that a job can be.
package status
