package run

import (
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
)

// autoBackend is the value of --backend that leaves the choice to the number of hosts.
const autoBackend = "auto"

func (f *flags) chooseBackend() (api.Backend, error) {
	valid := []string{autoBackend, string(api.BackendGKE), string(api.BackendLWS), string(api.BackendPathways), string(api.BackendLocal)}
	if err := cli.OneOf("--backend", f.backend, valid); err != nil {
		return "", err
	}
	switch {
	case f.local, f.backend == string(api.BackendLocal):
		return api.BackendLocal, local.Supported()
	case f.backend == autoBackend:
		return "", nil
	}
	return api.Backend(f.backend), nil
}

func chooseNodePools(text string) (api.NodePools, error) {
	if text == "" {
		return "", nil
	}
	return api.NodePools(text), cli.OneOf("--slice-node-pool", text, []string{string(api.NodePoolsExclusive), string(api.NodePoolsShared)})
}

// chooseRetryOn returns the zero value for the default, which the job's records leave out.
func chooseRetryOn(text string) (api.RetryOn, error) {
	switch on := api.RetryOn(text); on {
	case api.RetryOnCrash:
		return "", nil
	case api.RetryOnError:
		return on, nil
	default:
		return "", cli.OneOf("--retry-on", text, retryOns())
	}
}

// chooseHangAction returns the zero value for the default.
func chooseHangAction(text string) (api.HangAction, error) {
	if text == string(api.HangStacks) {
		return "", nil
	}
	return api.HangAction(text), cli.OneOf("--hang-action", text, hangActions())
}

func hangActions() []string { return []string{string(api.HangStacks), string(api.HangRestart)} }

func retryOns() []string { return []string{string(api.RetryOnCrash), string(api.RetryOnError)} }

// autoNetwork is the value of --network that leaves the choice to the node pools.
const autoNetwork = "auto"

func networks() []string {
	return []string{autoNetwork, string(api.NetworkRDMA), string(api.NetworkTCPXO), string(api.NetworkTCP)}
}

func chooseNetworkFlag(text string) (api.Network, error) {
	if text == autoNetwork {
		return "", nil
	}
	return api.Network(text), cli.OneOf("--network", text, networks())
}
