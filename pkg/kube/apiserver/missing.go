package apiserver

import "github.com/kubectl-kinetic/kinetic/pkg/api"

// InstallLeaderWorkerSet is the command that installs LeaderWorkerSet in a cluster.
const InstallLeaderWorkerSet = "kubectl apply --server-side -f https://github.com/kubernetes-sigs/lws/releases/download/v0.9.0/manifests.yaml"

// MissingError is the error that the cluster does not have what the command line needs, such as a kind. Nothing was
// created.
type MissingError struct {
	Text string
	// Install is the command that installs it, "" for none.
	Install string
}

func (e *MissingError) Error() string { return e.Text }

// Usage implements what pkg/cmd/cli asks an error for, as do the following.
func (e *MissingError) Usage() bool { return true }

// Kind returns the kind of the error.
func (e *MissingError) Kind() api.ErrorKind { return api.KindUnstartable }

// Next returns Install.
func (e *MissingError) Next() string { return e.Install }
