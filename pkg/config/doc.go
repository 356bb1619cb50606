// Package config has no code of its own. Below it lies the answer to "where does a job run":
// which project, zone, cluster, namespace and store.
//
//   - profile reads and writes the file of profiles: named clusters that replace flags.
//   - target puts flags, environment variables, the profile, gcloud's settings and the
//     kubeconfig's context together, and remembers the origin of each value for errors. It
//     also has the names of what belongs to a cluster: buckets, accounts, the repository.
//
// A value's way: a flag, else a variable, else the profile, else the context; checked, and
// then part of a target.Target, which the packages above only read.
package config
