package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// noRuntime is a version of the Pathways runtime that does not exist.
const noRuntime = "jax-0.0.1"

// noVersion asks for a Pathways runtime that does not exist. The answer names some that do, and nothing is created.
func noVersion(ctx context.Context, t *trial) error {
	if err := t.project("pathways"); err != nil {
		return err
	}
	_, err := t.kinetic(ctx, "run", "pathways.py:total", "--accelerator", "v5e-2x4", "--backend", pathways, "--pathways-version", noRuntime)
	var f *failure
	switch {
	case err == nil:
		return fmt.Errorf("a job with the Pathways runtime %s was submitted", noRuntime)
	case !errors.As(err, &f) || f.code != exitUsage:
		return err
	case !strings.Contains(f.message, "no Pathways runtime "+noRuntime) || !strings.Contains(f.message, "the nearest are jax-"):
		return fmt.Errorf("the message names no version that exists: %w", err)
	}
	return nil
}

// allChips has one process see the chips of all hosts, and add up what is on them.
func allChips(ctx context.Context, t *trial) error {
	if err := t.project("pathways"); err != nil {
		return err
	}
	a, err := t.returns(ctx, fmt.Sprintf("[%d,1,%[1]d,523776]", t.chips*t.hosts), "pathways.py:total", "--cleanup=false", "--timeout", "30m")
	if err == nil {
		err = t.hasCost(ctx, a.job())
	}
	if err == nil {
		_, err = t.kinetic(ctx, "jobs", "cleanup", a.job(), "-y")
	}
	return err
}

// lostWorker deletes the machine of a TPU host, not the leader's, and gets the value of the job's next attempt.
func lostWorker(ctx context.Context, t *trial) error {
	job, err := t.computing(ctx)
	if err != nil {
		return err
	}
	described, err := decode[struct {
		Hosts []struct {
			Node string `json:"node"`
		} `json:"hosts"`
		Parts []struct {
			Name string `json:"name"`
			Node string `json:"node"`
		} `json:"parts"`
	}](ctx, t.client, "jobs", "describe", job)
	if err != nil {
		return err
	}
	node := ""
	for _, p := range described.Parts {
		if strings.HasPrefix(p.Name, "worker-") && len(described.Hosts) > 0 && p.Node != described.Hosts[0].Node {
			node = p.Node
		}
	}
	if node == "" {
		return fmt.Errorf("jobs describe %s names no TPU host beside the leader's", job)
	}
	if err := t.suite.cloud.deleteMachine(ctx, t.client, t.suite.place.context(), node); err != nil {
		return err
	}
	value, err := t.kinetic(ctx, "jobs", "result", job, "--timeout", "30m")
	if err != nil {
		return err
	}
	return same("pathways.py:survive", value.out, `[true,"epoch 3"]`)
}

// cancelled cancels a job that computes. None of its pods stays.
func cancelled(ctx context.Context, t *trial) error {
	job, err := t.computing(ctx)
	if err != nil {
		return err
	}
	if _, err := t.kinetic(ctx, "jobs", "cancel", job); err != nil {
		return err
	}
	place := t.suite.place
	_, err = t.text(ctx, "kubectl", "--context", place.context(), "--namespace", place.cluster, "wait", "--for=delete", "pods", "--selector", "job-id="+job, "--timeout=3m")
	if err != nil {
		return fmt.Errorf("job %s was cancelled, but keeps pods: %w", job, err)
	}
	return nil
}

// computing starts a job that uses the chips of all hosts for an hour, and returns its ID when it does.
func (t *trial) computing(ctx context.Context) (job string, err error) {
	if err := t.project("pathways"); err != nil {
		return "", err
	}
	a, err := t.submit(ctx, "pathways.py:survive", "--detach", "--output-sync", "2s")
	if err != nil {
		return "", err
	}
	_, err = t.saved(ctx, a.job(), "checkpoint")
	return a.job(), err
}
