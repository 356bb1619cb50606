package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// makeCluster makes the cluster, and reads what the report says of it.
func makeCluster(ctx context.Context, t *trial) error {
	if _, err := t.kinetic(ctx, "up", "--yes", "--max-nodes", strconv.Itoa(mostNodes)); err != nil {
		return err
	}
	version, err := decode[struct {
		Client struct {
			Version string `json:"version"`
		} `json:"client"`
		Cluster struct {
			Server struct {
				Version string `json:"gitVersion"`
			} `json:"serverVersion"`
		} `json:"cluster"`
	}](ctx, t.client, "version")
	t.suite.report.client, t.suite.report.kubernetes = version.Client.Version, version.Cluster.Server.Version
	if err == nil && t.suite.report.kubernetes == "" {
		err = errors.New("version doesn't tell that of the new cluster")
	}
	return err
}

// doctor has doctor find nothing wrong, and status a cluster that runs and has a price.
func doctor(ctx context.Context, t *trial) error {
	found, err := decode[struct {
		Wrong int `json:"wrong"`
	}](ctx, t.client, "doctor")
	if err != nil {
		return err
	}
	if found.Wrong > 0 {
		return fmt.Errorf("doctor finds %d things wrong: they are in the log of this step", found.Wrong)
	}
	status, err := decode[struct {
		State   string `json:"state"`
		PerHour struct {
			USD *float64 `json:"usd"`
		} `json:"perHour"`
	}](ctx, t.client, "status")
	if err == nil && (status.State != "RUNNING" || status.PerHour.USD == nil || *status.PerHour.USD == 0) {
		err = errors.New("status has no cluster that runs and costs something")
	}
	return err
}

// takeAllDown takes down all that the run has made, the last first.
func takeAllDown(ctx context.Context, t *trial) error {
	var all []error
	for _, p := range slices.Backward(t.suite.made) {
		all = append(all, t.suite.takeDown(ctx, t.with(p.environment()...), p))
	}
	return errors.Join(all...)
}

// takeDown deletes a cluster and what belongs to it. What doesn't let it go, such as a job that can't be
// cancelled, is not waited for: the run has made all of it.
func (s *suite) takeDown(ctx context.Context, c client, p place) error {
	_, err := c.kinetic(ctx, p.down()...)
	if err != nil && ctx.Err() == nil {
		_, err = c.kinetic(ctx, append(p.down(), "--force")...)
	}
	if err != nil {
		return fmt.Errorf("%w; take it down with: %s", err, p.typed())
	}
	return s.cloud.cleanUp(ctx, c, []string{p.cluster})
}

// nothingLeft asks kubectl kinetic what it would delete, and the cloud what it still has.
func nothingLeft(ctx context.Context, t *trial) error {
	var left []string
	for _, p := range t.suite.made {
		found, err := t.suite.found(ctx, p)
		if err != nil {
			return err
		}
		more, err := t.suite.cloud.leftovers(ctx, t.client, p.cluster)
		if err != nil {
			return err
		}
		left = append(left, append(found, more...)...)
	}
	if len(left) > 0 {
		return fmt.Errorf("left: %s", strings.Join(slices.Compact(left), ", "))
	}
	return nil
}

// found returns what there is of a place, as down sees it, besides the APIs of the project.
func (s *suite) found(ctx context.Context, p place) ([]string, error) {
	planned, err := decode[struct {
		Plan []struct {
			Resource struct{ Kind, Name string } `json:"resource"`
			Action   string                      `json:"action"`
		} `json:"plan"`
	}](ctx, s.client.with(p.environment()...), "down", "--delete-data", "--dry-run")
	if err == nil && len(planned.Plan) == 0 {
		err = errors.New("the plan of down is empty: it should name what it does not find")
	}
	var names []string
	for _, step := range planned.Plan {
		if step.Action != "absent" && !strings.HasPrefix(step.Resource.Kind, "APIs") {
			names = append(names, step.Resource.Kind+" "+step.Resource.Name)
		}
	}
	return names, err
}
