//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/hack/bench/counter"
)

const (
	hostCount   = 16
	linesOfEach = 50_000
	// hostRounds is how often both tools read everything; the median counts.
	hostRounds = 3
	// printSeconds is how long hosts print in the benchmark that interrupts the API server.
	printSeconds = 20
	// patience is how long a follower may take for everything, or pods may take to
	// disappear. grace is how long a follower may run afterwards.
	patience = 3 * time.Minute
	grace    = 2 * time.Second
)

// hosts: all hosts of a job are followed at once. They have printed before, so that only
// the followers are measured, each with the same lines.
func (c *cluster) hosts(ctx context.Context) error {
	stern, err := c.buildStern(ctx)
	if err != nil {
		return err
	}
	const id = "hosts"
	if err := c.printLines(ctx, id, 0); err != nil {
		return err
	}
	if err := c.allPrinted(ctx, id); err != nil {
		return err
	}
	var ours, others []sample
	var lost, lostByStern damage
	for range hostRounds {
		heard, cost := listen(ctx, c.followOurs(ctx, id))
		ours, lost = append(ours, cost), lost.plus(heard.damage())
		heard, cost = listen(ctx, stern(ctx, id))
		others, lostByStern = append(others, cost), lostByStern.plus(heard.damage())
	}
	own, other := median(ours), median(others)
	c.row(fmt.Sprintf("jobs logs -f / stern, %d hosts with %d lines each", hostCount, linesOfEach), ms(own), ms(other),
		fmt.Sprintf("%.2fx as fast", float64(other.wall)/float64(own.wall)), ">= 1.50x")
	c.row("CPU for that", cpu(own), cpu(other), fmt.Sprintf("%.2fx", float64(own.cpu)/float64(other.cpu)), "<= 1.00x")
	c.row("memory for that", mb(own.rss), mb(other.rss), fmt.Sprintf("%.2fx", float64(own.rss)/float64(other.rss)), "<= 1.00x")
	c.row(fmt.Sprintf("lines of it lost, doubled, out of order, in %d times", hostRounds), lost.String(), lostByStern.String(), "", "0, 0, 0")
	// At this level client-go logs its requests.
	loud, loudStern := c.followOurs(ctx, id), stern(ctx, id)
	loud.Args, loudStern.Args = append(loud.Args, "-v=3"), append(loudStern.Args, "--verbosity=3")
	if err := c.count(ctx, loud, loudStern); err != nil {
		return err
	}
	_, err = once(c.ours(ctx, "jobs", "cancel", id)())
	return err
}

// count prints how many requests followers send, and how often they report holding one
// back.
func (c *cluster) count(ctx context.Context, followers ...*exec.Cmd) error {
	var requests, waits []string
	for _, cmd := range followers {
		api, err := counter.Of(c.server, c.http.Transport)
		if err != nil {
			return err
		}
		kubeconfig, err := c.kubeconfig("counted", direct(api.URL))
		if err != nil {
			return err
		}
		var said bytes.Buffer
		cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
		cmd.Stderr = &said
		heard, _ := listen(ctx, cmd)
		api.Close()
		if d := heard.damage(); d.lost > 0 {
			return fmt.Errorf("%v: %d lines did not come: %s", cmd.Args, d.lost, said.Bytes())
		}
		requests = append(requests, strconv.FormatInt(api.Count.Load(), 10))
		waits = append(waits, strconv.Itoa(strings.Count(said.String(), "client-side throttling")))
	}
	c.row(fmt.Sprintf("requests of jobs logs -f / stern, %d hosts", hostCount), requests[0], requests[1], "", "")
	c.row("requests the client held back", waits[0], waits[1], "", "0")
	return nil
}

// restart: the API server is killed while all hosts of a job print and are followed.
func (c *cluster) restart(ctx context.Context) error {
	stern, err := c.buildStern(ctx)
	if err != nil {
		return err
	}
	var found []damage
	var costs []sample
	for _, tool := range []struct {
		name   string
		follow follower
	}{{"ours", c.followOurs}, {"kubectl", c.followAll}, {"stern", stern}} {
		d, cost, err := c.interrupt(ctx, "restart-"+tool.name, tool.follow)
		if err != nil {
			return err
		}
		found, costs = append(found, d), append(costs, cost)
	}
	c.row(fmt.Sprintf("API server killed: lines of %d lost, doubled, out of order", hostCount*linesOfEach),
		found[0].String(), fmt.Sprintf("%v kubectl; %v stern", found[1], found[2]), "", "0, 0, 0")
	c.row("CPU and memory for that", cpu(costs[0])+", "+mb(costs[0].rss), cpu(costs[2])+", "+mb(costs[2].rss)+" stern", "", "")
	return nil
}

// interrupt follows a job that prints, and kills the API server when a host is half done.
// The follower's own error doesn't matter: the lines show what was lost.
func (c *cluster) interrupt(ctx context.Context, id string, with follower) (damage, sample, error) {
	if err := c.printLines(ctx, id, printSeconds); err != nil {
		return damage{}, sample{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all := newHostLines(hostCount, linesOfEach)
	var cost sample
	ended := make(chan struct{})
	go func() {
		cost = all.listen(ctx, with(ctx, id))
		close(ended)
	}()
	select {
	case <-all.half:
	case <-ended:
		return damage{}, cost, fmt.Errorf("%s ended before half of the lines had come", id)
	}
	_, err := once(exec.CommandContext(ctx, "hack/cluster/restart-apiserver.sh"))
	<-ended
	if err != nil {
		return damage{}, cost, err
	}
	// Controllers and kubelets, which watch through client-go, may take up to a minute to
	// reconnect to a restarted API server: longer than jobs cancel waits for pods.
	_, err = once(c.kubectl(context.WithoutCancel(ctx), "delete", "leaderworkersets", "--selector", "job-id="+id,
		"--cascade=foreground", "--timeout", patience.String())())
	return all.damage(), cost, err
}

// printLines starts a job whose hosts all print at the same time, over some seconds, and
// then stay. It waits until all of them run, because kubectl gives up otherwise.
func (c *cluster) printLines(ctx context.Context, id string, seconds int) error {
	err := c.start(ctx, id, "print_lines", []string{fmt.Sprintf("lines=%d", linesOfEach), fmt.Sprintf("seconds=%d", seconds)},
		"--hosts", strconv.Itoa(hostCount), "--cpu", "20m", "--memory", "50Mi")
	if err != nil {
		return err
	}
	return c.watch(ctx, id, hostCount, hasBegun)
}

// allPrinted waits until all hosts have printed their last line.
func (c *cluster) allPrinted(ctx context.Context, id string) error {
	last := fmt.Sprintf("%d ", linesOfEach-1)
	for ctx.Err() == nil {
		tails, err := c.ours(ctx, "jobs", "logs", id, "--tail", "1")().Output()
		if err != nil {
			return err
		}
		if strings.Count(string(tails), "│ "+last) == hostCount {
			return nil
		}
		time.Sleep(time.Second)
	}
	return ctx.Err()
}

// followAll follows all pods of a job with kubectl.
func (c *cluster) followAll(ctx context.Context, id string) *exec.Cmd {
	return c.kubectl(ctx, "logs", "-f", "--selector", "job-id="+id, "--prefix", "--tail", "-1", "--max-log-requests", strconv.Itoa(hostCount))()
}
