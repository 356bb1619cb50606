//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// follow: one pod that prints as fast as it can.
func (c *cluster) follow(ctx context.Context) error {
	few, err := c.talk(ctx, "talk-few", 100_000, c.followOurs)
	if err != nil {
		return err
	}
	var ours, kubectl []listened
	for i := range rounds {
		x, err := c.talk(ctx, fmt.Sprintf("talk-ours-%d", i), 1_000_000, c.followOurs)
		if err != nil {
			return err
		}
		y, err := c.talk(ctx, fmt.Sprintf("talk-kubectl-%d", i), 1_000_000, c.followKubectl)
		if err != nil {
			return err
		}
		ours, kubectl = append(ours, x), append(kubectl, y)
	}
	own, other := slices.MaxFunc(ours, slower), slices.MaxFunc(kubectl, slower)
	c.row("jobs logs -f / kubectl logs -f, of 1,000,000 lines", own.String(), other.String(), fmt.Sprintf("%.2fx", own.rate()/other.rate()), ">= 1.00x")
	c.row("lines of it lost, doubled, out of order", own.damage().String(), other.damage().String(), "", "0, 0, 0")
	c.row("memory for that, and for 100,000 lines", mb(own.cost.rss)+", "+mb(few.cost.rss), mb(other.cost.rss), "", "constant")
	return nil
}

// rounds is how often that is measured; the fastest counts, because whatever
// else the machine does delays the pod that prints.
const rounds = 2

// listened is a log that was followed, and what that cost.
type listened struct {
	*tally
	cost sample
}

func slower(a, b listened) int { return cmp.Compare(a.rate(), b.rate()) }

func (l listened) String() string {
	return fmt.Sprintf("%.0f lines/s, %.1f s CPU", l.rate(), l.cost.cpu.Seconds())
}

// follower is a tool that prints what a job prints until the job ends.
type follower func(ctx context.Context, id string) *exec.Cmd

func (c *cluster) followOurs(ctx context.Context, id string) *exec.Cmd {
	return c.ours(ctx, "jobs", "logs", "-f", id)()
}

func (c *cluster) followKubectl(ctx context.Context, id string) *exec.Cmd {
	return c.kubectl(ctx, "logs", "-f", "job/kinetic-"+id)()
}

// talk starts a job that prints lines, and follows it to its end.
func (c *cluster) talk(ctx context.Context, id string, lines int, with follower) (listened, error) {
	if err := c.start(ctx, id, "talk", fmt.Sprintf("lines=%d", lines)); err != nil {
		return listened{}, err
	}
	t := newTally(lines)
	cmd := with(ctx, id)
	cmd.Stdout = t
	cost, err := once(cmd)
	return listened{t, cost}, err
}

const (
	// No pod prints more than a node keeps: 10 MB, with 46 bytes for each line.
	talkers        = 8
	linesOfTalkers = 100_000
	talkSeconds    = 20
	// patience is how long a follower may need for that, and afterwards.
	patience = 2 * time.Minute
	grace    = 2 * time.Second
)

// restart: the API server is killed while jobs are followed that print.
func (c *cluster) restart(ctx context.Context) error {
	stern, err := c.buildStern(ctx)
	if err != nil {
		return err
	}
	var found []damage
	for _, tool := range []struct {
		name   string
		follow follower
	}{{"ours", c.followOurs}, {"kubectl", c.followKubectl}, {"stern", stern}} {
		d, err := c.interrupt(ctx, tool.name, tool.follow)
		if err != nil {
			return err
		}
		found = append(found, d)
	}
	c.row(fmt.Sprintf("API server killed: lines of %d lost, doubled, out of order", talkers*linesOfTalkers),
		found[0].String(), fmt.Sprintf("%v kubectl; %v stern", found[1], found[2]), "", "0, 0, 0")
	return nil
}

// buildStern builds stern, which has a module of its own.
func (c *cluster) buildStern(ctx context.Context) (follower, error) {
	path := filepath.Join(c.dir, "stern")
	build := exec.CommandContext(ctx, "go", "build", "-C", "hack/bench/stern", "-o", path, "github.com/stern/stern")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if _, err := once(build); err != nil {
		return nil, err
	}
	return func(ctx context.Context, id string) *exec.Cmd {
		return command(ctx, c.dir, c.env, path, "--template", `{{.Message}}{{"\n"}}`, "--tail", "-1", "--selector", "job-id="+id)()
	}, nil
}

// interrupt starts jobs that print, follows them, and kills the API server when
// the first is half through. How the followers end is their own affair: the
// lines tell.
func (c *cluster) interrupt(ctx context.Context, name string, with follower) (damage, error) {
	var starting errgroup.Group
	for i := range talkers {
		starting.Go(func() error {
			return c.start(ctx, fmt.Sprintf("%s-%d", name, i), "count", fmt.Sprintf("lines=%d", linesOfTalkers), fmt.Sprintf("seconds=%d", talkSeconds))
		})
	}
	if err := starting.Wait(); err != nil {
		return damage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tallies := make([]*tally, talkers)
	var following errgroup.Group
	for i := range tallies {
		tallies[i] = newTally(linesOfTalkers)
		following.Go(func() error {
			readAll(ctx, with, fmt.Sprintf("%s-%d", name, i), tallies[i])
			return nil
		})
	}
	select {
	case <-tallies[0].half:
	case <-ctx.Done():
		return damage{}, fmt.Errorf("following with %s: half of the lines did not come within %v", name, patience)
	}
	_, err := once(exec.CommandContext(ctx, "hack/cluster/restart-apiserver.sh"))
	_ = following.Wait()
	var all damage
	for _, t := range tallies {
		all = all.plus(t.damage())
	}
	return all, err
}

// readAll follows a job until the follower ends. One that never ends is ended a
// moment after the last line.
func readAll(ctx context.Context, with follower, id string, t *tally) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-t.full:
			time.AfterFunc(grace, cancel)
		case <-ctx.Done():
		}
	}()
	cmd := with(ctx, id)
	cmd.Stdout = t
	_ = cmd.Run()
}
