// Package explain describes what a run would do, for people and as JSON: `run --explain`.
package explain

import (
	"cmp"
	"fmt"
	"path"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// Explanation describes what a run would do. Its JSON form is a contract; parts that don't
// apply are null.
type Explanation struct {
	Target      explainedTarget      `json:"target"`
	Accelerator explainedAccelerator `json:"accelerator"`
	Bundle      explainedBundle      `json:"bundle"`
	// Payload is the pickle of a call, null for any other call.
	Payload  *api.Payload    `json:"payload"`
	Data     []explainedData `json:"data"`
	Deps     *explainedDeps  `json:"deps"`
	Image    *explainedImage `json:"image"`
	Job      explainedJob    `json:"job"`
	Warnings []string        `json:"warnings"`
}

// explainedTarget is where the job goes. Zone and cluster are null unless the cluster is
// known to be on GKE, because defaults for them would mean nothing there.
type explainedTarget struct {
	Project   *string `json:"project"`
	Zone      *string `json:"zone"`
	Cluster   *string `json:"cluster"`
	Context   *string `json:"context"`
	Namespace *string `json:"namespace"`
	Store     *string `json:"store"`
	way       string
}

// explainedAccelerator is the shape that was asked for.
type explainedAccelerator struct {
	Kind     api.AcceleratorKind `json:"kind"`
	Name     string              `json:"name"`
	Topology *string             `json:"topology"`
	Chips    *int                `json:"chips"`
	// Hosts and Chips are totals over all slices.
	Hosts        int     `json:"hosts"`
	Slices       int     `json:"slices"`
	ChipsPerHost *int    `json:"chipsPerHost"`
	MachineType  *string `json:"machineType"`
	Spot         bool    `json:"spot"`
	Resource     *string `json:"resource"`
	// PricePerHour is the list price in USD, for all hosts. PriceBasis says where and when it holds.
	PricePerHour *float64 `json:"pricePerHour"`
	PriceBasis   *string  `json:"priceBasis"`
	// Network is what the GPUs of several hosts talk over, and NetworkReason why that is plain TCP;
	// null for one host, and for other accelerators.
	Network       *api.Network `json:"network"`
	NetworkReason *string      `json:"networkReason"`
	sentence      string
	network       string
}

type explainedBundle struct {
	Root string `json:"root"`
	// Entry is the file to run, relative to Root.
	Entry *string `json:"entry"`
	// SysPath are directories, relative to Root, where the job's Python looks for modules, in order.
	SysPath []string        `json:"sysPath"`
	Files   []explainedFile `json:"files"`
	Bytes   int64           `json:"bytes"`
	// LeftOut are directories with fetched outputs, relative to Root, null if there are none.
	LeftOut []string `json:"leftOut"`
}

type explainedFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// explainedDeps are the packages that the project says it needs.
type explainedDeps struct {
	// Source is the file that says so.
	Source       string   `json:"source"`
	Requirements []string `json:"requirements"`
	// Dropped are requirements that would be left out, because jobs get JAX in a version that
	// fits their accelerator.
	Dropped []string `json:"dropped"`
	// Local are projects that travel with the code.
	Local []string `json:"local"`
}

// count returns how many packages are required.
func (d *explainedDeps) count() int {
	if d == nil {
		return 0
	}
	return len(d.Requirements) + len(d.Dropped)
}

func explainDeps(w deps.Wanted) *explainedDeps {
	if w.Kind == deps.None {
		return nil
	}
	return &explainedDeps{Source: w.Source, Requirements: deps.Shown(w.Requirements), Dropped: deps.Shown(w.Dropped), Local: deps.Shown(w.Local)}
}

// explainedImage is what the container runs, and how its packages get there.
type explainedImage struct {
	Mode string `json:"mode"`
	// Ref is null until the lines of all files of requirements are known, on which the image's name depends.
	Ref *string `json:"ref"`
	// Base is the image that packages are installed on, null if there is nothing to install.
	Base *string `json:"base"`
	// Added are the requirements of the runtime.
	Added []string `json:"added"`
	// Resolved is what chooses the versions of packages, null if there is nothing to choose.
	Resolved *string `json:"resolved"`
	// Packages is how many there are, and Bytes how large they are together; null if that is only
	// known once they are resolved.
	Packages *int   `json:"packages"`
	Bytes    *int64 `json:"bytes"`
	// Chosen are the packages in their versions, null if that is only known once they are resolved.
	Chosen []report.Package `json:"chosen"`
	// Indexes are where the resolver looks for packages, in that order. Ignored are others that it does not ask.
	// Both are null if the packages are known.
	Indexes []provide.Index `json:"indexes"`
	Ignored []provide.Index `json:"ignoredIndexes"`
	// NoIndex is the option, variable or file by which no index is asked, null if there is none.
	NoIndex *string `json:"noIndex"`
	// How says how the packages get to the job, null if there is nothing to install.
	How        *string `json:"how"`
	why        string
	repository string
}

func explainImage(p submit.Planned, o provide.Estimate) *explainedImage {
	plan := p.Environment
	e := &explainedImage{Mode: string(plan.Mode), Ref: &p.Spec.Image, Added: append([]string{}, plan.Added...),
		Resolved: Optional(o.Resolved), Indexes: o.Indexes.Asked, Ignored: o.Indexes.Ignored, How: Optional(o.How), why: o.Why,
		repository: plan.Repository, NoIndex: Optional(o.Indexes.NoIndex)}
	if e.Indexes != nil || e.NoIndex != nil { // the packages are not known
		e.Indexes, e.Ignored = append([]provide.Index{}, e.Indexes...), append([]provide.Index{}, e.Ignored...)
	}
	if plan.Mode == decide.Bundled && len(plan.Wanted.Unfetched) > 0 {
		e.Ref = nil
	}
	if plan.Why != "" && o.How != "" {
		e.How = new(o.How + ": " + plan.Why)
	}
	if e.How != nil {
		e.Base = &plan.Base.Ref
	}
	if number := len(o.Wheels); number > 0 {
		e.Packages, e.Chosen = &number, report.Packages(submit.Packages(o.Wheels))
	}
	if o.Bytes > 0 {
		e.Bytes = &o.Bytes
	}
	return e
}

// explainedJob is the job's name, and what each of its hosts gets.
type explainedJob struct {
	ID   string `json:"id"`
	Call string `json:"call"` // without secrets
	// Name is the workload's name in Kubernetes, null for a local job, and for a call on a warm host, which may be one that is there.
	Name    *string     `json:"name"`
	Backend api.Backend `json:"backend"`
	// CPU, Memory and Disk are what a host requests; null leaves that to the cluster.
	CPU    *string `json:"cpu"`
	Memory *string `json:"memory"`
	Disk   *string `json:"disk"`
	// DiskClass is the StorageClass of the volume that is the disk, "" for the cluster's
	// default; null for the node's own disk.
	DiskClass *string `json:"diskClass"`
	// Queue, Reservation, ComputeClass and PriorityClass are names, null for none.
	Queue         *string `json:"queue"`
	Reservation   *string `json:"reservation"`
	FlexStart     bool    `json:"flexStart"`
	ComputeClass  *string `json:"computeClass"`
	PriorityClass *string `json:"priorityClass"`
	// Retries and MaxDisruptions are how often the job starts again after a crash and after
	// the loss of a machine; null if it never does.
	Retries        *int `json:"retries"`
	retryOn        api.RetryOn
	MaxDisruptions *int `json:"maxDisruptions"`
	// KeepWarm is for how many seconds the pod stays after a call, and WarmLevel what it keeps. Both are null for a job that uses no
	// warm host.
	KeepWarm  *int           `json:"keepWarmSeconds"`
	WarmLevel *api.WarmLevel `json:"warmLevel"`
	warm      api.KeepWarm
	// CacheBytes is how much is kept of what compilers made, null for the default and for nothing.
	CacheBytes *int64 `json:"cacheBytes"`
	// MaxCost is in USD. Budget is how many seconds it pays for, all attempts together. Both are null without a limit.
	MaxCost *float64 `json:"maxCost"`
	Budget  *int     `json:"budgetSeconds"`
	// Env are the names of the environment variables that are added, SecretEnv the names of
	// secret ones.
	Env       []string `json:"env"`
	SecretEnv []string `json:"secretEnv"`
	limited   bool
	// sharedPools means that nothing keeps the hosts of a slice together.
	sharedPools bool
	// Processes is how many processes each host starts, a number or auto; null for one that is not numbered.
	Processes *string `json:"processesPerHost"`
	// Map says how the inputs of a map are spread over pods, null without a map.
	Map *api.Map `json:"map"`
	// Outputs are what the job writes to its KINETIC_OUTPUT_DIR.
	Outputs explainedOutputs `json:"outputs"`
	// Pathways is the Pathways runtime, null for a job without it.
	Pathways *explainedPathways `json:"pathways"`
}

// New describes what carrying out the plan would do.
func New(p submit.Planned, o provide.Estimate, prices price.Table) Explanation {
	s := p.Spec
	local := s.Backend == api.BackendLocal
	wanted := p.Deps
	if p.Environment.Mode != "" { // which knows what the filter really drops
		wanted = p.Environment.Wanted
	}
	e := Explanation{
		Target:      explainedTarget{Store: Optional(s.Store)},
		Accelerator: newAccelerator(s, prices),
		Bundle:      explainedBundle{Root: p.Root, Entry: Optional(p.Entry), Bytes: p.Files.Bytes, LeftOut: p.Files.LeftOut},
		Payload:     s.Payload,
		Data:        explainData(s.Data),
		Deps:        explainDeps(wanted),
		Job:         explainJob(s),
		Warnings:    append([]string{}, p.Warnings...),
	}
	e.Bundle.SysPath = make([]string, 0, len(p.SysPath))
	for _, dir := range p.SysPath {
		e.Bundle.SysPath = append(e.Bundle.SysPath, path.Clean(dir))
	}
	e.Bundle.Files = make([]explainedFile, 0, len(p.Files.Index.Files))
	for _, f := range p.Files.Index.Files {
		e.Bundle.Files = append(e.Bundle.Files, explainedFile{Path: f.Path, Size: f.Size})
	}
	if local || p.Environment.Mode == decide.Custom { // else they are among the plan's
		e.Warnings = append(e.Warnings, p.Deps.Warnings...)
	}
	if local {
		return e
	}
	e.Target = explainTarget(p)
	if wanted, _ := submit.WantedNetwork(s); wanted != "" {
		e.Accelerator.Network = new(cmp.Or(s.Network, api.NetworkTCP))
		e.Accelerator.NetworkReason, e.Accelerator.network = Optional(p.PlainNetwork), NetworkText(p)
	}
	e.Image = explainImage(p, o)
	if s.KeepWarm.Idle == 0 {
		e.Job.Name = new(s.JobName())
	}
	return e
}

func explainTarget(p submit.Planned) explainedTarget {
	s := p.Spec
	t := explainedTarget{Project: Optional(s.Project), Context: Optional(p.Target.Context), Namespace: Optional(s.Namespace), Store: Optional(s.Store)}
	switch {
	case p.Target.GKE:
		t.Zone, t.Cluster = Optional(s.Zone), Optional(s.Cluster)
	case t.Context != nil:
		t.way = "context " + *t.Context
	default:
		t.way = p.Target.From.Context
	}
	return t
}

func explainJob(s api.Spec) explainedJob {
	j := explainedJob{ID: s.ID, Call: s.CallText, Backend: s.Backend, Env: []string{}, SecretEnv: append([]string{}, s.SecretEnv...), Map: s.Map, Processes: Optional(s.Processes), Outputs: explainOutputs(s), Pathways: explainPathways(s)}
	for _, v := range s.Env {
		j.Env = append(j.Env, v.Name)
	}
	if s.Backend == api.BackendLocal {
		return j
	}
	j.CPU, j.Memory, j.Disk, j.limited = Optional(s.CPU), Optional(s.Memory), Optional(s.Disk), s.MemoryLimit != ""
	if s.DiskVolume {
		j.DiskClass = &s.DiskClass
	}
	j.sharedPools = s.NodePools == api.NodePoolsShared
	j.Queue, j.PriorityClass = Optional(s.Queue), Optional(s.PriorityClass)
	j.ComputeClass = Optional(s.AutopilotClass)
	switch s.Capacity.Kind {
	case api.CapacityReservation:
		j.Reservation = &s.Capacity.Name
	case api.CapacityClass:
		j.ComputeClass = &s.Capacity.Name
	case api.CapacityFlexStart:
		j.FlexStart = true
	}
	if s.KeepWarm.Idle > 0 {
		j.KeepWarm, j.WarmLevel, j.warm = new(int(s.KeepWarm.Idle/time.Second)), &s.KeepWarm.Level, s.KeepWarm
	}
	if s.Cache != nil && s.Cache.Bytes > 0 {
		j.CacheBytes = &s.Cache.Bytes
	}
	if s.MaxCost > 0 {
		j.MaxCost, j.Budget = &s.MaxCost, new(int(s.Budget/time.Second))
	}
	if s.Hosts == 1 || s.Backend.IsLeaderWorkerSet() {
		j.Retries, j.MaxDisruptions, j.retryOn = &s.Retries, &s.MaxDisruptions, s.RetryOn
	}
	return j
}

// AcceleratorText returns one line on the accelerator of a job: machine, chips and list price.
func AcceleratorText(s api.Spec, prices price.Table) string {
	a := newAccelerator(s, prices)
	return a.sentence + a.perHourText()
}

func newAccelerator(s api.Spec, prices price.Table) explainedAccelerator {
	a, times := s.Accelerator, s.Machines()/s.Accelerator.Hosts
	perHour, basis := price.Rate(prices, a, s.Capacity.Kind, s.Zone)
	if s.Capacity.Kind == api.CapacityClass {
		a.MachineType = ""
	}
	e := explainedAccelerator{Kind: a.Kind, Name: a.Name, Topology: Optional(a.Topology), Hosts: s.Machines(), Slices: s.Slices,
		MachineType: Optional(a.MachineType), Spot: s.Capacity.Kind == api.CapacitySpot, Resource: Optional(a.Resource),
		sentence: accelerator.Describe(a), PriceBasis: Optional(basis)}
	if times > 1 && a.Kind != api.CPU {
		e.sentence = fmt.Sprintf("%d × %s", times, e.sentence)
	}
	if perHour != nil {
		e.PricePerHour = new(float64(times) * *perHour)
	}
	if a.Chips > 0 {
		e.Chips, e.ChipsPerHost = new(times*a.Chips), &a.ChipsPerHost
	}
	return e
}

// Optional returns nil for an empty text, which is null in JSON.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
