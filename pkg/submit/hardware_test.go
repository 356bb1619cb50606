package submit

import (
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// typed returns a request with the accelerator that its text means.
func typed(t *testing.T, r api.Request) api.Request {
	t.Helper()
	acc, err := accelerator.Parse(cmp.Or(r.AcceleratorText, string(api.CPU)), accelerator.Options{Backend: r.Backend})
	if err != nil {
		t.Fatal(err)
	}
	r.Accelerator = acc
	return r
}

// specOf returns the Spec of a request, which must be one that the hardware fits.
func specOf(t *testing.T, r api.Request, where config.Target) (api.Spec, error) {
	t.Helper()
	r = typed(t, r)
	placement, err := fit(r)
	if err != nil {
		t.Fatal(err)
	}
	return newSpec(r, where, placement)
}

func TestFit(t *testing.T) {
	tests := map[string]struct {
		request  api.Request
		kind     api.AcceleratorKind
		err      string
		wantSpot bool
	}{
		"nothing":                       {kind: api.CPU},
		"spot on cpu":                   {request: api.Request{Placement: api.Placement{AcceleratorText: "cpu:spot"}}, kind: api.CPU, wantSpot: true},
		"a suffix":                      {request: api.Request{Placement: api.Placement{AcceleratorText: "l4:spot"}}, kind: api.GPU, wantSpot: true},
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
		"a class and spot":              {request: api.Request{ComputeClass: "c", Placement: api.Placement{AcceleratorText: "cpu:spot"}}, err: "--compute-class and spot capacity (--spot) cannot be combined, because the ComputeClass decides which capacity is used"},
		"a class and a reservation":     {request: api.Request{Reservation: "r", ComputeClass: "c"}, err: "--compute-class and --reservation cannot be combined"},
		"a class and flex-start":        {request: api.Request{FlexStart: true, ComputeClass: "c"}, err: "--compute-class and --flex-start cannot be combined"},
		"a class of Autopilot":          {request: api.Request{ComputeClass: "Accelerator", Placement: api.Placement{AcceleratorText: "l4"}}, kind: api.GPU},
		"its spot capacity":             {request: api.Request{ComputeClass: "Scale-Out", Placement: api.Placement{AcceleratorText: "cpu:spot"}}, kind: api.CPU, wantSpot: true},
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
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := fit(typed(t, tt.request))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error()+"$", tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Accelerator.Kind != tt.kind || (got.Capacity.Kind == api.CapacitySpot) != tt.wantSpot {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestVariablesOfSeveralHosts(t *testing.T) {
	for name, c := range map[string]struct {
		accelerator, variable string
		err, warning          string // empty for none
	}{
		"LWS's own":                  {"v6e-16", "LWS_WORKER_INDEX", "--env LWS_WORKER_INDEX: the cluster sets this variable separately on each host; omit it", ""},
		"the index of a Job":         {"v6e-16", "JOB_COMPLETION_INDEX", "--env JOB_COMPLETION_INDEX: the cluster sets this variable separately on each host; omit it", ""},
		"what switches LWS off":      {"v6e-16", "TPU_WORKER_ID", "", "--env TPU_WORKER_ID: all 4 hosts get this value, and the cluster then sets none"},
		"any of one host":            {"v6e-8", "LWS_WORKER_INDEX", "", ""},
		"a TPU variable of one":      {"v6e-8", "TPU_WORKER_ID", "", ""},
		"what nobody sets":           {"v6e-16", "TPU_MIN_LOG_LEVEL", "", ""},
		"an image for Arm":           {"gb200", "A", "", "Google Cloud sells no a4x-highgpu-4g on demand: without --reservation, the job may wait for ever; the machines of gb200 have arm64 processors: the image must be built for linux/arm64"},
		"what is not sold on demand": {"h100x4", "A", "", "Google Cloud sells no a3-highgpu-4g on demand: without --flex-start or --spot, the job may wait for ever"},
		"what is sold as spot":       {"h100x4:spot", "A", "", ""},
		"a number of cpu":            {"cpu:8", "A", "", "--accelerator cpu:8: the number has no effect; request 8 CPUs with --cpu 8"},
		"no number":                  {"cpu", "A", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := api.Request{Placement: api.Placement{AcceleratorText: c.accelerator, Image: "i"}, Execution: api.Execution{Retries: -1, Env: []api.EnvVar{{Name: c.variable, Value: "0"}}}}
			s, err := specOf(t, r, config.Target{Namespace: "ml", Store: "gs://b"})
			if got := message(err); !strings.HasPrefix(got, c.err) || (got == "") != (c.err == "") {
				t.Fatalf("error %q, want %q", got, c.err)
			}
			if err != nil {
				return
			}
			if got := strings.Join(hardwareWarnings(r, s), "; "); !strings.HasPrefix(got, c.warning) || (got == "") != (c.warning == "") {
				t.Errorf("warnings %q, want %q", got, c.warning)
			}
		})
	}
}

// GPU hosts of the Dynamic Workload Scheduler are paid one by one, unless a queue asks for all of them. A slice
// comes as a whole.
func TestHostsThatComeOneByOne(t *testing.T) {
	for text, want := range map[string]bool{"l4": true, "v6e-16": false} {
		acc, err := accelerator.Parse(text, accelerator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, queue := range []string{"", "q"} {
			r := api.Request{FlexStart: true, Placement: api.Placement{AcceleratorText: text, Queue: queue}}
			s := api.Spec{Placement: api.Placement{Accelerator: acc, Capacity: api.Capacity{Kind: api.CapacityFlexStart}, Backend: api.BackendLWS, Hosts: 2, Queue: queue}}
			got := strings.Join(hardwareWarnings(r, s), "; ")
			if said := strings.Contains(got, "the 2 hosts come one by one"); said != (want && queue == "") {
				t.Errorf("%s in queue %q: %q", text, queue, got)
			}
		}
	}
}

// Kueue never admits the claims of RDMA; those who ask for it nevertheless are told.
func TestRDMAInAQueue(t *testing.T) {
	acc, err := accelerator.Parse("b200", accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for network, want := range map[api.Network]bool{"": false, api.NetworkTCP: false, api.NetworkRDMA: true} {
		for _, queue := range []string{"", "team"} {
			placement := api.Placement{Accelerator: acc, Hosts: 2, Network: network, Queue: queue}
			got := strings.Join(hardwareWarnings(api.Request{Placement: placement}, api.Spec{Placement: placement}), "; ")
			if said := strings.Contains(got, "--network rdma with --queue team: from v0.18 on, Kueue never admits"); said != (want && queue != "") {
				t.Errorf("network %q in queue %q: %q", network, queue, got)
			}
		}
	}
}

func TestPlacementThatHasNoEffect(t *testing.T) {
	for text, want := range map[string]int{"cpu": 1, "l4": 1, "v6e-8": 1, "v6e-16": 0} {
		acc, err := accelerator.Parse(text, accelerator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for placement, want := range map[api.NodePools]int{"": 0, api.NodePoolsShared: want} {
			r := api.Request{Placement: api.Placement{AcceleratorText: text, NodePools: placement}}
			warnings := hardwareWarnings(r, api.Spec{Placement: api.Placement{Accelerator: acc, Backend: api.BackendGKE, Hosts: acc.Hosts}})
			if len(warnings) != want || want > 0 && !strings.HasPrefix(warnings[0], "--slice-node-pool shared has no effect") {
				t.Errorf("--accelerator %s --slice-node-pool %q: %q", text, placement, warnings)
			}
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSecretsOfAJob(t *testing.T) {
	user := map[string]string{"TOKEN": "hush"}
	one := submission{Planned: Planned{Spec: api.Spec{Placement: api.Placement{Hosts: 1}}, Secrets: user}}
	if got := one.secrets(); len(got) != 1 || got["TOKEN"] != "hush" {
		t.Errorf("one host: %d secrets", len(got))
	}
	several := submission{Planned: Planned{Spec: api.Spec{Placement: api.Placement{Hosts: 2}}, Secrets: user}}
	first, second := several.secrets(), several.secrets()
	if len(first) != 2 || first["TOKEN"] != "hush" || len(first[api.Contract.Names.GroupKey]) != 2*groupKeyBytes || first[api.Contract.Names.GroupKey] == second[api.Contract.Names.GroupKey] {
		t.Errorf("several hosts: keys of %d and %d digits", len(first[api.Contract.Names.GroupKey]), len(second[api.Contract.Names.GroupKey]))
	}
	if len(user) != 1 {
		t.Error("the plan has the key")
	}
}
