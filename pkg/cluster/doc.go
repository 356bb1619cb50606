// Package cluster has no code of its own. Below it lie creating, deleting and diagnosing
// clusters.
//
//   - infra is the list of resources of a cluster, what each needs, and the plan that creates
//     or deletes them in order, with the resources in the cluster and on this machine;
//     infra/google has those in Google Cloud.
//   - doctor runs checks, all at once, of the cluster, this machine and Google Cloud, and
//     starts a pod that uses the store.
//
// A resource's way: infra lists it, its server reads what exists, the plan compares, and
// applying it creates what is missing. There is no state file.
package cluster
