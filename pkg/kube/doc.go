// Package kube runs jobs as batch/v1 Jobs: it creates them, watches them and
// their pods, follows their logs, says why they wait, and removes them. It is
// the cluster's counterpart of package local.
package kube
