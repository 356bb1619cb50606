package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// check rejects a Spec that can't be rendered, or would be rendered into
// something other than it says.
func check(s api.Spec) error {
	if err := store.CheckID(s.ID); err != nil {
		return err
	}
	for _, must := range []struct{ name, value string }{
		{"namespace", s.Namespace}, {"image", s.Image}, {"store", s.Store},
		{"hash of the call", s.CallSHA256}, {"hash of the bundle", s.BundleSHA256},
	} {
		if must.value == "" {
			return fmt.Errorf("job %s has no %s", s.ID, must.name)
		}
	}
	if err := checkAccelerator(s); err != nil {
		return err
	}
	if err := checkHosts(s); err != nil {
		return err
	}
	if err := checkMap(s); err != nil {
		return err
	}
	if err := checkCapacity(s); err != nil {
		return err
	}
	for _, text := range []struct{ name, value string }{{"name", s.Name}, {"call", s.CallText}, {"output directory", s.OutputDir}} {
		if err := checkText(text.value); err != nil {
			return fmt.Errorf("%s of job %s: %w", text.name, s.ID, err)
		}
	}
	if err := checkEnv(s); err != nil {
		return err
	}
	return checkAnnotations(s.Annotations)
}

// checkHosts rejects numbers that no workload can have.
func checkHosts(s api.Spec) error {
	several := s.Backend == api.BackendGKE && s.Hosts > 1
	switch {
	case s.Backend != api.BackendGKE && s.Backend != api.BackendPathways:
		return fmt.Errorf("backend %q has no manifests; gke and pathways have", s.Backend)
	case s.Hosts < 1 || s.Hosts > api.MaxHosts:
		return fmt.Errorf("job %s is on %d hosts; want 1 to %d", s.ID, s.Hosts, api.MaxHosts)
	case s.Slices < 1 || s.Hosts%s.Slices != 0:
		return fmt.Errorf("job %s has %d hosts, which are no whole number for each of its %d slices", s.ID, s.Hosts, s.Slices)
	case s.Accelerator.Kind == api.TPU && s.Hosts != s.Slices*s.Accelerator.Hosts:
		return fmt.Errorf("job %s is on %d hosts; %d slices of %s have %d", s.ID, s.Hosts, s.Slices, s.AcceleratorText, s.Slices*s.Accelerator.Hosts)
	case s.Backend == api.BackendGKE && s.Slices > 1:
		return fmt.Errorf("job %s has %d slices; only backend pathways joins slices", s.ID, s.Slices)
	case s.Debug && s.Hosts > 1:
		return fmt.Errorf("job %s is debugged on %d hosts; a debugger is for one", s.ID, s.Hosts)
	case s.Retries < 0 || s.Retries > api.MaxRestarts:
		return fmt.Errorf("job %s asks for %d retries; want 0 to %d", s.ID, s.Retries, api.MaxRestarts)
	case s.RetryOn != "" && s.RetryOn != api.RetryOnCrash && s.RetryOn != api.RetryOnError:
		return fmt.Errorf("job %s is retried on %q; want %s or %s", s.ID, s.RetryOn, api.RetryOnCrash, api.RetryOnError)
	case s.RetryOn == api.RetryOnError && (several || s.Map != nil):
		return fmt.Errorf("job %s is retried on errors; that is not for maps, nor for several hosts with backend gke", s.ID)
	case several && s.Retries > 0:
		return fmt.Errorf("job %s asks for %d retries; with backend gke the loss of one of several hosts is the end", s.ID, s.Retries)
	}
	return nil
}

// checkMap rejects numbers that no Job can have.
func checkMap(s api.Spec) error {
	m := s.Map
	switch {
	case m == nil:
		return nil
	case s.Backend != api.BackendGKE || s.Hosts > 1 || s.Debug:
		return fmt.Errorf("job %s is a map; that is for pods by themselves, in a Job, without a debugger", s.ID)
	case m.InputsSHA256 == "" || m.Inputs < 1 || m.Chunk < 1 || m.Parallelism < 1:
		return fmt.Errorf("job %s is an incomplete map: %+v", s.ID, *m)
	case m.Chunks() > api.MaxChunks || m.Parallelism > m.Chunks():
		return fmt.Errorf("job %s is a map of %d chunks, %d at a time; want at most %d, and no more at a time than there are", s.ID, m.Chunks(), m.Parallelism, api.MaxChunks)
	}
	return nil
}

// checkCapacity rejects what GKE does, or would have no effect.
func checkCapacity(s api.Spec) error {
	var ways []string
	for _, way := range []struct {
		name string
		used bool
	}{
		{"spot capacity", s.Accelerator.Spot},
		{"a reservation", s.Reservation != ""},
		{"flex-start", s.FlexStart},
		{"a ComputeClass", s.ClassChooses()},
	} {
		if way.used {
			ways = append(ways, way.name)
		}
	}
	if len(ways) > 1 {
		return fmt.Errorf("job %s asks for %s; they exclude each other", s.ID, strings.Join(ways, " and "))
	}
	return nil
}

// checkText rejects what kustomize can't write into a manifest or would change,
// found by fuzzing. Its errors don't repeat the text, which may be a secret.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("it is not UTF-8, and a manifest carries text only")
	}
	if strings.HasPrefix(text, "\t") && strings.Contains(text, "\n") {
		return errors.New("a text of several lines can't begin with a tab in a manifest")
	}
	for _, r := range text {
		if r == 0 || (r >= 0x7f && r < 0xa0) || r == 0xfffe || r == 0xffff {
			return fmt.Errorf("it has the control character %U, which a manifest can't carry", r)
		}
	}
	return nil
}

func checkAccelerator(s api.Spec) error {
	a := s.Accelerator
	switch a.Kind {
	case api.CPU:
		return nil
	case api.GPU, api.TPU:
	default:
		return fmt.Errorf("accelerator %s is of kind %q; want cpu, gpu or tpu", s.AcceleratorText, a.Kind)
	}
	if a.Label == "" || a.Resource == "" || a.ChipsPerHost < 1 || (a.Kind == api.TPU && a.Topology == "") {
		return fmt.Errorf("accelerator %s is incomplete: label %q, resource %q, topology %q, %d chips on a host",
			s.AcceleratorText, a.Label, a.Resource, a.Topology, a.ChipsPerHost)
	}
	if a.Arch != "" && a.Arch != archARM {
		return fmt.Errorf("accelerator %s has processors of architecture %q; want %s or none", s.AcceleratorText, a.Arch, archARM)
	}
	return nil
}

// reserved are the variables that the runner needs as base and components set them.
var reserved = []string{api.EnvPodUID, api.EnvHosts, api.EnvLeader, api.EnvSlices, api.EnvGroupKey}

// indexVariable is how Kubernetes tells a pod of an Indexed Job its number.
const indexVariable = "JOB_COMPLETION_INDEX"

// debugVariables are set by the component debug, or would move the debugger away
// from the port that the component tells.
var debugVariables = []string{api.EnvDebug, api.EnvBreakpoint, api.EnvDebugPort}

func checkEnv(s api.Spec) error {
	seen := map[string]bool{}
	once := func(name string) error {
		if slices.Contains(reserved, name) {
			return fmt.Errorf("env %s: the job sets it itself; choose another name", name)
		}
		if s.Map != nil && name == indexVariable {
			return fmt.Errorf("env %s: it tells a pod of a map which inputs are its own; choose another name", name)
		}
		if s.Debug && slices.Contains(debugVariables, name) {
			return fmt.Errorf("env %s: the debugger needs it; leave it out, or --debug", name)
		}
		if name == api.EnvCredentials && s.StoreCredentials != "" {
			return fmt.Errorf("env %s: the credentials for the store set it; name one of the two", name)
		}
		if seen[name] {
			return fmt.Errorf("env %s is given twice", name)
		}
		seen[name] = true
		return nil
	}
	for _, e := range s.Env {
		if err := once(e.Name); err != nil {
			return err
		}
		if err := checkText(e.Value); err != nil {
			return fmt.Errorf("value of env %s: %w", e.Name, err)
		}
	}
	for _, name := range s.SecretEnv {
		if err := once(name); err != nil {
			return err
		}
	}
	return nil
}

// kustomizePrefixes begin annotations that kustomize reads: one of them drops
// the object from the output.
var kustomizePrefixes = []string{"config.kubernetes.io/", "internal.config.kubernetes.io/", "kustomize.config.k8s.io/", "config.k8s.io/"}

func checkAnnotations(annotations map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if err := checkText(annotations[key]); err != nil {
			return fmt.Errorf("value of annotation %s: %w", key, err)
		}
		for _, prefix := range kustomizePrefixes {
			if strings.HasPrefix(key, prefix) {
				return fmt.Errorf("annotation %s: kustomize keeps %s* for itself; choose another key", key, prefix)
			}
		}
		if strings.Trim(key, "0123456789") == "" {
			return fmt.Errorf("annotation %s: kustomize takes a number for a place in a list; choose another key", key)
		}
	}
	return nil
}
