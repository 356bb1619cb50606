package resolve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

type job struct {
	Resolver
	wish    Request
	sources Sources
	tool    tool

	dir      string // private, removed afterwards
	requires string // the paths of the files
	limits   string // "" without constraints
	result   string
	took     time.Duration
}

func (j *job) run(ctx context.Context) ([]deps.Package, error) {
	dir, err := os.MkdirTemp(j.TempDir, "kinetic-resolve-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary directory for %s: %w", j.tool.way(), err)
	}
	defer os.RemoveAll(dir)
	j.dir = dir
	if err := j.write(); err != nil {
		return nil, fmt.Errorf("writing the requirements for %s: %w", j.tool.way(), err)
	}
	path, args := j.tool.command(j)
	environ := append(slices.Clone(j.environ()), "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir, "NO_COLOR=1", "PIP_USER=0", "PIP_REQUIRE_VIRTUALENV=0")
	if all := j.sources.Indexes; j.tool.way() == UV && len(all) > 0 && all[0].Option == "--index-url" {
		environ = append(environ, "UV_DEFAULT_INDEX="+all[0].Address()) // the file of requirements comes behind uv's own settings
	}
	began := time.Now()
	output, err := platform.Run(ctx, platform.Command{Path: path, Args: args, Dir: dir, Environ: environ, Line: j.line})
	j.took = time.Since(began)
	output = j.clean(output)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s did not end: %w", j.tool.way(), context.Cause(ctx))
	}
	if err != nil {
		return nil, j.explain(ctx, output, err)
	}
	packages, err := j.tool.read(j)
	if err == nil {
		err = located(packages)
	}
	if err == nil {
		err = j.check(packages)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what %s has chosen: %w", j.tool.way(), j.sources.HideIn(err))
	}
	return packages, nil
}

// write writes the files that the tool reads. Nobody else may: they may hold credentials.
func (j *job) write() error {
	var text strings.Builder
	for _, l := range j.wish.lines() {
		line, err := written(l)
		if err != nil {
			return err
		}
		fmt.Fprintln(&text, line)
	}
	for _, p := range j.sources.All() {
		address := p.Address()
		if p.Dir != "" && strings.ContainsAny(address, " \t") { // which would end it
			address = FileURL(p.Dir)
		}
		fmt.Fprintln(&text, p.Option, address)
	}
	for _, option := range slices.Concat(j.wish.Options, j.wish.AddedOptions) {
		switch name, _, _ := strings.Cut(option, " "); name {
		case "--index-url", "--extra-index-url", "--find-links": // are written
		case "--only-binary", "--no-binary": // wheels are all that is taken
		default:
			fmt.Fprintln(&text, option)
		}
	}
	j.requires, j.result = filepath.Join(j.dir, "requirements.txt"), filepath.Join(j.dir, "pylock.toml")
	if err := os.WriteFile(j.requires, []byte(text.String()), 0o600); err != nil {
		return err
	}
	if len(j.wish.Constraints) == 0 {
		return nil
	}
	text.Reset()
	for _, l := range j.wish.Constraints {
		fmt.Fprintln(&text, l.Text)
	}
	j.limits = filepath.Join(j.dir, "constraints.txt")
	return os.WriteFile(j.limits, []byte(text.String()), 0o600)
}

// written returns a requirement as it is written for the tool. Wheels that are files get their
// names and absolute paths. Hashes are left out, because pip wants them for all or none; what is
// chosen is compared with them afterwards.
func written(l deps.Line) (string, error) {
	if l.Path == "" {
		return l.Text, nil
	}
	name, err := wheel.ParseName(filepath.Base(l.Path))
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.Place(), err)
	}
	extras, marker := l.BesidePath()
	line := name.Project() + extras + " @ " + FileURL(l.Path)
	if marker != "" {
		line += " ; " + marker
	}
	return line, nil
}

func (j *job) check(packages []deps.Package) error {
	for _, p := range packages {
		if p.Wheel == nil {
			continue
		}
		n, err := wheel.ParseName(p.Wheel.File)
		if err == nil {
			_, err = wheel.Best([]wheel.Name{n}, j.wish.Target)
		}
		if err != nil {
			return fmt.Errorf("package %s: %w", p.Name, err)
		}
		if err := j.checkHash(p); err != nil {
			return err
		}
	}
	return Env{Packages: packages}.NeedsBuild()
}
