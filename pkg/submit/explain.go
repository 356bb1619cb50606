package submit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Explanation says what a run would do. Its JSON form is a contract; parts that
// don't apply are null.
type Explanation struct {
	Target      ExplainedTarget      `json:"target"`
	Accelerator ExplainedAccelerator `json:"accelerator"`
	Bundle      ExplainedBundle      `json:"bundle"`
	Deps        *ExplainedDeps       `json:"deps"`
	Image       *ExplainedImage      `json:"image"`
	Job         ExplainedJob         `json:"job"`
	Warnings    []string             `json:"warnings"`
}

// ExplainedTarget is where the job goes.
type ExplainedTarget struct {
	Project   *string `json:"project"`
	Zone      *string `json:"zone"`
	Cluster   *string `json:"cluster"`
	Context   *string `json:"context"`
	Namespace *string `json:"namespace"`
	Store     *string `json:"store"`
}

// ExplainedAccelerator is the shape that the text given for it means.
type ExplainedAccelerator struct {
	Kind     api.AcceleratorKind `json:"kind"`
	Name     string              `json:"name"`
	Topology *string             `json:"topology"`
	Chips    *int                `json:"chips"`
	// Hosts and Chips are those of all slices together.
	Hosts        int     `json:"hosts"`
	Slices       int     `json:"slices"`
	ChipsPerHost *int    `json:"chipsPerHost"`
	MachineType  *string `json:"machineType"`
	Spot         bool    `json:"spot"`
	Resource     *string `json:"resource"`
	// PricePerHour in USD, for all hosts.
	PricePerHour *float64 `json:"pricePerHour"`
	sentence     string
	priceBasis   string
}

// ExplainedBundle is what travels with the call.
type ExplainedBundle struct {
	Root string `json:"root"`
	// Entry is the file that is run, relative to Root.
	Entry *string         `json:"entry"`
	Files []ExplainedFile `json:"files"`
	Bytes int64           `json:"bytes"`
}

// ExplainedFile is one file of the bundle.
type ExplainedFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// ExplainedDeps are the dependencies to install.
type ExplainedDeps struct {
	Source       string   `json:"source"`
	Requirements []string `json:"requirements"`
	Dropped      []string `json:"dropped"`
}

// ExplainedImage is what the container runs.
type ExplainedImage struct {
	Mode string `json:"mode"`
	Ref  string `json:"ref"`
}

// ExplainedJob is what the job is called.
type ExplainedJob struct {
	ID string `json:"id"`
	// Name is the workload's name in Kubernetes, null for a local job.
	Name    *string     `json:"name"`
	Backend api.Backend `json:"backend"`
}

// Explain says what doing the plan would do.
func (p Planned) Explain() Explanation {
	s := p.Spec
	local := s.Backend == api.BackendLocal
	e := Explanation{
		Target:      ExplainedTarget{Store: &s.Store},
		Accelerator: explainAccelerator(s),
		Bundle:      ExplainedBundle{Root: p.Root, Entry: maybe(p.call.File), Bytes: p.Files.Bytes},
		Job:         ExplainedJob{ID: s.ID, Backend: s.Backend},
		Warnings:    append([]string{}, p.Warnings...),
	}
	e.Bundle.Files = make([]ExplainedFile, 0, len(p.Files.Index.Files))
	for _, f := range p.Files.Index.Files {
		e.Bundle.Files = append(e.Bundle.Files, ExplainedFile{Path: f.Path, Size: f.Size})
	}
	if local {
		return e
	}
	e.Target = ExplainedTarget{Project: maybe(s.Project), Zone: maybe(s.Zone), Cluster: maybe(s.Cluster),
		Context: maybe(p.Target.Context), Namespace: maybe(s.Namespace), Store: &s.Store}
	e.Image = &ExplainedImage{Mode: "custom", Ref: s.Image}
	name := s.JobName()
	e.Job.Name = &name
	return e
}

func explainAccelerator(s api.Spec) ExplainedAccelerator {
	a, times := s.Accelerator, s.Hosts/s.Accelerator.Hosts
	e := ExplainedAccelerator{Kind: a.Kind, Name: a.Name, Topology: maybe(a.Topology), Hosts: s.Hosts, Slices: s.Slices,
		MachineType: maybe(a.MachineType), Spot: a.Spot, Resource: maybe(a.Resource),
		sentence: accelerator.Describe(a), priceBasis: accelerator.PriceBasis(a)}
	if times > 1 {
		e.sentence = fmt.Sprintf("%d times %s", times, e.sentence)
	}
	if a.PricePerHour != nil {
		price := float64(times) * *a.PricePerHour
		e.PricePerHour = &price
	}
	if a.Chips > 0 {
		chips := times * a.Chips
		e.Chips, e.ChipsPerHost = &chips, &a.ChipsPerHost
	}
	return e
}

func maybe(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Sentences is the explanation for people; size spells a number of bytes.
func (e Explanation) Sentences(size func(int64) string) string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("job", "%s", e.Job.ID)
	if e.Job.Backend == api.BackendLocal {
		line("runs", "as a process of this machine")
	} else {
		line("runs", "as %s in namespace %s", *e.Job.Name, text(e.Target.Namespace))
		line("cluster", "%s (project %s, zone %s, context %s)", text(e.Target.Cluster), text(e.Target.Project), text(e.Target.Zone), text(e.Target.Context))
		line("accelerator", "%s%s", e.Accelerator.sentence, e.Accelerator.price())
		if e.Accelerator.Hosts > 1 || e.Job.Backend == api.BackendPathways {
			line("hosts", "%s", e.hosts())
		}
		line("image", "%s", e.Image.Ref)
	}
	line("store", "%s", text(e.Target.Store))
	line("bundle", "%d files, %s, from %s", len(e.Bundle.Files), size(e.Bundle.Bytes), e.Bundle.Root)
	for _, w := range e.Warnings {
		line("warning", "%s", w)
	}
	return b.String()
}

// hosts says what several hosts are to each other.
func (e Explanation) hosts() string {
	count := strconv.Itoa(e.Accelerator.Hosts)
	if e.Accelerator.Slices > 1 {
		count += fmt.Sprintf(" in %d slices", e.Accelerator.Slices)
	}
	if e.Job.Backend == api.BackendPathways {
		return count + ", as a LeaderWorkerSet: all start again when one is lost; no Pathways runtime is started"
	}
	return count + ", as an Indexed Job: all fail when one is lost"
}

func (a ExplainedAccelerator) price() string {
	switch {
	case a.Kind == api.CPU:
		return ""
	case a.PricePerHour == nil:
		return ", price unknown"
	default:
		return fmt.Sprintf(", about $%.2f an hour (list price, %s)", *a.PricePerHour, a.priceBasis)
	}
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
