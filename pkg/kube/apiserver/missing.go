package apiserver

import "github.com/kubectl-kinetic/kinetic/pkg/api"

// InstallLeaderWorkerSet is the command that installs LeaderWorkerSet in a cluster.
const InstallLeaderWorkerSet = "kubectl apply --server-side -f https://github.com/kubernetes-sigs/lws/releases/download/v0.9.0/manifests.yaml"

// MissingKind is the error that the cluster does not have a kind that the command line needs. Nothing
// was created.
type MissingKind struct {
	Text string
	// Install is the command that installs it.
	Install string
}

func (e *MissingKind) Error() string { return e.Text }

// Usage implements what pkg/cmd/cli asks an error for, as do the following.
func (e *MissingKind) Usage() bool { return true }

// Kind returns the kind of the error.
func (e *MissingKind) Kind() api.ErrorKind { return api.KindUnstartable }

// Next returns the command that installs the kind.
func (e *MissingKind) Next() string { return e.Install }
