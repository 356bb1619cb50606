package submit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/target"
	"github.com/kubectl-kinetic/kinetic/pkg/version"
)

// What a cpu job asks for, so that it is no pod that is evicted first.
const (
	defaultCPU    = "1"
	defaultMemory = "2Gi"
)

// spotRetries is how often a job on spot capacity starts again by default.
const spotRetries = 3

// chooseAccelerator is the hardware of the job. A local job has this machine's.
func chooseAccelerator(r api.Request) (api.Accelerator, error) {
	text := r.Accelerator
	if text == "" {
		text = string(api.CPU)
	}
	acc, err := accelerator.Parse(text, accelerator.Options{Spot: r.Spot, Backend: r.Backend})
	switch {
	case err != nil:
		return acc, fmt.Errorf("--%w", err)
	case acc.Spot && r.Reservation != "":
		return acc, errors.New("--reservation and spot capacity exclude each other: give one of them")
	case r.Backend == api.BackendLocal && acc.Kind != api.CPU:
		cpu, err := accelerator.Parse(string(api.CPU), accelerator.Options{})
		return cpu, err
	case r.Backend == api.BackendLocal:
		return acc, nil
	case acc.Hosts > 1 || r.Backend == api.BackendPathways:
		return acc, fmt.Errorf("--accelerator %q: %s; jobs on several hosts and --backend pathways come with a later version", text, accelerator.Describe(acc))
	}
	return acc, nil
}

// outputDir is --output-dir as the job is told it: a local job may get a path
// relative to where it was started, a pod a bucket or a path of its own.
func outputDir(r api.Request, cwd string) (string, error) {
	dir := r.OutputDir
	scheme, _, isURL := strings.Cut(dir, "://")
	switch {
	case dir == "" || r.Backend != api.BackendLocal && (scheme == "gs" && isURL || filepath.IsAbs(dir)):
		return dir, nil
	case r.Backend != api.BackendLocal:
		return "", fmt.Errorf("--output-dir %q: want gs://BUCKET/PREFIX, or an absolute path in the container", dir)
	case isURL:
		return "", fmt.Errorf("--output-dir %q: a local job writes to a directory: name one", dir)
	case filepath.IsAbs(dir):
		return dir, nil
	default:
		return filepath.Join(cwd, dir), nil
	}
}

// newSpec is everything about the job but what it is called and what it runs.
func newSpec(r api.Request, where target.Target, acc api.Accelerator) (api.Spec, error) {
	s := api.Spec{
		Backend: r.Backend, Namespace: where.Namespace, Project: where.Project, Zone: where.Zone, Cluster: where.Cluster,
		AcceleratorText: r.Accelerator, Accelerator: acc, Hosts: acc.Hosts, Slices: 1, Image: r.Image, Store: where.Store, OutputDir: r.OutputDir,
		Env: r.Env, SecretEnv: slices.Sorted(maps.Keys(r.Secrets)), Retries: r.Retries, MaxRuntime: r.MaxRuntime,
		MaxDisruptions: r.MaxDisruptions, StoreCredentials: r.StoreCredentials,
		ServiceAccount: r.ServiceAccount, Queue: r.Queue, Reservation: r.Reservation, PriorityClass: r.PriorityClass,
		CPU: r.CPU, Memory: r.Memory, MemoryLimit: r.Memory, Labels: r.Labels, Annotations: r.Annotations, ClientVersion: version.String(),
	}
	if s.Backend == "" {
		s.Backend = api.BackendGKE
	}
	if s.Retries < 0 {
		s.Retries = 0
		if acc.Spot {
			s.Retries = spotRetries
		}
	}
	if s.Backend == api.BackendLocal {
		s.Namespace, s.Image, s.AcceleratorText = "", "", string(api.CPU)
		return s, nil
	}
	if acc.Kind == api.CPU {
		s.CPU, s.Memory = cmp.Or(s.CPU, defaultCPU), cmp.Or(s.Memory, defaultMemory)
	}
	if s.Image == "" {
		return s, errors.New("--image: name the image to run in, or set KINETIC_IMAGE; python:3.12-slim is one. Finding and building images comes with a later version")
	}
	return s, nil
}

// identify names the job and what it runs.
func (p *Planned) identify(r api.Request, id Identity) {
	s := &p.Spec
	s.Created = id.When.UTC()
	s.CallKind, s.CallSHA256, s.BundleSHA256 = p.call.Kind, sha256Hex(p.Call), p.Files.SHA256
	s.Name = callName(p.call)
	if r.Name != "" {
		s.Name = r.Name
	}
	if id.Hex == "" {
		// Every field of a Spec can be marshalled.
		data, _ := json.Marshal(s)
		id.Hex = sha256Hex(data)[:hexDigits]
	}
	s.ID = r.JobID
	if s.ID == "" {
		s.ID = newID(s.Accelerator, s.Name, id)
	}
}
