// Package podprobe asks a pod what its call uses, by a Python program that runs beside the call. That is for clusters whose
// metrics API does not tell, and for accelerators, about which it never does.
package podprobe

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

//go:embed probe.py
var program string

// Argv returns the program that prints what a host uses; accelerators says that it has some.
func Argv(h api.Host, accelerators bool) []string {
	kind := "none"
	if accelerators {
		kind = "accelerators"
	}
	return []string{"python3", "-S", "-c", program, h.NodeIP, h.Pod, kind}
}

// Read reads what the program has printed.
func Read(printed []byte) (api.Use, error) {
	var u api.Use
	if err := json.Unmarshal(printed, &u); err != nil {
		return u, fmt.Errorf("reading what the host uses: %w", err)
	}
	return u, nil
}
