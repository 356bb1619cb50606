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
	"strconv"
)

// follow: one pod that prints as fast as it can.
func (c *cluster) follow(ctx context.Context) error {
	few, err := c.talk(ctx, "talk-few", 100_000, c.followOurs)
	if err != nil {
		return err
	}
	var ours, kubectl []listened
	var lost, lostByKubectl damage
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
		lost, lostByKubectl = lost.plus(x.damage()), lostByKubectl.plus(y.damage())
	}
	own, other := fastest(ours), fastest(kubectl)
	c.row("jobs logs -f / kubectl logs -f, of 1,000,000 lines", own.String(), other.String(), fmt.Sprintf("%.2fx", own.rate()/other.rate()), ">= 1.00x")
	c.row(fmt.Sprintf("lines of it lost, doubled, out of order, in %d times", rounds), lost.String(), lostByKubectl.String(), "", "0, 0, 0")
	c.row("memory for that, and for 100,000 lines", mb(own.cost.rss)+", "+mb(few.cost.rss), mb(other.cost.rss), "", "constant")
	return nil
}

// rounds is how often following is measured. The fastest counts, because whatever else the
// machine does delays the pod that prints.
const rounds = 2

// listened is the tally of a log that was followed, and the cost.
type listened struct {
	*tally
	cost sample
}

// fastest returns the fastest of several, with the largest memory of any.
func fastest(all []listened) listened {
	found := slices.MaxFunc(all, func(a, b listened) int { return cmp.Compare(a.rate(), b.rate()) })
	for _, x := range all {
		found.cost.rss = max(found.cost.rss, x.cost.rss)
	}
	return found
}

func (l listened) String() string {
	return fmt.Sprintf("%.0f lines/s, %s", l.rate(), cpu(l.cost))
}

// follower returns the command of a tool that prints what a job prints until the job ends.
type follower func(ctx context.Context, id string) *exec.Cmd

func (c *cluster) followOurs(ctx context.Context, id string) *exec.Cmd {
	return c.ours(ctx, "jobs", "logs", "-f", id)()
}

func (c *cluster) followKubectl(ctx context.Context, id string) *exec.Cmd {
	return c.kubectl(ctx, "logs", "-f", "job/kinetic-"+id)()
}

// talk starts a job that prints lines, and follows it to its end.
func (c *cluster) talk(ctx context.Context, id string, lines int, with follower) (listened, error) {
	if err := c.start(ctx, id, "talk", []string{fmt.Sprintf("lines=%d", lines)}); err != nil {
		return listened{}, err
	}
	t := newTally(lines)
	cmd := with(ctx, id)
	cmd.Stdout = t
	cost, err := once(cmd)
	return listened{t, cost}, err
}

// buildStern builds stern, which has its own module.
func (c *cluster) buildStern(ctx context.Context) (follower, error) {
	path := filepath.Join(c.dir, "stern")
	build := exec.CommandContext(ctx, "go", "build", "-C", "hack/bench/stern", "-o", path, "github.com/stern/stern")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if _, err := once(build); err != nil {
		return nil, err
	}
	return func(ctx context.Context, id string) *exec.Cmd {
		return command(ctx, c.dir, c.env, path, "--color", "never", "--tail", "-1", "--max-log-requests", strconv.Itoa(hostCount), "--selector", "job-id="+id)()
	}, nil
}
