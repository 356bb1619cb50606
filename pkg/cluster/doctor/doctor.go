// Package doctor runs checks: what a job needs, one precondition each, all at the same time.
// It has the checks of a cluster, of this machine, of a project of Google Cloud with its bucket, and the trial: a pod that
// uses the store.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Check is one precondition.
type Check struct {
	// Group is the heading under which the result is shown.
	Group string
	Name  string
	// Needs are the names of checks before this one in the list. If one of them is wrong, this
	// one is skipped, and so are those that need this one.
	Needs []string
	// Within limits the time of Run, which begins when all Needs are known. Run is not limited if it is 0:
	// then it neither reads nor contacts anything.
	Within time.Duration
	// Slow says why Run may take longer although nothing is wrong, "" if then something is.
	Slow string
	Run  func(context.Context) Finding
}

// State says how a check ended.
type State string

// The states. Skipped means that the precondition doesn't matter here, or could not be looked at.
const (
	OK      State = "ok"
	Wrong   State = "wrong"
	Skipped State = "skipped"
)

// Finding is what a check found.
type Finding struct {
	State State `json:"state"`
	// Detail is one line: what there is, what is wrong, or why the check was skipped.
	Detail string `json:"detail"`
	// Fix is the command that fixes what is wrong, or what else to do; "" if Detail says it.
	Fix string `json:"fix,omitempty"`
	// Repair does it, if that is safe without a question; nil if not. It returns what it did.
	Repair func(context.Context) (did string, err error) `json:"-"`
	// lacks is the failed check that this one needs.
	lacks string
}

// Good returns the finding that a precondition is met.
func Good(format string, args ...any) Finding {
	return Finding{State: OK, Detail: fmt.Sprintf(format, args...)}
}

// Bad returns the finding that a precondition is not met, and the command that fixes it.
func Bad(fix, format string, args ...any) Finding {
	return Finding{State: Wrong, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

// Skip returns the finding of a check that doesn't apply or can't be made.
func Skip(format string, args ...any) Finding {
	return Finding{State: Skipped, Detail: fmt.Sprintf(format, args...)}
}

// Failed returns the finding that an error is what is wrong. What the error advises is the fix.
func Failed(err error) Finding {
	f := Finding{State: Wrong, Detail: err.Error()}
	var advice interface{ Next() string }
	if errors.As(err, &advice) {
		f.Fix = advice.Next()
	}
	return f
}

// Lacking returns the finding of a check that needs another one, which failed.
func Lacking(need string) Finding {
	f := Skip("needs: %s", need)
	f.lacks = need
	return f
}

// NeedError is why something can't be read: what the check of this name looks for is missing.
type NeedError string

func (e NeedError) Error() string { return "needs: " + string(e) }

// Missing returns the failed check that this one needs, "" if there is none.
func (f Finding) Missing() string { return f.lacks }

// Result is the finding of a check.
type Result struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	Finding
}

// Run makes all checks, each as soon as what it needs is known. The results are in the order of
// the checks. It takes no longer than Longest says, even if a check ignores its context.
func Run(ctx context.Context, checks []Check) []Result {
	results := make([]Result, len(checks))
	done := make([]chan struct{}, len(checks))
	for i := range checks {
		done[i] = make(chan struct{})
	}
	for i, c := range checks {
		go func() {
			defer close(done[i])
			results[i] = Result{c.Group, c.Name, c.after(ctx, results[:i], done, positions(checks[:i], c.Needs))}
		}()
	}
	for _, d := range done {
		<-d
	}
	return results
}

// after returns the finding of a check once those that it needs have ended.
func (c Check) after(ctx context.Context, earlier []Result, done []chan struct{}, needs []int) Finding {
	for i, at := range needs {
		if at < 0 {
			return Lacking(c.Needs[i])
		}
		<-done[at]
		if need := earlier[at]; need.State == Wrong {
			return Lacking(need.Name)
		} else if need.lacks != "" {
			return Lacking(need.lacks)
		}
	}
	return c.limited(ctx)
}

// limited runs a check for as long as it may take.
func (c Check) limited(ctx context.Context) Finding {
	if c.Within == 0 {
		return c.Run(ctx)
	}
	// A part of the time is for saying what failed when the rest was over.
	spare := c.Within / 10
	within, cancel := context.WithTimeout(ctx, c.Within-spare)
	found := make(chan Finding, 1)
	go func() {
		defer cancel()
		found <- c.Run(within)
	}()
	var f Finding
	ended := true
	select {
	case f = <-found:
	case <-within.Done():
		select {
		case f = <-found:
		case <-time.After(spare):
			ended = false
		}
	}
	// What fails because its time is over has not been found wrong, nor that it doesn't matter.
	slow := c.Slow != "" && errors.Is(within.Err(), context.DeadlineExceeded)
	switch {
	case ended && f.State == OK:
		return f
	case ctx.Err() != nil:
		return Skip("interrupted")
	case slow:
		return Skip("no answer within %s: %s", c.Within, c.Slow)
	case ended:
		return f
	}
	return Bad("", "no answer within %s", c.Within)
}

// positions returns where checks with these names are, -1 for those that are missing.
func positions(checks []Check, names []string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
	}
	return at
}

// Longest returns the longest time that checks can take together.
func Longest(checks []Check) time.Duration {
	ends := make([]time.Duration, len(checks))
	var longest time.Duration
	for i, c := range checks {
		for _, at := range positions(checks[:i], c.Needs) {
			if at >= 0 {
				ends[i] = max(ends[i], ends[at])
			}
		}
		ends[i] += c.Within
		longest = max(longest, ends[i])
	}
	return longest
}

// Count returns how many results have a state.
func Count(results []Result, state State) int {
	n := 0
	for _, r := range results {
		if r.State == state {
			n++
		}
	}
	return n
}

// Repaired is what became of a repair.
type Repaired struct {
	Name string
	// Did is what was done, "created Role kinetic-user"; if Err is not nil, before that.
	Did string
	Err error
}

// Repair repairs what is wrong and safe to repair, in the order of the results.
func Repair(ctx context.Context, results []Result) []Repaired {
	var all []Repaired
	for _, r := range results {
		if r.State != Wrong || r.Repair == nil {
			continue
		}
		did, err := r.Repair(ctx)
		all = append(all, Repaired{r.Name, did, err})
	}
	return all
}

// The limits of checks that read files or ask a server. All checks together take at most three seconds: the
// credentials, then the first answer, which a program that gets credentials may delay, then the rest at the
// same time.
const (
	FilesWithin  = 200 * time.Millisecond
	AnswerWithin = 1600 * time.Millisecond
	Within       = 1200 * time.Millisecond
)

// Once returns a function that reads something the first time it is called, for whichever check asks first.
func Once[T any](read func(context.Context) (T, error)) func(context.Context) (T, error) {
	var once sync.Once
	var value T
	var err error
	return func(ctx context.Context) (T, error) {
		once.Do(func() { value, err = read(ctx) })
		return value, err
	}
}
