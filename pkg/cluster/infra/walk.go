package infra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Told is called when something happens to a resource, from several goroutines.
type Told func(Event)

// Event is something that happened to a resource.
type Event struct {
	ID ID
	// Done says that it is over, else it begins.
	Done bool
	Err  error
}

// Failure is the error of a list of resources. The resources that don't depend on those that failed
// were finished.
type Failure struct {
	// Failed are the errors of the resources, in the order of the list.
	Failed []error
	// Skipped are the resources that nothing was done about, because others failed.
	Skipped []ID
	// Cut is the error of the context if that ended, else nil.
	Cut error
}

// Error returns all errors in one line. Those that have the same reason, or the same command to type next, are
// one: a project that may not be used is one mistake.
func (f *Failure) Error() string {
	text := strings.Join(once(f.Unwrap()), "; ")
	if len(f.Skipped) == 0 {
		return text
	}
	return fmt.Sprintf("%s; not tried: %s", text, f.skipped())
}

// once returns the texts of the errors, one for each reason, with the number of the others.
func once(errs []error) []string {
	var firsts []string // of each reason
	count := map[string]int{}
	var reasons []string
	for _, err := range errs {
		reason := reasonOf(err)
		if count[reason]++; count[reason] == 1 {
			firsts, reasons = append(firsts, err.Error()), append(reasons, reason)
		}
	}
	for i, reason := range reasons {
		if more := count[reason] - 1; more > 0 {
			doing, why, _ := strings.Cut(firsts[i], ": ")
			firsts[i] = fmt.Sprintf("%s (and %d more): %s", doing, more, why)
		}
	}
	return firsts
}

// reasonOf returns the command to type next or, if there is none, what follows what was being done.
func reasonOf(err error) string {
	var known interface{ Next() string }
	if errors.As(err, &known) && known.Next() != "" {
		return known.Next()
	}
	if _, why, found := strings.Cut(err.Error(), ": "); found {
		return why
	}
	return err.Error()
}

// skipped names the resources that were skipped, at most three.
func (f *Failure) skipped() string {
	const most = 3
	var names []string
	for _, id := range f.Skipped[:min(most, len(f.Skipped))] {
		names = append(names, id.String())
	}
	if more := len(f.Skipped) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// Unwrap returns the errors.
func (f *Failure) Unwrap() []error {
	said := slices.ContainsFunc(f.Failed, func(err error) bool { return errors.Is(err, f.Cut) })
	if f.Cut == nil || said {
		return f.Failed
	}
	return append([]error{f.Cut}, f.Failed...)
}

// walk calls do for all resources at once, for each when its call returned for those that come
// before it. It skips those that come after one that failed, and all after the context ends.
func walk(ctx context.Context, list []Resource, before func(Item) []ID, do func(context.Context, Resource) error) error {
	w := walker{ended: map[ID]*ending{}}
	for _, r := range list {
		w.ended[r.ID] = &ending{done: make(chan struct{})}
	}
	var workers sync.WaitGroup
	for _, r := range list {
		workers.Go(func() {
			e := w.ended[r.ID]
			defer close(e.done)
			if e.skipped = !w.ready(ctx, before(r.Item)); !e.skipped {
				e.err = do(ctx, r)
			}
		})
	}
	workers.Wait()
	return w.failure(ctx, list)
}

type walker struct{ ended map[ID]*ending }

// ending is what became of a resource, after done is closed.
type ending struct {
	done    chan struct{}
	err     error
	skipped bool
}

// ready waits for the resources that come before one, and reports whether they are there. It waits
// for their calls even if the context ended: these return soon.
func (w walker) ready(ctx context.Context, before []ID) bool {
	all := true
	for _, id := range before {
		e := w.ended[id]
		if e == nil { // not in the list: nothing to wait for
			continue
		}
		<-e.done
		all = all && e.err == nil && !e.skipped
	}
	return all && ctx.Err() == nil
}

// failure returns a *Failure, or nil.
func (w walker) failure(ctx context.Context, list []Resource) error {
	f := &Failure{}
	for _, r := range list {
		switch e := w.ended[r.ID]; {
		case e.skipped:
			f.Skipped = append(f.Skipped, r.ID)
		case e.err != nil:
			f.Failed = append(f.Failed, e.err)
		}
	}
	if len(f.Failed) == 0 && len(f.Skipped) == 0 {
		return nil
	}
	f.Cut = ctx.Err()
	return f
}
