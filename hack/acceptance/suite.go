package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// suite is one run.
type suite struct {
	place      place
	steps      []step // that were asked for
	cloud      cloud
	client     client // of this place; its log is that of the run
	dir        string // everything that the run writes is below it
	repository string // the checkout
	keep       bool
	complete   bool // all steps can run here: one that was not tried is a failure
	budget     budget
	now        func() time.Time
	pause      time.Duration // between looks
	out        io.Writer

	report report
	// made are the clusters that may be there, whole or in parts.
	made []place
}

const (
	// mostNodes is how many machines the cluster itself has at most. So it costs at most that many times what it
	// costs with one, however many of them jobs fill.
	mostNodes = 3
	upLimit   = 45 * time.Minute
	// poolLimit is how long the removal of a node pool may take, and downLimit that of everything.
	poolLimit = 15 * time.Minute
	downLimit = 45 * time.Minute
)

// run makes the cluster, runs the jobs and takes everything down, also after work was cancelled: only ending ends
// that. The error is about what was not done; steps that failed are in the report.
func (s *suite) run(work, ending context.Context) error {
	if err := s.prepare(work); err != nil {
		return usageError{err}
	}
	fmt.Fprintf(s.out, "Cluster %s, at most $%g at list prices. Should this be cut off where it can't take that down, type\n\n  %s\n\n", s.place.cluster, s.budget.max, s.place.typed())
	s.made, s.budget.began = []place{s.place}, s.now()
	up := s.row(work, step{name: "up", what: "a cluster", limit: upLimit, run: makeCluster})
	if up.verdict == passed {
		s.row(work, step{name: "doctor", what: "doctor and status of the new cluster", limit: 5 * time.Minute, run: doctor})
		for _, st := range s.steps {
			s.row(work, st)
		}
	}
	if s.keep {
		fmt.Fprintf(s.out, "\nThe cluster stays, and costs money, until you type\n\n  %s\n\n", s.place.typed())
		return context.Cause(work)
	}
	s.row(ending, step{name: "down", what: "everything is taken down", limit: downLimit, run: takeAllDown})
	s.row(ending, step{name: "left", what: "nothing is left", limit: 10 * time.Minute, run: nothingLeft})
	return errors.Join(context.Cause(work), context.Cause(ending))
}

// prepare looks whether the run may begin, and changes nothing.
func (s *suite) prepare(ctx context.Context) error {
	if err := s.cloud.check(ctx, s.client); err != nil {
		return err
	}
	for _, p := range []place{s.place, s.place.autopilot()} {
		found, err := s.found(ctx, p)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("project %s has a %s already: repeat the command, which chooses another name", p.project, found[0])
		}
	}
	perHour, err := s.perHour(ctx, s.client)
	if err != nil {
		return err
	}
	s.budget.cluster = perHour * mostNodes
	if why := s.budget.refuse(s.now(), 0, upLimit); why != "" {
		return fmt.Errorf("the cluster alone: %s", why)
	}
	s.report.begin(s.now(), s.place.zone)
	return nil
}

// perHour returns what a cluster costs at list prices while no job runs, as its plan has it.
func (s *suite) perHour(ctx context.Context, c client, flags ...string) (float64, error) {
	plan, err := decode[struct {
		Price struct {
			PerMonth float64  `json:"perMonth"`
			Unknown  []string `json:"unknown"`
		} `json:"listPrice"`
	}](ctx, c, append([]string{"up", "--dry-run"}, flags...)...)
	if err == nil && len(plan.Price.Unknown) > 0 {
		err = fmt.Errorf("the price of %s is not known, so that --max-cost can't be held", plan.Price.Unknown[0])
	}
	return plan.Price.PerMonth / hoursPerMonth, err
}

// row runs a step, and adds it to the report.
func (s *suite) row(ctx context.Context, st step) row {
	begin := s.now()
	r := row{name: st.name, what: st.what, unproven: s.cloud.unproven(st.name)}
	price, err := s.mayTry(ctx, st)
	if err == nil {
		err = s.attempt(ctx, st, price)
		r.usd = price * s.now().Sub(begin).Hours()
		s.budget.steps += r.usd
	}
	r.verdict, r.why = judge(err)
	r.took = s.now().Sub(begin)
	s.report.add(r, s.budget.spent(s.now()))
	fmt.Fprintln(s.out, s.report.line(r))
	if err := s.report.write(filepath.Join(s.dir, "report.md")); err != nil {
		fmt.Fprintln(s.out, "writing the report:", err)
	}
	return r
}

// mayTry returns the price of a step for an hour, or why it is not tried.
func (s *suite) mayTry(ctx context.Context, st step) (float64, error) {
	if why := s.cloud.lacks(st); why != "" {
		return 0, absentError(why)
	}
	price, err := s.rate(ctx, st)
	if ctx.Err() != nil {
		err = skipError(context.Cause(ctx).Error())
	}
	if why := s.budget.refuse(s.now(), price, st.limit+poolLimit); err == nil && why != "" && isJob(st) {
		err = skipError(why)
	}
	return price, err
}

// isJob reports whether a step can be left out.
func isJob(st step) bool {
	return slices.ContainsFunc(jobs, func(each step) bool { return each.name == st.name })
}

// rate returns what a step costs for an hour at list prices, beside the cluster.
func (s *suite) rate(ctx context.Context, st step) (float64, error) {
	switch {
	case st.name == "autopilot":
		return s.perHour(ctx, s.client.with(s.place.autopilot().environment()...), "--autopilot")
	case st.accelerator == "":
		return 0, nil
	}
	t := &trial{step: st, client: s.client, suite: s}
	if err := t.project("chips"); err != nil {
		return 0, err
	}
	args := []string{"run", "chips.py:hosts", "--explain", "--accelerator", st.accelerator}
	if st.backend != "" {
		args = append(args, "--backend", st.backend)
	}
	explained, err := decode[struct {
		Accelerator struct {
			PerHour *float64 `json:"pricePerHour"`
		} `json:"accelerator"`
	}](ctx, t.client, args...)
	if err == nil && explained.Accelerator.PerHour == nil {
		err = skipError(fmt.Sprintf("the price of %s is not known, so that --max-cost can't be held", st.accelerator))
	}
	if err != nil {
		return 0, err
	}
	return *explained.Accelerator.PerHour, nil
}

// attempt runs a step, with its node pool and with a log of its own. A job of it that did not end is cancelled.
func (s *suite) attempt(ctx context.Context, st step, price float64) (err error) {
	log, err := os.Create(filepath.Join(s.dir, st.name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	limited, cancel := context.WithTimeoutCause(ctx, st.limit, fmt.Errorf("it took longer than %s", st.limit))
	defer cancel()
	t := &trial{step: st, client: s.client, suite: s, price: &price}
	t.log = log
	if st.accelerator != "" {
		if err := t.addPool(limited); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.removePool(ctx)) }()
	}
	if err = st.run(limited, t); err != nil && ctx.Err() == nil && isJob(st) {
		// That of an earlier step has ended, and is left alone.
		_, _ = t.kinetic(ctx, "jobs", "cancel", "--selector", "owner="+s.place.cluster)
	}
	return err
}

func (t *trial) addPool(ctx context.Context) error {
	// Nobody is there to say yes to nodes that stay on.
	args := append([]string{"pool", "add", t.accelerator, "--yes", "--name", "acceptance-" + t.name}, t.pool...)
	if t.backend != "" {
		args = append(args, "--backend", t.backend)
	}
	_, err := t.kinetic(ctx, args...)
	return err
}

// removePool removes it, unless everything is taken down next.
func (t *trial) removePool(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, poolLimit, fmt.Errorf("the removal of the node pool took longer than %s", poolLimit))
	defer cancel()
	_, err := t.kinetic(ctx, "pool", "remove", "acceptance-"+t.name, "--yes", "--force", "--ignore-not-found")
	return err
}
