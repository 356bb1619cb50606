package submit

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

func TestOutputDir(t *testing.T) {
	tests := map[string]struct {
		backend   api.Backend
		dir, want string
		err       bool
	}{
		"none":                           {dir: "", want: ""},
		"a bucket":                       {dir: "gs://b/p", want: "gs://b/p"},
		"a path in the container":        {dir: "/data/out", want: "/data/out"},
		"a relative path in a container": {dir: "out", err: true},
		"another scheme":                 {dir: "s3://b", err: true},
		"no bucket":                      {dir: "gs://", err: true},
		"a prefix and no bucket":         {dir: "gs:///p", err: true},
		"local":                          {backend: api.BackendLocal, dir: "/x", want: "/x"},
		"local, relative":                {backend: api.BackendLocal, dir: "out", want: "/cwd/out"},
		"local, at home":                 {backend: api.BackendLocal, dir: "~/out", want: "/home/me/out"},
		"local, home itself":             {backend: api.BackendLocal, dir: "~", want: "/home/me"},
		"local, a tilde in a name":       {backend: api.BackendLocal, dir: "~out", want: "/cwd/~out"},
		"at home, in a container":        {dir: "~/out", err: true},
		"local, a bucket":                {backend: api.BackendLocal, dir: "gs://b", err: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := outputDir(api.Request{Placement: api.Placement{Backend: tt.backend}, Execution: api.Execution{OutputDir: tt.dir}}, Machine{Cwd: "/cwd", Home: "/home/me"})
			if got != tt.want || (err != nil) != tt.err {
				t.Errorf("got %q, %v; want %q, error %v", got, err, tt.want, tt.err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "--output-dir ") {
				t.Errorf("%v: it does not name the flag", err)
			}
		})
	}
}

func TestChooseMachines(t *testing.T) {
	tests := map[string]struct {
		request  api.Request
		kind     api.AcceleratorKind
		err      string
		wantSpot bool
	}{
		"nothing":                       {kind: api.CPU},
		"spot on cpu":                   {request: api.Request{Spot: true}, kind: api.CPU, wantSpot: true},
		"a suffix":                      {request: api.Request{Placement: api.Placement{AcceleratorText: "l4:spot"}}, kind: api.GPU, wantSpot: true},
		"unknown":                       {request: api.Request{Placement: api.Placement{AcceleratorText: "l5"}}, err: `--accelerator "l5"`},
		"several hosts":                 {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16"}}, kind: api.TPU},
		"lws":                           {request: api.Request{Placement: api.Placement{Backend: api.BackendLWS}}, kind: api.CPU},
		"hosts of a TPU":                {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Hosts: 3}}, err: "--hosts 3: a TPU's topology determines its hosts (v6e 4x4: 16 chips on 4 hosts (ct6e-standard-4t)): omit it, or choose another with --accelerator$"},
		"fewer hosts of a TPU":          {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Hosts: 1}}, err: "such as v6e-2x4, which has 1"},
		"hosts that slices have":        {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Hosts: 8}}, err: "such as v6e-4x8, which has 8, or take 2 of these slices with --slices 2"},
		"hosts of slices of a Job":      {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Hosts: 8, Backend: api.BackendGKE}}, err: "such as v6e-4x8, which has 8$"},
		"hosts of slices of one host":   {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-1", Hosts: 4}}, err: "such as v6e-4x4, which has 4$"},
		"more than the largest TPU has": {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-256", Hosts: 128}}, err: "omit it, or choose another with --accelerator, or take 2 of these slices with --slices 2"},
		"hosts that lws has":            {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-8", Hosts: 2}}, err: "(v6e 2x4: 8 chips on 1 host (ct6e-standard-8t)): omit it and use --backend lws, which has 2 for v6e-8"},
		"the hosts of a TPU":            {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Hosts: 4}}, err: "already determines its hosts (v6e 4x4: 16 chips on 4 hosts (ct6e-standard-4t)): omit it"},
		"slices of no TPU":              {request: api.Request{Placement: api.Placement{AcceleratorText: "l4", Slices: 2}}, err: "--slices 2: only TPUs come in slices: for several hosts of l4, use --hosts"},
		"slices of one host":            {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-8", Slices: 2}}, err: "--slices 2: single-host slices can't be joined (v6e 2x4: 8 chips on 1 host (ct6e-standard-8t)): choose a larger topology with --accelerator, such as v6e-4x4"},
		"slices of one old host":        {request: api.Request{Placement: api.Placement{AcceleratorText: "v3-4", Slices: 2}}, err: "--slices 2: slices of TPU v3 can't be joined"},
		"slices that can't be joined":   {request: api.Request{Placement: api.Placement{AcceleratorText: "v3-16", Slices: 2}}, err: "--slices 2: slices of TPU v3 can't be joined"},
		"slices without lws":            {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Slices: 2, Backend: api.BackendGKE}}, err: "--slices 2 cannot be combined with --backend gke"},
		"too many slices":               {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-256", Slices: 200}}, err: "--slices 200: a job can have at most 10000 hosts, and each slice has 64: use 1 to 156"},
		"absurdly many slices":          {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-256", Slices: math.MaxInt64}}, err: "64: use 1 to 156"},
		"retries of hosts of a Job":     {request: api.Request{Placement: api.Placement{Hosts: 2, Backend: api.BackendGKE}, Execution: api.Execution{Retries: 1}}, err: "--retries 1 cannot be combined with --backend gke on several hosts"},
		"disruptions of hosts of a Job": {request: api.Request{Placement: api.Placement{Hosts: 2, Backend: api.BackendGKE}, Execution: api.Execution{MaxDisruptions: 1}}, err: "--max-disruptions 1 cannot be combined with --backend gke on several hosts"},
		"no retries of hosts of a Job":  {request: api.Request{Placement: api.Placement{Hosts: 2, Backend: api.BackendGKE}, Execution: api.Execution{MaxDisruptions: -1}}, kind: api.CPU},
		"a debugger of several hosts":   {request: api.Request{Placement: api.Placement{Hosts: 2}, Execution: api.Execution{Debug: true}}, err: "--debug needs one host, not 2: use a smaller --accelerator"},
		"a debugger of a slice":         {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16"}, Execution: api.Execution{Debug: true}}, err: "--debug needs one host, not 4"},
		"a map on a slice":              {request: api.Request{Map: "in", Placement: api.Placement{AcceleratorText: "v6e-16"}}, err: "--map makes each call on one host, but --accelerator v6e-16 has 4 hosts: choose a single-host one"},
		"retries of one host":           {request: api.Request{Placement: api.Placement{Backend: api.BackendGKE}, Execution: api.Execution{Retries: 1}}, kind: api.CPU},
		"flex-start":                    {request: api.Request{FlexStart: true, Placement: api.Placement{AcceleratorText: "v6e-16"}}, kind: api.TPU},
		"flex-start and spot":           {request: api.Request{FlexStart: true, Placement: api.Placement{AcceleratorText: "l4:spot"}}, err: "--flex-start and spot capacity (--spot) cannot be combined"},
		"flex-start and a reservation":  {request: api.Request{FlexStart: true, Reservation: "r", Placement: api.Placement{AcceleratorText: "l4"}}, err: "--flex-start and --reservation cannot be combined"},
		"flex-start of an old TPU":      {request: api.Request{FlexStart: true, Placement: api.Placement{AcceleratorText: "v4-8"}}, err: "--flex-start cannot be combined with --accelerator v4-8"},
		"flex-start for a week":         {request: api.Request{FlexStart: true, Placement: api.Placement{AcceleratorText: "l4"}, Execution: api.Execution{MaxRuntime: 168 * time.Hour}}, kind: api.GPU},
		"flex-start for longer":         {request: api.Request{FlexStart: true, Placement: api.Placement{AcceleratorText: "l4"}, Execution: api.Execution{MaxRuntime: 168*time.Hour + 1}}, err: "--max-runtime 168h0m0.000000001s cannot be combined with --flex-start, whose machines last at most 7 days (168h)"},
		"flex-start of a local job":     {request: api.Request{FlexStart: true, Reservation: "r", Placement: api.Placement{Backend: api.BackendLocal}}, kind: api.CPU},
		"flex-start of no accelerator":  {request: api.Request{FlexStart: true}, err: "--flex-start is for accelerators: choose one with --accelerator, or omit it"},
		"a class and spot":              {request: api.Request{Spot: true, ComputeClass: "c"}, err: "--compute-class and spot capacity (--spot) cannot be combined, because the ComputeClass decides which capacity is used"},
		"a class and a reservation":     {request: api.Request{Reservation: "r", ComputeClass: "c"}, err: "--compute-class and --reservation cannot be combined"},
		"a class and flex-start":        {request: api.Request{FlexStart: true, ComputeClass: "c"}, err: "--compute-class and --flex-start cannot be combined"},
		"a class of Autopilot":          {request: api.Request{ComputeClass: "Accelerator", Placement: api.Placement{AcceleratorText: "l4"}}, kind: api.GPU},
		"its spot capacity":             {request: api.Request{Spot: true, ComputeClass: "Scale-Out"}, kind: api.CPU, wantSpot: true},
		"its reservation":               {request: api.Request{Reservation: "r", ComputeClass: "Accelerator", Placement: api.Placement{AcceleratorText: "v6e-1"}}, kind: api.TPU},
		"its class for accelerators":    {request: api.Request{ComputeClass: "Accelerator"}, err: "--compute-class Accelerator is for jobs with accelerators: choose one with --accelerator"},
		"its class for none":            {request: api.Request{ComputeClass: "Balanced", Placement: api.Placement{AcceleratorText: "l4"}}, err: "--compute-class Balanced has no accelerators, but --accelerator is l4: Autopilot's class for them is Accelerator"},
		"all of a machine":              {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-1", CPU: "44", Memory: "176Gi"}}, kind: api.TPU},
		"more CPUs than there are":      {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-1", CPU: "500"}}, err: "--cpu 500: the largest machine for a host of v6e-1x1 (ct6e-standard-1t) has 44$"},
		"more memory than there is":     {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-1", Memory: "177Gi"}}, err: "--memory 177Gi: the largest machine for a host of v6e-1x1 (ct6e-standard-1t) has 176Gi$"},
		"a part of a larger machine":    {request: api.Request{Placement: api.Placement{AcceleratorText: "a100", CPU: "40"}}, kind: api.GPU},
		"no room beside Pathways": {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Backend: api.BackendPathways, CPU: "175"}},
			err: "--cpu 175: the largest machine for a host of v6e-4x4 (ct6e-standard-4t) has 180, of which the Pathways runtime requests 6$"},
		"more than the largest machine": {request: api.Request{Placement: api.Placement{AcceleratorText: "a100x2", CPU: "96001m"}}, err: "--cpu 96001m: the largest machine for a host of a100x2 (a2-megagpu-16g) has 96$"},
		"machines of a ComputeClass":    {request: api.Request{ComputeClass: "large", Placement: api.Placement{AcceleratorText: "v6e-1", CPU: "500"}}, kind: api.TPU},
		"any size of a cpu job":         {request: api.Request{Placement: api.Placement{CPU: "500"}}, kind: api.CPU},
		"shared node pools":             {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", NodePools: api.NodePoolsShared}}, kind: api.TPU},
		"nothing to share":              {request: api.Request{Placement: api.Placement{AcceleratorText: "l4", NodePools: api.NodePoolsShared}}, kind: api.GPU},
		"a node pool for itself":        {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", NodePools: api.NodePoolsExclusive}}, kind: api.TPU},
		"a node pool for one host":      {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-8", NodePools: api.NodePoolsExclusive}}, err: "--slice-node-pool exclusive: only multi-host TPU slices have a node pool of their own, but --accelerator is v6e-2x4: omit it"},
		"slices in shared pools":        {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Slices: 2, NodePools: api.NodePoolsShared}}, err: "--slice-node-pool shared cannot be combined with --slices 2"},
		"local hosts are this one":      {request: api.Request{Placement: api.Placement{Hosts: 4, Slices: 2, Backend: api.BackendLocal}}, kind: api.CPU},
		"reservation and spot":          {request: api.Request{Reservation: "r", Placement: api.Placement{AcceleratorText: "l4:spot"}}, err: "--reservation"},
		"local has its own":             {request: api.Request{Placement: api.Placement{AcceleratorText: "v6e-16", Backend: api.BackendLocal}}, kind: api.CPU},
		"a local typing mistake is one": {request: api.Request{Placement: api.Placement{AcceleratorText: "l5", Backend: api.BackendLocal}}, err: "l5"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := chooseMachines(tt.request)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error()+"$", tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Kind != tt.kind || (got.capacity.Kind == api.CapacitySpot) != tt.wantSpot {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestNewSpecDefaults(t *testing.T) {
	where := config.Target{Namespace: "ml", Store: "gs://b"}
	cpu := machines{Accelerator: api.Accelerator{Kind: api.CPU, Name: "cpu", Hosts: 1}}
	gpu, err := chooseMachines(api.Request{Placement: api.Placement{AcceleratorText: "l4:spot"}})
	if err != nil {
		t.Fatal(err)
	}

	s, err := newSpec(api.Request{Placement: api.Placement{Image: "i"}, Execution: api.Execution{Retries: -1}}, where, cpu)
	if err != nil || s.Backend != api.BackendGKE || s.CPU != "1" || s.Memory != "2Gi" || s.MemoryLimit != "" || s.Retries != 0 {
		t.Errorf("a cpu job: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Placement: api.Placement{Image: "i", Memory: "4Gi"}, Execution: api.Execution{Retries: -1}}, where, cpu)
	if err != nil || s.Memory != "4Gi" || s.MemoryLimit != "4Gi" {
		t.Errorf("memory that was asked for is a limit: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Placement: api.Placement{Image: "i"}, Execution: api.Execution{Retries: -1}}, where, gpu)
	if err != nil || s.CPU != "2" || s.Memory != "8Gi" || s.MemoryLimit != "" || s.Disk != "" || s.Retries != 3 {
		t.Errorf("a spot gpu job: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Placement: api.Placement{Image: "i"}, Execution: api.Execution{Retries: 0}}, where, gpu)
	if err != nil || s.Retries != 0 {
		t.Errorf("--retries 0 with spot: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Placement: api.Placement{Backend: api.BackendLocal, Image: "i"}}, where, cpu)
	if err != nil || s.Namespace != "" || s.Image != "" || s.CPU != "" {
		t.Errorf("a local job has no place in a cluster: %+v, %v", s, err)
	}
}

func TestHostsAndBackend(t *testing.T) {
	for name, c := range map[string]struct {
		request       api.Request
		hosts, slices int
		backend       api.Backend
		retries       int
	}{
		"one host":                     {api.Request{Execution: api.Execution{Retries: -1}}, 1, 1, api.BackendGKE, 0},
		"several hosts":                {api.Request{Placement: api.Placement{Hosts: 4}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendLWS, 0},
		"several hosts, spot":          {api.Request{Spot: true, Placement: api.Placement{Hosts: 4}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendLWS, 3},
		"several hosts of a Job, spot": {api.Request{Spot: true, Placement: api.Placement{Hosts: 4, Backend: api.BackendGKE}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendGKE, 0},
		"one host, by choice":          {api.Request{Placement: api.Placement{Hosts: 1}, Execution: api.Execution{Retries: 2}}, 1, 1, api.BackendGKE, 2},
		"a set of one":                 {api.Request{Placement: api.Placement{Backend: api.BackendLWS}, Execution: api.Execution{Retries: 2}}, 1, 1, api.BackendLWS, 2},
		"a slice":                      {api.Request{Placement: api.Placement{AcceleratorText: "v5p-16"}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendLWS, 0},
		"slices":                       {api.Request{Placement: api.Placement{AcceleratorText: "v5p-16", Slices: 2}, Execution: api.Execution{Retries: -1}}, 8, 2, api.BackendLWS, 0},
		"one host where two could be":  {api.Request{Placement: api.Placement{AcceleratorText: "v6e-8"}, Execution: api.Execution{Retries: -1}}, 1, 1, api.BackendGKE, 0},
		"two hosts where one could be": {api.Request{Placement: api.Placement{AcceleratorText: "v6e-8", Backend: api.BackendLWS}, Execution: api.Execution{Retries: -1}}, 2, 1, api.BackendLWS, 0},
		"here, whatever was asked for": {api.Request{Placement: api.Placement{AcceleratorText: "v5p-16", Hosts: 2, Backend: api.BackendLocal}, Execution: api.Execution{Retries: -1}}, 1, 1, api.BackendLocal, 0},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := chooseMachines(c.request)
			if err != nil {
				t.Fatal(err)
			}
			c.request.Image = "i"
			s, err := newSpec(c.request, config.Target{}, acc)
			if err != nil {
				t.Fatal(err)
			}
			if s.Hosts != c.hosts || s.Slices != c.slices || s.Backend != c.backend || s.Retries != c.retries {
				t.Errorf("got %d hosts, %d slices, backend %s, %d retries; want %d, %d, %s, %d",
					s.Hosts, s.Slices, s.Backend, s.Retries, c.hosts, c.slices, c.backend, c.retries)
			}
		})
	}
}

// A job must not say that it is in a cluster that no one has named.
func TestSpecNamesOnlyKnownClusters(t *testing.T) {
	supposed := config.Sources{Zone: "default", Cluster: "default"}
	for name, tt := range map[string]struct {
		gke           bool
		from          config.Sources
		zone, cluster string
	}{
		"elsewhere":                 {false, supposed, "", ""},
		"elsewhere, but it is said": {false, config.Sources{Zone: "KINETIC_ZONE", Cluster: "profile dev"}, "z", "c"},
		"GKE":                       {true, supposed, "z", "c"},
	} {
		cpu := machines{Accelerator: api.Accelerator{Kind: api.CPU, Hosts: 1}}
		s, err := newSpec(api.Request{Placement: api.Placement{Image: "i"}}, config.Target{Zone: "z", Cluster: "c", GKE: tt.gke, From: tt.from}, cpu)
		if err != nil || s.Zone != tt.zone || s.Cluster != tt.cluster {
			t.Errorf("%s: zone %q, cluster %q, %v; want %q, %q", name, s.Zone, s.Cluster, err, tt.zone, tt.cluster)
		}
	}
}
