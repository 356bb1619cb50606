package run

import (
	"cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/job/local"
)

// autoBackend is the value of --backend that leaves the choice to the number of hosts.
const autoBackend = "auto"

func (f *flags) chooseBackend() (api.Backend, error) {
	valid := []string{autoBackend, string(api.BackendGKE), string(api.BackendLWS), string(api.BackendPathways), string(api.BackendLocal)}
	chosen, err := choose[api.Backend]("--backend", f.backend, valid, autoBackend)
	if err == nil && (f.local || chosen == api.BackendLocal) {
		return api.BackendLocal, local.Supported()
	}
	return chosen, err
}

// chooseWords reads the flags that take one of a few words.
func (f *flags) chooseWords(r *api.Request) error {
	var poolsErr, retryErr, hangErr, networkErr error
	r.NodePools, poolsErr = choose[api.NodePools]("--slice-node-pool", f.nodePools, nodePools(), "")
	r.RetryOn, retryErr = choose("--retry-on", f.retryOn, retryOns(), api.RetryOnCrash)
	r.HangAction, hangErr = choose("--hang-action", f.hangAction, hangActions(), api.HangStacks)
	r.Network, networkErr = choose[api.Network]("--network", f.network, networks(), autoNetwork)
	return cmp.Or(poolsErr, retryErr, hangErr, networkErr)
}

// choose returns the value of a flag that takes one of some words, "" for the standard, which the job's records leave out.
func choose[T ~string](flag, text string, words []string, standard T) (T, error) {
	if text == string(standard) {
		return "", nil
	}
	return T(text), cli.OneOf(flag, text, words)
}

func nodePools() []string {
	return []string{string(api.NodePoolsExclusive), string(api.NodePoolsShared)}
}

func hangActions() []string { return []string{string(api.HangStacks), string(api.HangRestart)} }

func retryOns() []string { return []string{string(api.RetryOnCrash), string(api.RetryOnError)} }

// autoNetwork is the value of --network that leaves the choice to the node pools.
const autoNetwork = "auto"

func networks() []string {
	return []string{autoNetwork, string(api.NetworkRDMA), string(api.NetworkTCPXO), string(api.NetworkTCP)}
}
