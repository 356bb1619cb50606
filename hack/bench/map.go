//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// inputs is the number of inputs of a map, and of the jobs it is compared with.
const inputs = 1000

// emptyInputs are calls without arguments.
var emptyInputs = strings.Repeat("{}\n", inputs)

// mapped: a function that does nothing, called for many inputs, compared with one job per
// input. Our map runs Python in real pods. The other jobs are on a node without a machine,
// where pods succeed at once, because this machine has no room for so many pods.
func (c *cluster) mapped(ctx context.Context) error {
	if err := c.write("project/inputs.jsonl", emptyInputs); err != nil {
		return err
	}
	var ours []sample
	for range hostRounds {
		s, err := once(c.ours(ctx, "run", "f.py:nothing", "--map", "inputs.jsonl", "--cpu", "100m", "--memory", "100Mi")())
		if err != nil {
			return err
		}
		ours = append(ours, s)
	}
	var jobs strings.Builder
	for i := range inputs {
		fmt.Fprintf(&jobs, jobOfInput, i, os.Getenv("KINETIC_IMAGE"))
	}
	if err := c.write("jobs.yaml", jobs.String()); err != nil {
		return err
	}
	instead, err := once(command(ctx, c.dir, c.env, "sh", "-ec",
		"kubectl apply -f "+filepath.Join(c.dir, "jobs.yaml")+"; kubectl wait --for=condition=complete job -l bench=input --timeout=20m")())
	if err != nil {
		return err
	}
	own := median(ours)
	c.row(fmt.Sprintf("run --map of %d inputs / kubectl apply of %d jobs + wait", inputs, inputs), ms(own), ms(instead),
		fmt.Sprintf("%.1fx as fast", float64(instead.wall)/float64(own.wall)), ">= 10x")
	return nil
}

// jobOfInput is the job of one input, on a KWOK node.
const jobOfInput = `---
apiVersion: batch/v1
kind: Job
metadata:
  name: input-%d
  labels: {bench: input}
spec:
  template:
    metadata:
      labels: {kubebox/ends: "true"}
    spec:
      restartPolicy: Never
      nodeSelector: {kubernetes.io/hostname: fake-cpu-0}
      tolerations: [{key: kubebox/fake, operator: Exists}]
      containers:
      - {name: worker, image: "%s", command: [python3, -c, pass]}
`
