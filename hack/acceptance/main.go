// Command acceptance proves that Kinetic works in a Google Cloud project: it makes a cluster there, runs jobs of
// sixteen kinds, takes everything down and writes a report. `make acceptance PROJECT=my-project` builds what it needs and
// starts it; docs/acceptance.md says more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
)

const hoursPerMonth = price.HoursPerMonth

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is the error of a run that may not begin: nothing was made.
type usageError struct{ error }

// Unwrap returns why it may not.
func (e usageError) Unwrap() error { return e.error }

var errInterrupted = errors.New("interrupted")

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// flags are what was typed.
type flags struct {
	project, zone, only, dir string
	maxCost                  float64
	keep, local              bool
}

func run(args []string, stdout, stderr io.Writer) int {
	var f flags
	fs := flag.NewFlagSet("acceptance", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&f.project, "project", "", "Google Cloud `PROJECT` in which the cluster is made")
	fs.StringVar(&f.zone, "zone", "us-central1", "`ZONE`, or region, of the cluster")
	fs.StringVar(&f.only, "only", "", "run only these `STEPS`, with commas: "+strings.Join(names(jobs), ","))
	fs.Float64Var(&f.maxCost, "max-cost", 20, "skip a step rather than have the run cost more than this many `USD` at list prices")
	fs.BoolVar(&f.keep, "keep", false, "take nothing down in the end")
	fs.BoolVar(&f.local, "local", false, "run in the servers of make demo-gke, with the cluster of this machine: make acceptance-local")
	fs.StringVar(&f.dir, "dir", filepath.Join(".cache", "acceptance"), "`DIRECTORY` for the report and the logs")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	s, done, err := f.suite(fs.Args(), stdout)
	if err != nil {
		fmt.Fprintln(stderr, "acceptance:", err)
		return exitUsage
	}
	defer done()
	work, ending, stop := signals(stderr)
	defer stop()
	return s.exit(s.run(work, ending), stdout, stderr)
}

// suite returns the run that was asked for, and what to call after it.
func (f flags) suite(rest []string, stdout io.Writer) (s *suite, done func(), err error) {
	if f.project == "" {
		return nil, nil, errors.New("name the Google Cloud project in which to make a cluster: make acceptance PROJECT=my-project")
	}
	if len(rest) > 0 {
		return nil, nil, fmt.Errorf("unexpected argument %q", rest[0])
	}
	if !(f.maxCost > 0) {
		return nil, nil, fmt.Errorf("-max-cost %g: expected more than 0", f.maxCost)
	}
	steps, err := choose(f.only)
	if err != nil {
		return nil, nil, err
	}
	s = &suite{place: newPlace(f.project, f.zone), steps: steps, keep: f.keep, budget: budget{max: f.maxCost}, now: time.Now, pause: 5 * time.Second, out: stdout}
	if s.repository, err = os.Getwd(); err != nil {
		return nil, nil, err
	}
	if s.dir, err = filepath.Abs(filepath.Join(f.dir, s.place.cluster)); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, nil, err
	}
	log, err := os.Create(filepath.Join(s.dir, "run.log"))
	if err != nil {
		return nil, nil, err
	}
	s.client = client{env: environment(os.Environ(), s.dir, s.place, f.local), dir: s.dir, log: log}
	s.cloud, s.report.where = google{project: f.project}, "Google Cloud"
	if !f.local {
		return s, func() { _ = log.Close() }, nil
	}
	index, err := serveIndex(sixVersions...)
	if err != nil {
		return nil, nil, err
	}
	s.complete = true
	s.cloud, s.report.where = local{storage: os.Getenv("STORAGE_EMULATOR_HOST"), index: index.URL + "/simple"}, "local servers"
	return s, func() { index.Close(); _ = log.Close() }, nil
}

// environment returns the variables for the commands: those of this process, without settings of the user, and with
// files of the run's own, so that nothing of the user's is changed.
func environment(all []string, dir string, p place, local bool) []string {
	env := slices.DeleteFunc(slices.Clone(all), func(each string) bool {
		name, _, _ := strings.Cut(each, "=")
		return strings.HasPrefix(name, "KINETIC_") && (!local || !slices.Contains(ofJobs, name))
	})
	env = append(env, "KUBECONFIG="+filepath.Join(dir, "kubeconfig"), "KINETIC_PROFILES_FILE="+filepath.Join(dir, "profiles.json"))
	return append(env, p.environment()...)
}

func names(steps []step) []string {
	var all []string
	for _, s := range steps {
		all = append(all, s.name)
	}
	return all
}

// choose returns the jobs with these names, all for "".
func choose(only string) ([]step, error) {
	if only == "" {
		return jobs, nil
	}
	wanted := strings.Split(only, ",")
	for _, name := range wanted {
		if !slices.Contains(names(jobs), name) {
			return nil, fmt.Errorf("-only %s: there is no step %q; there are %s", only, name, strings.Join(names(jobs), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(s step) bool { return !slices.Contains(wanted, s.name) }), nil
}

// signals returns a context that the first signal ends, and one that the second ends. A reader of the output that has
// gone away ends nothing: what was made must be taken down.
func signals(stderr io.Writer) (work, ending context.Context, stop func()) {
	work, cancel := context.WithCancelCause(context.Background())
	ending, abandon := context.WithCancelCause(context.Background())
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-got
		cancel(errInterrupted)
		fmt.Fprintln(stderr, "acceptance: interrupted: taking down what was made; interrupt once more to leave it")
		<-got
		abandon(errInterrupted)
	}()
	return work, ending, func() { signal.Stop(got); cancel(nil); abandon(nil) }
}

// exit says how the run has ended, and returns the exit code.
func (s *suite) exit(err error, stdout, stderr io.Writer) int {
	var usage usageError
	if errors.As(err, &usage) { // nothing was made
		fmt.Fprintln(stderr, "acceptance:", err)
		if errors.Is(err, errInterrupted) {
			return exitInterrupted
		}
		return exitUsage
	}
	fmt.Fprintf(stdout, "\nat most %s at list prices; the report: %s\n", dollars(s.report.usd), filepath.Join(s.dir, "report.md"))
	code := 0
	if err != nil {
		fmt.Fprintln(stderr, "acceptance:", err)
		code = exitFailed
	}
	missed := s.report.count(skipped, noCapacity)
	if s.report.count(failed) > 0 || s.complete && missed > 0 {
		code = exitFailed
	}
	if s.complete && missed > 0 {
		fmt.Fprintf(stderr, "acceptance: steps that were not tried, although all can run here: %d\n", missed)
	}
	if errors.Is(err, errInterrupted) {
		code = exitInterrupted
	}
	if down := s.report.of("down"); code != 0 && !s.keep && down != passed {
		for _, p := range s.made {
			fmt.Fprintf(stderr, "acceptance: not everything was taken down; type: %s\n", p.typed())
		}
	}
	fmt.Fprintln(stdout, s.report.closing())
	return code
}
