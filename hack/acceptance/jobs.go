package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func cpu(ctx context.Context, t *trial) error {
	if err := t.project("cpu"); err != nil {
		return err
	}
	a, err := t.returns(ctx, "5", "add.py:add", "--arg", "a=2", "--arg", "b=3")
	if err == nil && !a.logged("adding 2 and 3") {
		err = errors.New("the job's log lacks the line that it printed")
	}
	return err
}

func outputs(ctx context.Context, t *trial) error {
	if err := t.project("outputs"); err != nil {
		return err
	}
	a, err := t.submit(ctx, "train.py:write")
	if err != nil {
		return err
	}
	weights, err := t.kinetic(ctx, "jobs", "outputs", a.job(), "cat", "weights")
	if err == nil {
		err = same("the output weights", weights.out, "0.125")
	}
	if err == nil {
		_, err = t.returns(ctx, `"0.125"`, "train.py:read", "--resume-from", a.job())
	}
	return err
}

// image runs a job with a version of a package, and then with another one.
func image(ctx context.Context, t *trial) error {
	if err := t.project("image"); err != nil {
		return err
	}
	for _, version := range sixVersions {
		if err := t.write("requirements.txt", t.suite.cloud.packages()+"six=="+version+"\n"); err != nil {
			return err
		}
		if _, err := t.returns(ctx, fmt.Sprintf("%q", version), "versions.py:version", "--image", "bundled"); err != nil {
			return err
		}
	}
	return nil
}

var sixVersions = []string{"1.16.0", "1.17.0"}

func mapped(ctx context.Context, t *trial) error {
	if err := t.project("map"); err != nil {
		return err
	}
	var inputs, values strings.Builder
	for n := range 20 {
		fmt.Fprintln(&inputs, n)
		fmt.Fprintln(&values, n*n)
	}
	if err := t.write("inputs.jsonl", inputs.String()); err != nil {
		return err
	}
	_, err := t.returns(ctx, strings.TrimRight(values.String(), "\n"), "square.py:square", "--map", "inputs.jsonl", "--chunk", "5", "--parallelism", "2")
	return err
}

func data(ctx context.Context, t *trial) error {
	if err := t.project("data"); err != nil {
		return err
	}
	_, err := t.returns(ctx, `[[["a.txt",4],["b.txt",11]],true]`, "count.py:count", "--data", "words=./words,fuse")
	return err
}

// python runs a program that calls decorated functions.
func python(ctx context.Context, t *trial) error {
	if err := t.project("python"); err != nil {
		return err
	}
	interpreter := t.suite.interpreter(ctx, t.client)
	if interpreter == "" {
		return skipError("no python3 here has cloudpickle: pip install cloudpickle")
	}
	kinetic, err := exec.LookPath("kubectl-kinetic")
	if err != nil {
		return err
	}
	c := t.with("KINETIC_BIN="+filepath.Dir(kinetic), "PYTHONPATH="+filepath.Join(t.suite.repository, "runner"))
	out, err := c.text(ctx, interpreter, "decorated.py")
	if err != nil {
		return err
	}
	return same("decorated.py", out, "[2.0, 5.0]\nValueError: as it should")
}

// interpreter returns a Python that has what the Python package needs, "" if there is none.
func (s *suite) interpreter(ctx context.Context, c client) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if _, err := c.text(ctx, name, "-c", "import cloudpickle"); err == nil {
			return name
		}
	}
	return ""
}

// chips runs a job on accelerators, and looks what kubectl kinetic says that it has cost.
func chips(ctx context.Context, t *trial) error {
	if err := t.project("chips"); err != nil {
		return err
	}
	target, want := t.suite.cloud.call(t.step)
	a, err := t.returns(ctx, want, target, "--cleanup=false", "--timeout", "20m")
	if err == nil {
		err = t.hasCost(ctx, a.job())
	}
	if err == nil {
		_, err = t.kinetic(ctx, "jobs", "cleanup", a.job(), "-y")
	}
	return err
}

// hasCost compares the cost of a job with the price before it, and looks for it in status.
func (t *trial) hasCost(ctx context.Context, job string) error {
	described, err := decode[struct {
		Cost *struct {
			PerHour *float64 `json:"pricePerHour"`
			USD     *float64 `json:"usd"`
		} `json:"cost"`
	}](ctx, t.client, "jobs", "describe", job)
	if err != nil {
		return err
	}
	c := described.Cost
	if c == nil || c.USD == nil || c.PerHour == nil || t.price == nil || *c.PerHour != *t.price {
		return fmt.Errorf("jobs describe %s has no cost, or another price for an hour than run --explain", job)
	}
	status, err := decode[struct {
		Cost struct {
			ByPerson []struct {
				Person string `json:"person"`
				Jobs   int    `json:"jobs"`
			} `json:"byPerson"`
		} `json:"cost"`
	}](ctx, t.client, "status")
	if err != nil {
		return err
	}
	for _, p := range status.Cost.ByPerson {
		if p.Person == t.suite.place.cluster && p.Jobs > 0 {
			return nil
		}
	}
	return fmt.Errorf("status doesn't count the cost of job %s for owner %s", job, t.suite.place.cluster)
}

// preempted deletes the machine of a job that has saved a checkpoint, and gets the value of its next attempt.
func preempted(ctx context.Context, t *trial) error {
	if err := t.project("survive"); err != nil {
		return err
	}
	a, err := t.submit(ctx, "survive.py:survive", "--detach", "--output-sync", "2s")
	if err != nil {
		return err
	}
	node, err := t.saved(ctx, a.job(), "checkpoint")
	if err != nil {
		return err
	}
	if err := t.suite.cloud.deleteMachine(ctx, t.client, t.suite.place.context(), node); err != nil {
		return err
	}
	value, err := t.kinetic(ctx, "jobs", "result", a.job(), "--timeout", "20m")
	if err != nil {
		return err
	}
	return same("survive.py:survive", value.out, `[true,"epoch 3"]`)
}

// saved waits until a job has saved a file, and returns the node of its first host. A job that gets no machine
// for twenty minutes is given up, with what it waits for.
func (t *trial) saved(ctx context.Context, job, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	for {
		if _, err := t.kinetic(ctx, "jobs", "outputs", job, "cat", file); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			_, err := t.kinetic(context.WithoutCancel(ctx), "jobs", "wait", job, "--timeout", "5s")
			return "", fmt.Errorf("waiting for output %s of job %s: %w", file, job, errors.Join(context.Cause(ctx), err))
		case <-time.After(t.suite.pause):
		}
	}
	described, err := decode[struct {
		Hosts []struct {
			Node string `json:"node"`
		} `json:"hosts"`
	}](ctx, t.client, "jobs", "describe", job)
	if err == nil && (len(described.Hosts) == 0 || described.Hosts[0].Node == "") {
		err = fmt.Errorf("job %s runs, and jobs describe names no node", job)
	}
	if err != nil {
		return "", err
	}
	return described.Hosts[0].Node, nil
}

// autopilot makes another cluster, runs a job there, and deletes it.
func autopilot(ctx context.Context, t *trial) error {
	if err := t.project("cpu"); err != nil {
		return err
	}
	other := t.suite.place.autopilot()
	t.env = t.with(other.environment()...).env
	t.suite.made = append(t.suite.made, other) // from now on there may be something to take down
	if _, err := t.kinetic(ctx, "up", "--autopilot", "--yes"); err != nil {
		return err
	}
	_, err := t.returns(ctx, "5", "add.py:add", "--arg", "a=2", "--arg", "b=3", "--timeout", "20m")
	return errors.Join(err, t.suite.takeDown(ctx, t.client, other))
}
