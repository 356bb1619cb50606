package buildimage

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

func (o *options) print(all []built) error {
	if o.output != "" {
		return cli.Write(o.streams.Out, o.output, all)
	}
	t := ui.NewFitted(o.streams.Out, ui.Detect(o.streams.Out), true, ui.Column{Header: "category"}, ui.Column{Header: "image"},
		ui.Column{Header: "builder", Varies: true}, ui.Column{Header: "digest", Text: true}, ui.Column{Header: "time"})
	for _, b := range all {
		digest := b.Digest
		if b.err != nil {
			digest = "failed"
		}
		t.Row(b.Category, b.Image, cmp.Or(b.Builder, "-"), cmp.Or(digest, "-"), ui.Took(time.Duration(b.Seconds*float64(time.Second))))
	}
	return t.Flush()
}

// progress shows how far all images are, in one line.
type progress struct {
	bar        *ui.Progress
	categories []string

	mu    sync.Mutex
	steps map[string]string
}

func newProgress(u *ui.UI, categories []string) *progress {
	return &progress{bar: u.ProgressText("images", "starting"), categories: categories, steps: map[string]string{}}
}

func (p *progress) step(category, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps[category] = what
	p.bar.Show(p.text())
}

func (p *progress) text() string {
	var all []string
	for _, c := range p.categories {
		if p.steps[c] != "" {
			all = append(all, c+": "+p.steps[c])
		}
	}
	return strings.Join(all, "; ")
}

func (p *progress) done() { p.bar.Done() }
