//go:build unix

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

//go:embed rounds.py
var roundsScript string

// rounds: what it takes to look for changed outputs, which happens beside the program of the user.
func (d *dataBench) rounds(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "python3", "-c", roundsScript, runnerFolder(), filepath.Join(d.dir, "data", "small")).Output()
	if err != nil {
		return fmt.Errorf("measuring the rounds that save outputs: %w", err)
	}
	var cpu struct{ Unchanged, Changed float64 } // seconds
	if err := json.Unmarshal(out, &cpu); err != nil {
		return err
	}
	d.row(fmt.Sprintf("outputs: a look at %d files without a change / with a new one, CPU", dataFiles),
		fmt.Sprintf("%.0f ms", 1000*cpu.Unchanged), fmt.Sprintf("%.0f ms", 1000*cpu.Changed), "", "<= 300 ms")
	return nil
}
