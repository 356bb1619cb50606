package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// elsewhere is a job of a cluster that is not known to be one of GKE.
func elsewhere() submit.Planned {
	return submit.Planned{
		Spec: api.Spec{
			ID:        "cpu-train-1",
			Namespace: "ml",
			Project:   "p",
			Zone:      "us-central1-a",
			Cluster:   "kinetic-cluster",
			Store:     "gs://b",
			Placement: api.Placement{Accelerator: api.Accelerator{Kind: api.CPU, Name: "cpu", Hosts: 1}, Backend: api.BackendGKE, Hosts: 1, Slices: 1, Image: "i", CPU: "1", Memory: "2Gi"},
		},
		Target: config.Target{Context: "kind-dev", From: config.Sources{Context: "current context"}},
		Files:  &pack.Plan{},
	}
}

func TestSentences(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*submit.Planned)
		want   string
	}{
		"a cluster of no name": {func(*submit.Planned) {}, "cluster      context kind-dev (not GKE)\n"},
		"a cluster without a context": {func(p *submit.Planned) { p.Target = config.Target{From: config.Sources{Context: "--server"}} },
			"cluster      --server (not GKE)\n"},
		"a cluster of GKE":     {func(p *submit.Planned) { p.Target.GKE = true }, "cluster      kinetic-cluster (project p, zone us-central1-a, context kind-dev)\n"},
		"what a host asks for": {func(*submit.Planned) {}, "requests     cpu 1, memory 2Gi\n"},
		"a limit of memory":    {func(p *submit.Planned) { p.Spec.MemoryLimit = "2Gi" }, "requests     cpu 1, memory 2Gi (also the limit)\n"},
		"memory alone":         {func(p *submit.Planned) { p.Spec.CPU = "" }, "requests     memory 2Gi\n"},
		"environment": {func(p *submit.Planned) {
			p.Spec.Env = []api.EnvVar{{Name: "B", Value: "hidden"}, {Name: "A"}}
			p.Spec.SecretEnv = []string{"TOKEN"}
		}, "environment  B, A, TOKEN (secret)\n"},
		"several hosts of no accelerator": {func(p *submit.Planned) { p.Spec.Hosts = 4 }, "accelerator  cpu: no accelerator\n"},
		"Pathways": {func(p *submit.Planned) { p.Spec.Pathways = &api.Pathways{Version: "jax-0.9.2", TPUHosts: 4} },
			"pathways     jax-0.9.2, with cpu 6 and memory 20Gi beside the call, on a TPU host, at no extra cost; compiled programs in gs://b/pathways\n"},
		"Pathways of a version not known yet, and open": {func(p *submit.Planned) {
			p.Spec.Store, p.Spec.Pathways = "file:///s", &api.Pathways{TPUHosts: 4, OpenNetwork: true}
		}, "pathways     the version that fits the job's JAX, with cpu 6 and memory 20Gi beside the call, on a TPU host, at no extra cost; compiled programs are not kept; its ports are open to all pods\n"},
		"a queue":    {func(p *submit.Planned) { p.Spec.Queue = "team" }, "queue        team\n"},
		"a priority": {func(p *submit.Planned) { p.Spec.PriorityClass = "high" }, "priority     high\n"},
		"a reservation": {func(p *submit.Planned) {
			p.Spec.Capacity = api.Capacity{Kind: api.CapacityReservation, Name: "projects/p/reservations/r"}
		}, "capacity     reservation projects/p/reservations/r\n"},
		"flex-start":     {func(p *submit.Planned) { p.Spec.Capacity.Kind = api.CapacityFlexStart }, "capacity     flex-start, at most 7 days\n"},
		"a ComputeClass": {func(p *submit.Planned) { p.Spec.Capacity = api.Capacity{Kind: api.CapacityClass, Name: "cheap"} }, "capacity     ComputeClass cheap\n"},
		"a warm host": {func(p *submit.Planned) {
			p.Spec.KeepWarm = api.KeepWarm{Idle: 10 * time.Minute, Limit: time.Hour, Level: api.WarmClean}
		}, "warm host    one that fits is reused, else a new one starts; level clean; it stays for 10m after the call\n"},
		"a new warm host": {func(p *submit.Planned) {
			p.Spec.KeepWarm = api.KeepWarm{Idle: 10 * time.Minute, Limit: time.Hour, Level: api.WarmClean, Fresh: true}
		}, "warm host    a new one starts; level clean; it stays for 10m after the call\n"},
		"a cache":   {func(p *submit.Planned) { p.Spec.Cache = &api.Cache{Scope: "me/p/l4", Bytes: 500 << 20} }, "cache        at most 500 MiB of compiled code\n"},
		"processes": {func(p *submit.Planned) { p.Spec.Processes, p.Spec.Hosts = "4", 2 }, "processes    4 on each host, as torchrun starts them\n"},
		"a process for each GPU, on this machine": {func(p *submit.Planned) { p.Spec.Processes, p.Spec.Backend = "auto", api.BackendLocal },
			"processes    one for each GPU with PyTorch, one with JAX or without GPUs\n"},
		"a cost limit": {func(p *submit.Planned) { p.Spec.MaxCost, p.Spec.Budget = 5, 4*time.Hour },
			"cost limit   $5.00, which pays for 4h, all attempts together\n"},
		"no crash":           {func(p *submit.Planned) { p.Spec.MaxDisruptions = 1 }, "retries      none after crashes; 1 after a lost machine\n"},
		"crashes and errors": {func(p *submit.Planned) { p.Spec.Retries, p.Spec.RetryOn = 2, api.RetryOnError }, "retries      up to 2 after crashes and errors; none after lost machines\n"},
		"crashes":            {func(p *submit.Planned) { p.Spec.Retries = 2 }, "retries      up to 2 after crashes; none after lost machines\n"},
		"errors of a map": {func(p *submit.Planned) {
			p.Spec.Retries, p.Spec.RetryOn, p.Spec.Map = 2, api.RetryOnError, &api.Map{Inputs: 20, Chunk: 5, Parallelism: 2}
		}, "retries      up to 2 after crashes; none after lost machines; of each input up to 2 after errors\n"},
		"a map": {func(p *submit.Planned) { p.Spec.Map = &api.Map{Inputs: 20, Chunk: 5, Parallelism: 2} },
			"map          20 inputs in 4 pods of 5 inputs each, 2 at a time\n"},
		"outputs":                       {func(*submit.Planned) {}, "outputs      the store, saved every 30s and at the end\n"},
		"outputs saved at another pace": {func(p *submit.Planned) { p.Spec.OutputSync = 5 * time.Minute }, "outputs      the store, saved every 5m and at the end\n"},
		"outputs saved at the end": {func(p *submit.Planned) { p.Spec.OutputDir, p.Spec.OutputSync = "gs://team/ckpt", -1 },
			"outputs      gs://team/ckpt, saved at the end\n"},
		"outputs that are mounted": {func(p *submit.Planned) { p.Spec.OutputMount = true }, "outputs      the store, mounted with Cloud Storage FUSE\n"},
		"outputs of a volume":      {func(p *submit.Planned) { p.Spec.OutputDir = "/mnt/out" }, "outputs      /mnt/out in the pod, not saved elsewhere\n"},
		"outputs of another job": {func(p *submit.Planned) { p.Spec.ResumeFrom = "old-1" },
			"outputs      the store, saved every 30s and at the end; they begin with a copy of those of job old-1\n"},
		"outputs of a local job": {func(p *submit.Planned) { p.Spec.Backend = api.BackendLocal }, "outputs      the store\n"},
		"a map of one pod":       {func(p *submit.Planned) { p.Spec.Map = &api.Map{Inputs: 20, Chunk: 2000, Parallelism: 1} }, "map          20 inputs in 1 pod\n"},
		"a price":                {offered(func(*api.Spec) {}), "2 × l4: 1 GPU on 1 host (g2-standard-4), about $1.42 an hour (list price, us-central1, 2025-03)\n"},
		"the price of flex-start, which has its own": {offered(func(s *api.Spec) { s.Capacity.Kind = api.CapacityFlexStart }),
			"2 × l4: 1 GPU on 1 host (g2-standard-4), price unknown\n"},
		"the machine that a ComputeClass chooses": {offered(func(s *api.Spec) { s.Capacity = api.Capacity{Kind: api.CapacityClass, Name: "cheap"} }),
			"2 × l4: 1 GPU on 1 host, price unknown\n"},
		"environment of a local job": {func(p *submit.Planned) {
			p.Spec.Backend, p.Spec.Env = api.BackendLocal, []api.EnvVar{{Name: "A"}}
		}, "environment  A\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := elsewhere()
			tt.change(&p)
			got := New(p, provide.Estimate{}, price.Table{}).Text()
			if !strings.Contains(got, tt.want) || strings.Contains(got, "hidden") {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
	for name, tt := range map[string]struct {
		change func(*api.Spec)
		not    string
	}{
		"restarts of hosts that all fail together": {func(s *api.Spec) { s.Hosts = 2 }, "starts again"},
		"restarts here":    {func(s *api.Spec) { s.Backend = api.BackendLocal }, "starts again"},
		"nothing was said": {func(*api.Spec) {}, "capacity"},
		"no queue":         {func(*api.Spec) {}, "queue"},
		"no priority":      {func(*api.Spec) {}, "priority"},
	} {
		p := elsewhere()
		tt.change(&p.Spec)
		if got := New(p, provide.Estimate{}, price.Table{}).Text(); strings.Contains(got, tt.not) {
			t.Errorf("%s: a line of %q in\n%s", name, tt.not, got)
		}
	}
	bare := elsewhere()
	bare.Spec.CPU, bare.Spec.Memory = "", ""
	if got := New(bare, provide.Estimate{}, price.Table{}).Text(); strings.Contains(got, "asks for") || strings.Contains(got, "environment") {
		t.Errorf("lines about nothing:\n%s", got)
	}
}

// offered is a plan for two machines that have a price.
func offered(change func(*api.Spec)) func(*submit.Planned) {
	return func(p *submit.Planned) {
		price := 0.71
		p.Spec.Hosts, p.Spec.Accelerator = 2, api.Accelerator{Kind: api.GPU, Name: "l4", Chips: 1, Hosts: 1, ChipsPerHost: 1, MachineType: "g2-standard-4", PricePerHour: &price}
		change(&p.Spec)
	}
}

func TestExplanationAsJSON(t *testing.T) {
	p := elsewhere()
	p.Spec.Queue, p.Spec.Retries = "team", 3
	p.Spec.Env, p.Spec.SecretEnv = []api.EnvVar{{Name: "A", Value: "hidden"}}, []string{"TOKEN"}
	data, err := json.Marshal(New(p, provide.Estimate{}, price.Table{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"target":{"project":"p","zone":null,"cluster":null,"context":"kind-dev",`,
		`"cpu":"1","memory":"2Gi","disk":null,"diskClass":null,"queue":"team","reservation":null,"flexStart":false,"computeClass":null,"priorityClass":null,"retries":3,"maxDisruptions":0,"keepWarmSeconds":null,"warmLevel":null,"cacheBytes":null,"maxCost":null,"budgetSeconds":null,"env":["A"],"secretEnv":["TOKEN"],"processesPerHost":null,"map":null,"outputs":{"dir":null,"sync":"30s","mount":false,"resumeFrom":null,"fetchTo":null},"pathways":null}`,
	} {
		if !strings.Contains(string(data), want) || strings.Contains(string(data), "hidden") {
			t.Errorf("got %s, want %s in it", data, want)
		}
	}
}

// What was chosen before is listed.
func TestExplainedVersions(t *testing.T) {
	p := elsewhere()
	p.Environment.Base.Ref = "python:3.12-slim"
	outlook := provide.Estimate{Resolved: "an earlier run", How: "the pod installs them"}
	if got := New(p, outlook, price.Table{}).Text(); strings.Contains(got, "versions") {
		t.Errorf("versions that nobody knows:\n%s", got)
	}
	for i := range 12 {
		outlook.Wheels = append(outlook.Wheels, wheel.Source{File: fmt.Sprintf("package_%02d-1.0-py3-none-any.whl", i), SHA256: "ab"})
	}
	got := New(p, outlook, price.Table{})
	if text := got.Text(); !strings.Contains(text, "\nversions     12: package-00 1.0, package-01 1.0,") || !strings.Contains(text, "\n             package-05 1.0,") {
		t.Errorf("got\n%s", text)
	}
	data, err := json.Marshal(got)
	if want := `"packages":12,"bytes":null,"chosen":[{"name":"package-00","version":"1.0","file":"package_00-1.0-py3-none-any.whl","sha256":"ab"},`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("%v, got %s, want %s in it", err, data, want)
	}
}

// TestExplainedIndexes: where packages are looked for is listed, unless that is PyPI alone.
func TestExplainedIndexes(t *testing.T) {
	p := elsewhere()
	p.Environment.Base.Ref = "python:3.12-slim"
	pypi := provide.Index{Address: "https://pypi.org/simple", From: "the default"}
	inner := provide.Index{Address: "https://inner/simple", From: "/home/me/pip.conf"}
	for name, c := range map[string]struct {
		asked, ignored []provide.Index
		noIndex, want  string
	}{
		"PyPI":    {asked: []provide.Index{pypi}},
		"unknown": {},
		"two":     {asked: []provide.Index{pypi, inner}, want: "\nindexes      https://pypi.org/simple (the default)\n             https://inner/simple (/home/me/pip.conf)\n"},
		"ignored": {asked: []provide.Index{pypi}, ignored: []provide.Index{inner}, want: "\nindexes      https://pypi.org/simple (the default)\n             not https://inner/simple (/home/me/pip.conf), which uv doesn't use\n"},
		"none":    {noIndex: "the variable PIP_NO_INDEX", want: "\nindexes      none, because of the variable PIP_NO_INDEX\n"},
	} {
		outlook := provide.Estimate{Resolved: "uv", How: "the pod installs them"}
		outlook.Indexes.Asked, outlook.Indexes.Ignored, outlook.Indexes.NoIndex = c.asked, c.ignored, c.noIndex
		e := New(p, outlook, price.Table{})
		data, err := json.Marshal(e)
		isNone, isUnknown := strings.Contains(string(data), `"indexes":[],"ignoredIndexes":[],"noIndex":"the variable`), strings.Contains(string(data), `"indexes":null,"ignoredIndexes":null,"noIndex":null`)
		if err != nil || isNone != (name == "none") || isUnknown != (name == "unknown") {
			t.Errorf("%s: got %s, %v", name, data, err)
		}
		got := e.Text()
		if !strings.Contains(got, c.want) || strings.Contains(got, "\nindexes ") != (c.want != "") {
			t.Errorf("%s: got\n%swant %q in it", name, got, c.want)
		}
	}
}

// TestExplainedName: an image has no name before the lines are known that it depends on.
func TestExplainedName(t *testing.T) {
	p := elsewhere()
	p.Environment.Mode, p.Environment.Repository, p.Spec.Image = decide.Bundled, "reg.example/env", "reg.example/env:r-1"
	for unfetched, want := range map[int]string{0: "\nimage        reg.example/env:r-1\n", 1: "\nimage        in reg.example/env, with a name that is known when all requirements are\n"} {
		p.Environment.Wanted.Unfetched = make([]deps.Line, unfetched)
		e := New(p, provide.Estimate{}, price.Table{})
		if got := e.Text(); !strings.Contains(got, want) {
			t.Errorf("%d unfetched files: got\n%swant %q in it", unfetched, got, want)
		}
		if data, err := json.Marshal(e); err != nil || strings.Contains(string(data), `"ref":null`) != (unfetched > 0) {
			t.Errorf("%d unfetched files: %s, %v", unfetched, data, err)
		}
	}
}
