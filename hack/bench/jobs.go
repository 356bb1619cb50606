//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/hack/bench/counter"
	"github.com/kubectl-kinetic/kinetic/hack/bench/manyjobs"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// slowRuns is how often a command that takes seconds is measured.
const slowRuns = 5

// noop: a no-op function from the command line to its result.
func (c *cluster) noop(ctx context.Context) error {
	n := 0
	script := func() *exec.Cmd {
		n++
		name := fmt.Sprintf("pass-%d", n)
		return command(ctx, c.dir, c.env, "sh", "-ec",
			"kubectl create job "+name+" --image="+os.Getenv("KINETIC_IMAGE")+" -- python3 -c pass; "+
				"kubectl wait --for=condition=complete job/"+name+"; kubectl logs job/"+name)()
	}
	ours, kubectl, err := pair(slowRuns, c.ours(ctx, "run", "f.py:nothing", "--cpu", "100m"), script)
	if err != nil {
		return err
	}
	c.compare("run of a no-op function / kubectl create job + wait + logs of python3 -c pass", ours, kubectl, "<= 0.45x")
	return nil
}

// nowhere is hardware that the cluster does not have: nothing acts on a job for it, so it
// disturbs no measurement.
const nowhere = "a100"

// submit: an unchanged project again, compared with kubectl apply of its manifests.
func (c *cluster) submit(ctx context.Context) error {
	ours := func() *exec.Cmd { return c.ours(ctx, "run", "f.py:nothing", "-a", nowhere, "--detach")() }
	n := 0
	apply := func() *exec.Cmd {
		n++
		file := fmt.Sprintf("job-%d.yaml", n)
		// If there is no manifest, kubectl reports that.
		manifest, _ := c.ours(ctx, "run", "f.py:nothing", "-a", nowhere, "--job-id", fmt.Sprintf("applied-%d", n), "--dry-run=client", "-o", "yaml")().Output()
		_ = c.write(file, string(manifest))
		return c.kubectl(ctx, "apply", "-f", filepath.Join(c.dir, file))()
	}
	own, kubectl, err := pair(runs, ours, apply)
	if err != nil {
		return err
	}
	c.compare("run --detach of an unchanged project / kubectl apply of its manifests", own, kubectl, "<= 1.00x")
	ownTrips, err := c.roundTrips(ours)
	if err != nil {
		return err
	}
	trips, err := c.roundTrips(apply)
	if err != nil {
		return err
	}
	c.row("its round trips to API server + store", ownTrips, trips, "", "<= 6 to the store")
	return nil
}

// roundTrips counts the requests that a command sends to the API server and to
// the store.
func (c *cluster) roundTrips(cmd func() *exec.Cmd) (string, error) {
	api, err := counter.Of(c.server, c.http.Transport)
	if err != nil {
		return "", err
	}
	defer api.Close()
	storage, err := counter.Of(c.storage, http.DefaultTransport)
	if err != nil {
		return "", err
	}
	defer storage.Close()
	kubeconfig, err := c.kubeconfig("counted", direct(api.URL))
	if err != nil {
		return "", err
	}
	counted := cmd()
	counted.Env = append(counted.Env, "KUBECONFIG="+kubeconfig, "STORAGE_EMULATOR_HOST="+storage.URL)
	if _, err := once(counted); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d + %d", api.Count.Load(), storage.Count.Load()), nil
}

const (
	manyJobs   = 5000
	unfinished = 100
	creators   = 8
)

// list: many jobs at once.
func (c *cluster) list(ctx context.Context) error {
	// The jobs of other benchmarks would be listed, too.
	many := *c
	many.namespace += "-many"
	job, err := c.ours(ctx, "run", "f.py:nothing", "-n", many.namespace, "--job-id", "many-0", "--dry-run=client", "-o", "json")().Output()
	if err != nil {
		return err
	}
	if err := many.make(ctx, "/api/v1/namespaces", `{"metadata":{"name":"`+many.namespace+`"}}`); err != nil {
		return err
	}
	defer func() {
		_ = request(ctx, c.http, http.MethodDelete, c.server+"/api/v1/namespaces/"+many.namespace, "", nil)
	}()
	if err := many.populate(ctx, string(job)); err != nil {
		return err
	}
	ours, kubectl, err := pair(slowRuns, c.ours(ctx, "jobs", "list", "-n", many.namespace), c.kubectl(ctx, "get", "jobs", "-n", many.namespace))
	if err != nil {
		return err
	}
	c.compare(fmt.Sprintf("jobs list / kubectl get jobs, of %d jobs with a pod each, which kubectl doesn't read", manyJobs), ours, kubectl, "<= 0.35x")
	c.row("memory for that", mb(ours.rss), mb(kubectl.rss), fmt.Sprintf("%.2fx", float64(ours.rss)/float64(kubectl.rss)), "<= 0.50x")
	return many.complete(ctx)
}

// complete: the ID of one of many jobs, through kubectl, as when Tab is pressed. Most of them have
// succeeded, as in a namespace that is in use.
func (c *cluster) complete(ctx context.Context) error {
	if err := c.succeed(ctx, manyJobs-unfinished); err != nil {
		return err
	}
	onPath := append(slices.Clone(c.env), "PATH="+c.bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	offer := command(ctx, c.project(), onPath, "kubectl", "__complete", "kinetic", "jobs", "logs", "-n", c.namespace, "")
	offered, err := offer().Output()
	if err != nil {
		return err
	}
	if !strings.Contains(string(offered), "many-") { // completion is silent about what it can't do
		return fmt.Errorf("no job was offered: %s", offered)
	}
	ours, kubectl, err := pair(slowRuns, offer, c.kubectl(ctx, "__complete", "get", "jobs", "-n", c.namespace, ""))
	if err != nil {
		return err
	}
	binary := command(ctx, c.project(), onPath, filepath.Join(c.bin, "kubectl-kinetic_jobs"), "__complete", "logs", "-n", c.namespace, "")
	alone := command(ctx, c.project(), onPath, "kubectl", "__complete", "kinetic", "")
	parts, err := inTurn(runs, offer, binary, alone)
	if err != nil {
		return err
	}
	c.compare(fmt.Sprintf("Tab: IDs of %d jobs, %d unfinished / names of jobs for kubectl get", manyJobs, unfinished), ours, kubectl, "")
	c.compare("the same / kubectl without a cluster", parts[0], parts[2], "<= 300 ms")
	c.row("our program alone, without kubectl", ms(parts[1]), "", "", "")
	return nil
}

// succeed lets that many of the jobs be complete, as their controller would.
func (c *cluster) succeed(ctx context.Context, number int) error {
	status := manyjobs.Success(time.Now())
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for i := range number {
		g.Go(func() error {
			url := fmt.Sprintf("%s/apis/batch/v1/namespaces/%s/jobs/%smany-%d/status", c.server, c.namespace, api.JobNamePrefix, i+1)
			return request(ctx, c.http, http.MethodPatch, url, status, nil)
		})
	}
	return g.Wait()
}

// populate creates many suspended jobs, with a pod each, that no controller acts on.
func (c *cluster) populate(ctx context.Context, list string) error {
	job, pod, err := manyjobs.Idle(list)
	if err != nil {
		return err
	}
	if err := c.make(ctx, "/api/v1/namespaces/"+c.namespace+"/serviceaccounts", `{"metadata":{"name":"kinetic"}}`); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for i := range manyJobs {
		numbered := strings.NewReplacer("many-0", fmt.Sprintf("many-%d", i+1))
		g.Go(func() error {
			return errors.Join(c.make(ctx, "/apis/batch/v1/namespaces/"+c.namespace+"/jobs", numbered.Replace(job)),
				c.make(ctx, "/api/v1/namespaces/"+c.namespace+"/pods", numbered.Replace(pod)))
		})
	}
	return g.Wait()
}

// noticed: the time from when the API server reports that the container has ended to the
// exit of a command that waits for it.
func (c *cluster) noticed(ctx context.Context) error {
	var after []sample
	for i := range slowRuns {
		id := fmt.Sprintf("wait-%d", i)
		if err := c.start(ctx, id, "sleep", []string{"seconds=2"}); err != nil {
			return err
		}
		var known atomic.Int64
		g, watching := errgroup.WithContext(ctx)
		g.Go(func() error {
			err := c.watch(watching, id, 1, func(s containerState) bool { return s.Terminated != nil })
			known.Store(time.Now().UnixNano())
			return err
		})
		var ended time.Time
		g.Go(func() error {
			_, err := once(c.ours(watching, "jobs", "wait", id)())
			ended = time.Now()
			return err
		})
		if err := g.Wait(); err != nil {
			return err
		}
		after = append(after, sample{wall: ended.Sub(time.Unix(0, known.Load()))})
	}
	c.row("jobs wait ends, after the API server knows that the container has", ms(median(after)), "", "", "<= 100 ms")
	return nil
}
