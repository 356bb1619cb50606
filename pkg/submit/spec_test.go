package submit

import (
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
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
		"local":                          {backend: api.BackendLocal, dir: "/x", want: "/x"},
		"local, relative":                {backend: api.BackendLocal, dir: "out", want: "/cwd/out"},
		"local, a bucket":                {backend: api.BackendLocal, dir: "gs://b", err: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := outputDir(api.Request{Backend: tt.backend, OutputDir: tt.dir}, "/cwd")
			if got != tt.want || (err != nil) != tt.err {
				t.Errorf("got %q, %v; want %q, error %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestChooseAccelerator(t *testing.T) {
	tests := map[string]struct {
		request  api.Request
		kind     api.AcceleratorKind
		err      string
		wantSpot bool
	}{
		"nothing":                       {kind: api.CPU},
		"spot on cpu":                   {request: api.Request{Spot: true}, kind: api.CPU, wantSpot: true},
		"a suffix":                      {request: api.Request{Accelerator: "l4:spot"}, kind: api.GPU, wantSpot: true},
		"unknown":                       {request: api.Request{Accelerator: "l5"}, err: `--accelerator "l5"`},
		"several hosts":                 {request: api.Request{Accelerator: "v6e-16"}, err: "come with a later version"},
		"pathways":                      {request: api.Request{Backend: api.BackendPathways}, err: "come with a later version"},
		"reservation and spot":          {request: api.Request{Accelerator: "l4:spot", Reservation: "r"}, err: "--reservation"},
		"local has its own":             {request: api.Request{Accelerator: "v6e-16", Backend: api.BackendLocal}, kind: api.CPU},
		"a local typing mistake is one": {request: api.Request{Accelerator: "l5", Backend: api.BackendLocal}, err: "l5"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := chooseAccelerator(tt.request)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Kind != tt.kind || got.Spot != tt.wantSpot {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestNewSpecDefaults(t *testing.T) {
	where := target.Target{Namespace: "ml", Store: "gs://b"}
	cpu := api.Accelerator{Kind: api.CPU, Name: "cpu", Hosts: 1}
	gpu := api.Accelerator{Kind: api.GPU, Name: "l4", Chips: 1, Hosts: 1, Spot: true}

	s, err := newSpec(api.Request{Image: "i", Retries: -1}, where, cpu)
	if err != nil || s.Backend != api.BackendGKE || s.CPU != "1" || s.Memory != "2Gi" || s.MemoryLimit != "" || s.Retries != 0 {
		t.Errorf("a cpu job: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Image: "i", Retries: -1, Memory: "4Gi"}, where, cpu)
	if err != nil || s.Memory != "4Gi" || s.MemoryLimit != "4Gi" {
		t.Errorf("memory that was asked for is a limit: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Image: "i", Retries: -1}, where, gpu)
	if err != nil || s.CPU != "" || s.Memory != "" || s.Retries != 3 {
		t.Errorf("a spot gpu job: %+v, %v", s, err)
	}
	s, err = newSpec(api.Request{Image: "i", Retries: 0}, where, gpu)
	if err != nil || s.Retries != 0 {
		t.Errorf("--retries 0 with spot: %+v, %v", s, err)
	}
	if _, err = newSpec(api.Request{}, where, cpu); err == nil || !strings.Contains(err.Error(), "--image") {
		t.Errorf("without an image: %v", err)
	}
	s, err = newSpec(api.Request{Backend: api.BackendLocal, Image: "i"}, where, cpu)
	if err != nil || s.Namespace != "" || s.Image != "" || s.CPU != "" {
		t.Errorf("a local job has no place in a cluster: %+v, %v", s, err)
	}
}
