//go:build unix

// Command bench measures what the README promises, as ratios to what a user
// would use instead, in one run on one machine. It asserts nothing: it prints.
//
// Run it with `make bench`, which builds the binaries first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
)

func main() {
	bin := flag.String("bin", "bin", "directory of the binaries to measure")
	only := flag.String("only", "", "run one benchmark: "+names())
	flag.Parse()
	if err := run(context.Background(), *bin, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(1)
	}
}

// bench is where a benchmark works.
type bench struct {
	bin  string // absolute
	dir  string // a directory of its own
	home []string
	out  *tabwriter.Writer
}

// benchmarks in the order in which they run.
var benchmarks = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"dry-run", (*bench).dryRun},
	{"front-door", (*bench).frontDoor},
	{"local", (*bench).local},
	{"runner", (*bench).runner},
	// Before packaging: Linux counts the memory of this process into that of
	// the ones it starts.
	{"memory", (*bench).memory},
	{"packaging", (*bench).packaging},
}

func names() string {
	var all string
	for i, b := range benchmarks {
		if i > 0 {
			all += ", "
		}
		all += b.name
	}
	return all
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
	for _, x := range benchmarks {
		if only != "" && only != x.name {
			continue
		}
		if err := x.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// row prints one figure.
func (b *bench) row(what, ours, instead, ratio, aim string) {
	fmt.Fprintf(b.out, "%s\t%s\t%s\t%s\t%s\n", what, ours, instead, ratio, aim)
}

// compare prints a time against another one.
func (b *bench) compare(what string, ours, instead sample, aim string) {
	b.row(what, ms(ours), ms(instead), fmt.Sprintf("%.2fx", float64(ours.wall)/float64(instead.wall)), aim)
}

func ms(s sample) string { return fmt.Sprintf("%.1f ms", float64(s.wall.Microseconds())/1000) }

func mb(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/(1<<20)) }

// write makes a file of the project that is run.
func (b *bench) write(name, text string) error {
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
