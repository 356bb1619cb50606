//go:build unix

// Command bench measures what the README promises, as ratios to what a user would use
// instead, in one run on one machine. It only prints and asserts nothing.
//
// Run it with `make bench`, which builds the binaries first. It skips figures that need a
// cluster if the shell has none. One of them kills the cluster's API server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
)

func main() {
	bin := flag.String("bin", "bin", "directory of the binaries to measure")
	only := flag.String("only", "", "run one benchmark: "+names())
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, *bin, *only, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(1)
	}
}

// start runs the benchmarks, or one of the steps that they measure as processes of their own.
func start(ctx context.Context, bin, only string, args []string) error {
	if len(args) == 0 {
		return run(ctx, bin, only)
	}
	step, ok := steps[args[0]]
	if !ok {
		return fmt.Errorf("unknown step %s", args[0])
	}
	return step(ctx, args[1:])
}

// bench is what every benchmark uses.
type bench struct {
	bin  string // absolute
	dir  string // its own directory
	home []string
	out  *tabwriter.Writer
}

// benchmark is a named group of figures, measured with a place of type T.
type benchmark[T any] struct {
	name string
	run  func(T, context.Context) error
}

// benchmarks are in the order in which they run.
var benchmarks = []benchmark[*bench]{
	{"dry-run", (*bench).dryRun},
	{"slice", (*bench).slice},
	{"front-door", (*bench).frontDoor},
	{"settings", (*bench).settings},
	{"local", (*bench).local},
	{"runner", (*bench).runner},
	{"memory", (*bench).memory},
	{"packaging", (*bench).packaging},
	{"images", (*bench).images},
	{"data", (*bench).data},
	{"cache", (*bench).cache},
	{"python", (*bench).python},
}

func names() string {
	var all []string
	for _, x := range benchmarks {
		all = append(all, x.name)
	}
	for _, x := range clusterBenchmarks {
		all = append(all, x.name)
	}
	return strings.Join(all, ", ")
}

func run(ctx context.Context, bin, only string) error {
	absolute, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kinetic-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{bin: absolute, dir: dir, out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	for _, v := range []string{"HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		b.home = append(b.home, v+"="+filepath.Join(dir, "home"))
	}
	fmt.Fprintln(b.out, "WHAT\tOURS\tINSTEAD\tRATIO\tAIM")
	err = measure(ctx, b, benchmarks, b, only)
	if only != "" && !slices.ContainsFunc(clusterBenchmarks, func(x benchmark[*cluster]) bool { return x.name == only }) {
		return err
	}
	return errors.Join(err, b.onCluster(ctx, only))
}

// onCluster measures what needs a cluster, or says why that is skipped.
func (b *bench) onCluster(ctx context.Context, only string) error {
	c, err := b.connect(ctx)
	if errors.Is(err, errNoCluster) {
		_, err = fmt.Fprintf(os.Stdout, "the figures of a cluster are left out: %v\n", err)
		return err
	}
	if err != nil {
		return fmt.Errorf("preparing the cluster: %w", err)
	}
	err = measure(ctx, b, clusterBenchmarks, c, only)
	return errors.Join(err, c.close(context.WithoutCancel(ctx)))
}

// measure runs all benchmarks of a list, or the one called only. A failed one prints a row
// that says so, and the others still run.
func measure[T any](ctx context.Context, b *bench, list []benchmark[T], place T, only string) error {
	var errs []error
	for _, x := range list {
		if only != "" && only != x.name {
			continue
		}
		if err := x.run(place, ctx); err != nil {
			why, _, _ := strings.Cut(err.Error(), "\n")
			b.row(x.name, "failed: "+why, "", "", "")
			errs = append(errs, fmt.Errorf("%s: %w", x.name, err))
		}
		if err := b.out.Flush(); err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// row prints one figure.
func (b *bench) row(what, ours, instead, ratio, aim string) {
	fmt.Fprintf(b.out, "%s\t%s\t%s\t%s\t%s\n", what, ours, instead, ratio, aim)
}

// compare prints one time and its ratio to another.
func (b *bench) compare(what string, ours, instead sample, aim string) {
	b.row(what, ms(ours), ms(instead), fmt.Sprintf("%.2fx", float64(ours.wall)/float64(instead.wall)), aim)
}

func ms(s sample) string { return fmt.Sprintf("%.1f ms", float64(s.wall.Microseconds())/1000) }

func cpu(s sample) string { return fmt.Sprintf("%.1f s CPU", s.cpu.Seconds()) }

func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/(1<<20)) }

// write writes a file in the benchmark's directory.
func (b *bench) write(name, text string) error {
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
