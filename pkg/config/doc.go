// Package config decides where a job runs: the Google Cloud project, zone and cluster, the
// kubeconfig's context and namespace, and the store. It contacts nothing.
//
// target.go puts flags, environment variables, the profile, gcloud's settings and the kubeconfig's
// context together, and remembers the origin of each value for errors; names.go has the names of
// what belongs to a cluster: buckets, accounts, the repository. The files profile*.go read and write
// profiles: named clusters, each with a project, a zone, a cluster and a namespace, that replace
// flags. The file and its rules are the same as in the Python package, so that both see the same
// profiles. Nothing else is changed.
//
// A value's way: a flag, else a variable, else the profile, else the context; checked, and
// then part of a Target, which the packages above only read.
package config
