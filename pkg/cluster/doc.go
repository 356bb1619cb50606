// Package cluster has no code of its own. Below it lie creating, deleting and diagnosing
// clusters.
//
//   - infra is the list of resources of a cluster, what each needs, and the plan that creates
//     or deletes them in order. infra/google, infra/kubernetes and infra/machine are the
//     resources in Google Cloud, in the cluster and on this machine.
//   - doctor runs checks, all at once. doctor/google, doctor/kubernetes and doctor/machine are
//     the checks of these places; doctor/trial starts a pod that uses the store.
//
// A resource's way: infra lists it, its server reads what exists, the plan compares, and
// applying it creates what is missing. There is no state file.
package cluster
