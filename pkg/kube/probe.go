package kube

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// probeProgram prints what a call uses. It is for clusters whose metrics API does not tell, and for accelerators, about which it
// never does.
//
//go:embed probe.py
var probeProgram string

// ProbeArgv returns the program that prints what a host uses; accelerators says that it has some.
func ProbeArgv(h api.Host, accelerators bool) []string {
	kind := "none"
	if accelerators {
		kind = "accelerators"
	}
	return []string{"python3", "-S", "-c", probeProgram, h.NodeIP, h.Pod, kind}
}

// ReadProbe reads what the program has printed.
func ReadProbe(printed []byte) (api.Use, error) {
	var u api.Use
	if err := json.Unmarshal(printed, &u); err != nil {
		return u, fmt.Errorf("reading what the host uses: %w", err)
	}
	return u, nil
}
