package submit

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

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
			acc, err := accelerator.Parse(c.accelerator, accelerator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := api.Request{Placement: api.Placement{AcceleratorText: c.accelerator, Image: "i"}, Execution: api.Execution{Retries: -1, Env: []api.EnvVar{{Name: c.variable, Value: "0"}}}}
			s, err := newSpec(r, config.Target{Namespace: "ml", Store: "gs://b"}, machines{Accelerator: acc})
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
			s := api.Spec{Accelerator: acc, Capacity: api.Capacity{Kind: api.CapacityFlexStart}, Placement: api.Placement{Backend: api.BackendLWS, Hosts: 2, Queue: queue}}
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
			placement := api.Placement{Hosts: 2, Network: network, Queue: queue}
			got := strings.Join(hardwareWarnings(api.Request{Placement: placement}, api.Spec{Accelerator: acc, Placement: placement}), "; ")
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
			warnings := hardwareWarnings(r, api.Spec{Accelerator: acc, Placement: api.Placement{Backend: api.BackendGKE, Hosts: acc.Hosts}})
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
