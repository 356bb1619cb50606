package submit

import (
	"strings"
	"testing"

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

func TestNewSpecDefaults(t *testing.T) {
	where := config.Target{Namespace: "ml", Store: "gs://b"}
	s, err := specOf(t, api.Request{Placement: api.Placement{Image: "i"}, Execution: api.Execution{Retries: -1}}, where)
	if err != nil || s.Backend != api.BackendGKE || s.CPU != "1" || s.Memory != "2Gi" || s.MemoryLimit != "" || s.Retries != 0 {
		t.Errorf("a cpu job: %+v, %v", s, err)
	}
	s, err = specOf(t, api.Request{Placement: api.Placement{Image: "i", Memory: "4Gi"}, Execution: api.Execution{Retries: -1}}, where)
	if err != nil || s.Memory != "4Gi" || s.MemoryLimit != "4Gi" {
		t.Errorf("memory that was asked for is a limit: %+v, %v", s, err)
	}
	s, err = specOf(t, api.Request{Placement: api.Placement{AcceleratorText: "l4:spot", Image: "i"}, Execution: api.Execution{Retries: -1}}, where)
	if err != nil || s.CPU != "2" || s.Memory != "8Gi" || s.MemoryLimit != "" || s.Disk != "" || s.Retries != 3 {
		t.Errorf("a spot gpu job: %+v, %v", s, err)
	}
	s, err = specOf(t, api.Request{Placement: api.Placement{AcceleratorText: "l4:spot", Image: "i"}, Execution: api.Execution{Retries: 0}}, where)
	if err != nil || s.Retries != 0 {
		t.Errorf("--retries 0 with spot: %+v, %v", s, err)
	}
	s, err = specOf(t, api.Request{Placement: api.Placement{Backend: api.BackendLocal, Image: "i"}}, where)
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
		"several hosts, spot":          {api.Request{Placement: api.Placement{AcceleratorText: "cpu:spot", Hosts: 4}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendLWS, 3},
		"several hosts of a Job, spot": {api.Request{Placement: api.Placement{AcceleratorText: "cpu:spot", Hosts: 4, Backend: api.BackendGKE}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendGKE, 0},
		"one host, by choice":          {api.Request{Placement: api.Placement{Hosts: 1}, Execution: api.Execution{Retries: 2}}, 1, 1, api.BackendGKE, 2},
		"a set of one":                 {api.Request{Placement: api.Placement{Backend: api.BackendLWS}, Execution: api.Execution{Retries: 2}}, 1, 1, api.BackendLWS, 2},
		"a slice":                      {api.Request{Placement: api.Placement{AcceleratorText: "v5p-16"}, Execution: api.Execution{Retries: -1}}, 4, 1, api.BackendLWS, 0},
		"slices":                       {api.Request{Placement: api.Placement{AcceleratorText: "v5p-16", Slices: 2}, Execution: api.Execution{Retries: -1}}, 8, 2, api.BackendLWS, 0},
		"one host where two could be":  {api.Request{Placement: api.Placement{AcceleratorText: "v6e-8"}, Execution: api.Execution{Retries: -1}}, 1, 1, api.BackendGKE, 0},
		"two hosts where one could be": {api.Request{Placement: api.Placement{AcceleratorText: "v6e-8", Backend: api.BackendLWS}, Execution: api.Execution{Retries: -1}}, 2, 1, api.BackendLWS, 0},
		"here, whatever was asked for": {api.Request{Placement: api.Placement{AcceleratorText: "v5p-16", Hosts: 2, Backend: api.BackendLocal}, Execution: api.Execution{Retries: -1}}, 1, 1, api.BackendLocal, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.request.Image = "i"
			s, err := specOf(t, c.request, config.Target{})
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
		s, err := specOf(t, api.Request{Placement: api.Placement{Image: "i"}}, config.Target{Zone: "z", Cluster: "c", GKE: tt.gke, From: tt.from})
		if err != nil || s.Zone != tt.zone || s.Cluster != tt.cluster {
			t.Errorf("%s: zone %q, cluster %q, %v; want %q, %q", name, s.Zone, s.Cluster, err, tt.zone, tt.cluster)
		}
	}
}
