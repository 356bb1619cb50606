//go:build unix

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/hack/bench/depot"
	"github.com/kubectl-kinetic/kinetic/hack/bench/slowline"
)

const (
	// imageRuns is how often an image is made in each way; the median counts.
	imageRuns = 3
	// changedProject has a wheel of half a megabyte.
	changedProject = "pydantic"
	// The slow line is one from home: its round trip, and what it sends in a second.
	slowRoundTrip = 40 * time.Millisecond
	slowUp        = 20e6 / 8
)

// imageBench is what the figures of images are measured with.
type imageBench struct {
	*bench
	*depot.Depot
	self string // this program
	base string
	n    int // of the projects and directories so far
}

// images: the image of a locked set of packages, compared with pip and one layer.
func (b *bench) images(ctx context.Context) (err error) {
	d, err := depot.Open(ctx, filepath.Join(b.dir, "images"))
	if err != nil {
		return err
	}
	defer d.Close()
	i := &imageBench{bench: b, Depot: d}
	if i.self, err = os.Executable(); err != nil {
		return err
	}
	if err := d.MakeWheels(ctx, changedProject, changes); err != nil {
		return err
	}
	if i.base, err = d.PutBase(ctx, "1"); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{i.cold, i.change, i.again, i.slow, i.unpack, i.large, i.lines} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// set describes the packages.
func (i *imageBench) set() string {
	var size int64
	files := 0
	all := i.Lock(0)
	for _, w := range all {
		size, files = size+w.Size, files+w.Files
	}
	return fmt.Sprintf("%d wheels, %s, %d files", len(all), mb(size), files)
}

// project makes a project with a lock, and returns its directory.
func (i *imageBench) project(lock []depot.Wheel) (string, error) {
	i.n++
	dir := fmt.Sprintf("images/project%d", i.n)
	err := i.write(dir+"/requirements.txt", "--index-url "+i.IndexURL()+"\n"+depot.Requirements(lock))
	return filepath.Join(i.dir, dir), err
}

// A making is how an image is made, and what was reported of it.
type making struct {
	*imageBench
	ctx        context.Context
	host       string // of the registry
	repository string // "" for a new one each time
	noBytecode bool
	limit      int64
	locked     func() []depot.Wheel
	reports    []provided
}

// command returns the command that makes the image, which writes its report.
func (m *making) command() *exec.Cmd {
	dir, err := m.project(m.locked())
	if err != nil {
		return &exec.Cmd{Err: err}
	}
	repository, memory := m.repository, m.repository
	if repository == "" {
		repository, memory = fmt.Sprintf("cold%d/env", m.n), fmt.Sprintf("cold%d", m.n)
	}
	return command(m.ctx, dir, m.home, m.self, "provide", "-project", dir, "-base", strings.Replace(m.base, m.Registry, m.host, 1), "-repository", m.host+"/"+repository,
		"-memory", filepath.Join(m.dir, "images", "memory", memory, m.host), "-report", m.reportFile(), fmt.Sprintf("-bytecode=%t", !m.noBytecode), fmt.Sprint("-limit=", m.limit))()
}

func (m *making) reportFile() string { return filepath.Join(m.dir, "images", "report.json") }

// run makes the image once, and reads the report.
func (m *making) run() (sample, provided, error) {
	s, err := once(m.command())
	if err != nil {
		return s, provided{}, err
	}
	var report provided
	text, err := os.ReadFile(m.reportFile())
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	return s, report, err
}

func (i *imageBench) making(ctx context.Context, repository string) *making {
	return &making{imageBench: i, ctx: ctx, host: i.Registry, repository: repository, locked: func() []depot.Wheel { return i.Lock(0) }}
}

// oneLayer returns what users do instead: pip installs into a directory, which becomes a layer.
func (i *imageBench) oneLayer(ctx context.Context, options string) func() *exec.Cmd {
	return func() *exec.Cmd {
		i.n++
		dir := filepath.Join(i.dir, fmt.Sprintf("images/layer%d", i.n))
		if err := i.write("images/lock.txt", depot.Requirements(i.Lock(0))); err != nil {
			return &exec.Cmd{Err: err}
		}
		script := fmt.Sprintf("set -e; %s --target %[2]s; tar -C %[2]s -cf %[2]s.tar .; %[3]s append %[2]s.tar %[4]s %[5]s/layer%[6]d:1; rm -rf %[2]s %[2]s.tar",
			i.pip(options), dir, i.self, i.base, i.Registry, i.n)
		return command(ctx, i.dir, i.home, "sh", "-c", script)()
	}
}

// pip returns the command by which pip installs the lock. It reads the wheels from their
// directory, which is faster than from an index.
func (i *imageBench) pip(options string) string {
	return fmt.Sprintf("python3 -m pip install -q --disable-pip-version-check --no-cache-dir --root-user-action ignore --no-deps --require-hashes --no-index --find-links %s -r %s %s",
		i.Dir, filepath.Join(i.dir, "images/lock.txt"), options)
}

// turns makes an image and something else in turn. It returns both times, and the last report.
func (m *making) turns(instead func() *exec.Cmd) (ours, others sample, report provided, err error) {
	var all, rest []sample
	for n := range imageRuns + 1 {
		s, r, err := m.run()
		if err != nil {
			return ours, others, report, err
		}
		o, err := once(instead())
		if err != nil {
			return ours, others, report, err
		}
		if n > 0 { // the first is the warm-up
			all, rest, report = append(all, s), append(rest, o), r
			m.reports = append(m.reports, r)
		}
	}
	return median(all), median(rest), report, nil
}

// cold: everything for the first time, without and with bytecode.
func (i *imageBench) cold(ctx context.Context) error {
	for _, c := range []struct {
		what, aim, pip string
		noBytecode     bool
	}{
		{"without bytecode", "<= 5000 ms", "--no-compile", true},
		{"with bytecode", "<= 15000 ms", "", false},
	} {
		m := i.making(ctx, "")
		m.noBytecode = c.noBytecode
		ours, others, report, err := m.turns(i.oneLayer(ctx, c.pip))
		if err != nil {
			return err
		}
		i.times(fmt.Sprintf("image of %s, first, %s / pip install + one layer", i.set(), c.what), ours, others, c.aim)
		i.row("sent and asked for that", traffic(report), "", "", "")
		i.work(ours, others)
		i.row("memory for that", mb(ours.rss), mb(others.rss), "", "")
	}
	return nil
}

// times prints how many times faster something is.
func (i *imageBench) times(what string, ours, instead sample, aim string) {
	i.row(what, ms(ours), ms(instead), fmt.Sprintf("%.1fx faster", float64(instead.wall)/float64(ours.wall)), aim)
}

// work prints the work of processors for the same, which does not depend on what else runs.
func (i *imageBench) work(ours, instead sample) {
	i.row("CPU for that", cpu(ours), cpu(instead), fmt.Sprintf("%.1fx less", float64(instead.cpu)/float64(ours.cpu)), "")
}

func traffic(r provided) string {
	return fmt.Sprintf("%.2f MB, %d requests", float64(r.Sent)/(1<<20), r.Requests)
}

// changes is how often the changed project is changed: for a warm-up, for each run, and on the
// slow line.
const changes = imageRuns + 2

// team is the repository that has the images of the unchanged set.
const team = "team/env"

// change: one wheel of the set is another one.
func (i *imageBench) change(ctx context.Context) error {
	m := i.making(ctx, team)
	if _, _, err := m.run(); err != nil {
		return err
	}
	change := 0
	m.locked = func() []depot.Wheel { change++; return i.Lock(change) }
	ours, others, report, err := m.turns(i.oneLayer(ctx, ""))
	if err != nil {
		return err
	}
	var after []sample
	for _, r := range m.reports {
		after = append(after, sample{wall: r.All - r.Resolved})
	}
	i.times("image after a change of one wheel, whole process / pip install + one layer", ours, others, ">= 5x faster")
	i.work(ours, others)
	i.row("that, after resolving", ms(median(after)), "", "", "<= 500 ms")
	i.row("sent and asked for that", traffic(report), "", "", "its bytes")
	return nil
}

// again: the image is there; and another base gets the same packages.
func (i *imageBench) again(ctx context.Context) error {
	m := i.making(ctx, team)
	if _, _, err := m.run(); err != nil {
		return err
	}
	head := func() *exec.Cmd {
		return command(ctx, i.dir, nil, "curl", "-sfIo", os.DevNull, "http://"+i.Registry+"/v2/python/manifests/1")()
	}
	ours, others, report, err := m.turns(head)
	if err != nil {
		return err
	}
	i.row("image that is there, whole process / curl -I", ms(ours), ms(others), "+"+ms(sample{wall: ours.wall - others.wall}), "")
	var alone []sample
	for _, r := range m.reports {
		alone = append(alone, sample{wall: r.All})
	}
	i.row("that by itself", ms(median(alone)), "", traffic(report), "1 HEAD, <= 50 ms")
	second, err := i.PutBase(ctx, "2")
	if err != nil {
		return err
	}
	first := i.base
	i.base = second
	defer func() { i.base = first }()
	s, report, err := m.run()
	if err != nil {
		return err
	}
	i.row("image with another base, whole process", ms(s), "", traffic(report), "nothing of the wheels")
	return nil
}

// slow: the same on a line from home.
func (i *imageBench) slow(ctx context.Context) error {
	l, err := slowline.To(i.Registry, slowRoundTrip, slowUp)
	if err != nil {
		return err
	}
	defer l.Close()
	m := i.making(ctx, team)
	m.host = l.Addr().String()
	on := fmt.Sprintf(", %d ms and %.0f Mbit/s away", slowRoundTrip.Milliseconds(), slowUp*8/1e6)
	if _, _, err := m.run(); err != nil { // the base has another name there
		return err
	}
	m.locked = func() []depot.Wheel { return i.Lock(changes) }
	for _, what := range []string{"image after a change of one wheel", "image that is there"} {
		s, report, err := m.run()
		if err != nil {
			return err
		}
		i.row(what+on, ms(s), "", traffic(report), "")
	}
	return nil
}

//go:embed unpack.py
var unpackScript string

// unpack: the pod's part of prebuilt mode, compared with pip that has the same lock.
func (i *imageBench) unpack(ctx context.Context) error {
	type entry struct {
		File   string `json:"file"`
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
	}
	store := filepath.Join(i.dir, "images", "store")
	var entries []entry
	for _, w := range i.Lock(0) {
		entries = append(entries, entry{w.File, w.SHA256, w.Size})
		blob := filepath.Join(store, "blobs", "sha256", w.SHA256[:2], w.SHA256)
		if err := errors.Join(os.MkdirAll(filepath.Dir(blob), 0o755), os.Link(filepath.Join(i.Dir, w.File), blob)); err != nil {
			return err
		}
	}
	python, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil {
		return err
	}
	list, err := json.Marshal(map[string]any{"version": 1, "python": strings.TrimSpace(string(python)), "wheels": entries})
	if err != nil {
		return err
	}
	if err := errors.Join(i.write("images/list.json", string(list)), i.write("images/lock.txt", depot.Requirements(i.Lock(0)))); err != nil {
		return err
	}
	target := func() string { i.n++; return filepath.Join(i.dir, fmt.Sprintf("images/unpacked%d", i.n)) }
	ours := func() *exec.Cmd {
		return command(ctx, "runner", nil, "python3", "-c", unpackScript, ".", "file://"+store, filepath.Join(i.dir, "images", "list.json"), target())()
	}
	pip := func(options string) func() *exec.Cmd {
		return func() *exec.Cmd {
			return command(ctx, i.dir, i.home, "sh", "-c", i.pip(options+" --target "+target()))()
		}
	}
	medians, err := inTurn(imageRuns, ours, pip(""), pip("--no-compile"))
	if err != nil {
		return err
	}
	for n, how := range []string{"", " --no-compile"} {
		i.times("packages unpacked by the runner / pip install --no-deps --require-hashes"+how, medians[0], medians[n+1], ">= 3x faster")
		i.work(medians[0], medians[n+1])
	}
	return nil
}
