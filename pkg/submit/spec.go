package submit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

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

// maxFlexStart is how long a machine of the Dynamic Workload Scheduler is there.
const maxFlexStart = 7 * 24 * time.Hour

// chooseAccelerator is the hardware of the job. A local job has this machine's.
func chooseAccelerator(r api.Request) (api.Accelerator, error) {
	text := r.Accelerator
	if text == "" {
		text = string(api.CPU)
	}
	acc, err := accelerator.Parse(text, accelerator.Options{Spot: r.Spot, Backend: r.Backend})
	if err != nil {
		return acc, fmt.Errorf("--%w", err)
	}
	if r.Backend == api.BackendLocal {
		if acc.Kind == api.CPU {
			return acc, nil
		}
		return accelerator.Parse(string(api.CPU), accelerator.Options{})
	}
	if err := checkCapacity(r, acc); err != nil {
		return acc, err
	}
	if err := checkSize(r, acc); err != nil {
		return acc, err
	}
	if err := checkHosts(r, acc); err != nil {
		return acc, err
	}
	return acc, checkPlacement(r, acc)
}

// checkSize rejects hosts that ask for more than any machine with their chips has. Only a
// ComputeClass knows its own machines.
func checkSize(r api.Request, acc api.Accelerator) error {
	most := accelerator.Largest(acc)
	if most.CPUs == 0 || classChooses(r) {
		return nil
	}
	for _, ask := range []struct{ flag, value, has string }{
		{"--cpu", r.CPU, strconv.Itoa(most.CPUs)},
		{"--memory", r.Memory, strconv.Itoa(most.GiB) + "Gi"},
	} {
		if ask.value == "" {
			continue
		}
		if asked, has := resource.MustParse(ask.value), resource.MustParse(ask.has); asked.Cmp(has) > 0 {
			return fmt.Errorf("%s %s: the largest machine for a host of %s (%s) has %s", ask.flag, ask.value, accelerator.Text(acc), most.Machine, ask.has)
		}
	}
	return nil
}

// classChooses reports whether the request leaves the machines to a ComputeClass.
func classChooses(r api.Request) bool { return api.Spec{ComputeClass: r.ComputeClass}.ClassChooses() }

// checkPlacement rejects what nothing could keep to.
func checkPlacement(r api.Request, acc api.Accelerator) error {
	switch {
	case r.Placement == api.PlacementExclusive && !isSlice(acc):
		return fmt.Errorf("--placement %s: only the hosts of a TPU slice have a node pool to themselves, and --accelerator %s is none of several hosts: leave it out", r.Placement, accelerator.Text(acc))
	case r.Placement == api.PlacementShared && r.Slices > 1:
		return fmt.Errorf("--placement %s cannot be combined with --slices %d: the hosts of each slice must be together in a node pool", r.Placement, r.Slices)
	}
	return nil
}

// isSlice reports whether an accelerator is a TPU on several hosts.
func isSlice(acc api.Accelerator) bool { return acc.Kind == api.TPU && acc.Hosts > 1 }

// groupVariables are set for each host by the controller of its job, and read by libtpu and
// JAX. perHost cannot be the same on all of them: the runner tells the hosts apart by them.
var (
	perHost        = []string{"LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "JOB_COMPLETION_INDEX"}
	groupVariables = []string{"TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT", "TPU_NAME",
		"MEGASCALE_COORDINATOR_ADDRESS", "MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID"}
)

// checkVariables rejects variables by which several hosts would all be the same one.
func checkVariables(s api.Spec) error {
	if s.Hosts == 1 {
		return nil
	}
	for _, e := range s.Env {
		if slices.Contains(perHost, e.Name) {
			return fmt.Errorf("--env %s: every host needs a value of its own, which the cluster sets: leave it out", e.Name)
		}
	}
	return nil
}

// hardwareWarnings are sentences about what the request says of the hardware and means
// something else.
func hardwareWarnings(r api.Request, s api.Spec) []string {
	if s.Backend == api.BackendLocal {
		return nil
	}
	var warnings []string
	if n := accelerator.CPUCount(r.Accelerator); n > 0 && r.CPU == "" {
		warnings = append(warnings, fmt.Sprintf("--accelerator %s: the number has no effect; --cpu %d asks for %d CPUs", r.Accelerator, n, n))
	}
	if s.Accelerator.Arch != "" && !s.ClassChooses() {
		warnings = append(warnings, fmt.Sprintf("the machines of %s have %s processors: the image must be built for linux/%s", s.Accelerator.Name, s.Accelerator.Arch, s.Accelerator.Arch))
	}
	if r.Placement == api.PlacementShared && !isSlice(s.Accelerator) {
		warnings = append(warnings, fmt.Sprintf("--placement %s has no effect on --accelerator %s: it is for TPU slices of several hosts",
			r.Placement, accelerator.Text(s.Accelerator)))
	}
	if s.Hosts > 1 && s.Accelerator.Kind == api.TPU {
		for _, e := range s.Env {
			if slices.Contains(groupVariables, e.Name) {
				warnings = append(warnings, fmt.Sprintf("--env %s: all %d hosts get this value, and the cluster then sets none of the variables by which TPU hosts find each other", e.Name, s.Hosts))
			}
		}
	}
	return warnings
}

// checkCapacity rejects ways to get machines of which GKE takes one.
func checkCapacity(r api.Request, acc api.Accelerator) error {
	var ways []string
	for _, way := range []struct {
		name string
		used bool
	}{
		{"--compute-class", classChooses(r)},
		{"--flex-start", r.FlexStart},
		{"--reservation", r.Reservation != ""},
		{"spot capacity (--spot)", acc.Spot},
	} {
		if way.used {
			ways = append(ways, way.name)
		}
	}
	switch {
	case !accelerator.TakesComputeClass(acc.Kind, r.ComputeClass) && acc.Kind == api.CPU:
		return fmt.Errorf("--compute-class %s: it is for jobs with accelerators: name one with --accelerator", r.ComputeClass)
	case !accelerator.TakesComputeClass(acc.Kind, r.ComputeClass):
		return fmt.Errorf("--compute-class %s: it has no accelerators, and --accelerator is %s; Autopilot's class for them is %s", r.ComputeClass, r.Accelerator, api.AcceleratorClass)
	case len(ways) > 1 && classChooses(r):
		return fmt.Errorf("%s exclude each other: the ComputeClass itself says which capacity is used; give one of them", strings.Join(ways, " and "))
	case len(ways) > 1:
		return fmt.Errorf("%s exclude each other: give one of them", strings.Join(ways, " and "))
	case r.FlexStart && acc.Kind == api.CPU:
		return errors.New("--flex-start is for accelerators: name one with --accelerator, or leave it out")
	case r.FlexStart && r.MaxRuntime > maxFlexStart:
		return fmt.Errorf("--max-runtime %s and --flex-start exclude each other: flex-start machines last at most 7 days (168h)", r.MaxRuntime)
	case r.FlexStart && !accelerator.HasFlexStart(acc):
		return fmt.Errorf("--flex-start and --accelerator %s exclude each other: GKE has no flex-start for TPU %s", r.Accelerator, acc.Name)
	}
	return nil
}

// checkHosts rejects numbers of hosts and slices that the hardware, or what
// runs the pods, doesn't have.
func checkHosts(r api.Request, acc api.Accelerator) error {
	hosts := max(r.Hosts, acc.Hosts)
	switch {
	case acc.Kind == api.TPU && r.Hosts == acc.Hosts:
		return fmt.Errorf("--hosts %d: a TPU's topology already determines its hosts (%s): leave it out", r.Hosts, accelerator.Describe(acc))
	case acc.Kind == api.TPU && r.Hosts > 0:
		return fmt.Errorf("--hosts %d: a TPU's topology determines its hosts (%s): %s", r.Hosts, accelerator.Describe(acc), otherHosts(r, acc))
	}
	if err := checkSlices(r, acc); err != nil {
		return err
	}
	if hosts*max(r.Slices, 1) == 1 {
		return nil
	}
	return checkSeveral(r, hosts*max(r.Slices, 1))
}

// otherHosts says how a TPU has another number of hosts.
func otherHosts(r api.Request, acc api.Accelerator) string {
	several, err := accelerator.Parse(accelerator.Text(acc), accelerator.Options{Backend: api.BackendPathways})
	if err == nil && several.Hosts == r.Hosts {
		return fmt.Sprintf("leave it out and say --backend pathways, which has %d for %s", r.Hosts, r.Accelerator)
	}
	advice := "leave it out, or choose another with --accelerator"
	if other := accelerator.WithHosts(acc, r.Hosts); other.Hosts != acc.Hosts {
		advice = fmt.Sprintf("choose another with --accelerator, such as %s, which has %d", accelerator.Text(other), other.Hosts)
	}
	if slices := r.Hosts / acc.Hosts; slices*acc.Hosts == r.Hosts && r.Backend != api.BackendGKE && accelerator.HasMultislice(acc) {
		advice += fmt.Sprintf(", or take %d of these slices with --slices %d", slices, slices)
	}
	return advice
}

// checkSlices rejects slices that can't be joined.
func checkSlices(r api.Request, acc api.Accelerator) error {
	most, joined := api.MaxHosts/acc.Hosts, accelerator.WithHosts(acc, 2)
	switch {
	case r.Slices < 2:
		return nil
	case acc.Kind != api.TPU:
		return fmt.Errorf("--slices %d: only TPUs come in slices; --hosts asks for several hosts of %s", r.Slices, acc.Name)
	case acc.Hosts == 1 && accelerator.HasMultislice(joined):
		return fmt.Errorf("--slices %d: slices of one host are not joined (%s): choose a larger topology with --accelerator, such as %s", r.Slices, accelerator.Describe(acc), accelerator.Text(joined))
	case !accelerator.HasMultislice(acc):
		return fmt.Errorf("--slices %d: slices of TPU %s can't be joined: choose a newer one with --accelerator", r.Slices, acc.Name)
	case r.Backend == api.BackendGKE:
		return fmt.Errorf("--slices %d and --backend gke exclude each other: --backend pathways joins slices", r.Slices)
	case r.Slices > most:
		return fmt.Errorf("--slices %d: a job has %d hosts at most, and these have %d each: want 1 to %d", r.Slices, api.MaxHosts, acc.Hosts, most)
	}
	return nil
}

// checkSeveral rejects what makes no sense on several hosts.
func checkSeveral(r api.Request, hosts int) error {
	switch {
	case r.Map != "":
		return fmt.Errorf("--map makes each call on one host, but --accelerator %s has %d hosts: choose one of one host", r.Accelerator, hosts)
	case r.Debug:
		return fmt.Errorf("--debug and several hosts exclude each other (these are %d): debug the call on one, with a smaller --accelerator or without --hosts and --slices", hosts)
	case r.Backend == api.BackendGKE && r.Retries > 0:
		return fmt.Errorf("--retries %d and --backend gke exclude each other on several hosts, of which the loss of one is the end: --backend pathways starts all of them again", r.Retries)
	case r.Backend == api.BackendGKE && r.MaxDisruptions > 0:
		return fmt.Errorf("--max-disruptions %d and --backend gke exclude each other on several hosts, of which the loss of one is the end: --backend pathways starts all of them again", r.MaxDisruptions)
	}
	return nil
}

// outputDir is --output-dir as the job is told it: a local job may get a path
// relative to where it was started, a pod a bucket or a path of its own.
func outputDir(r api.Request, cwd string) (string, error) {
	dir := r.OutputDir
	scheme, path, isURL := strings.Cut(dir, "://")
	inBucket := scheme == "gs" && path != "" && path[0] != '/'
	switch {
	case dir == "" || r.Backend != api.BackendLocal && (inBucket || filepath.IsAbs(dir)):
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
	where = where.Known()
	s := api.Spec{
		Backend: r.Backend, Namespace: where.Namespace, Project: where.Project, Zone: where.Zone, Cluster: where.Cluster,
		AcceleratorText: r.Accelerator, Accelerator: acc, Hosts: max(r.Slices, 1) * max(r.Hosts, acc.Hosts), Slices: max(r.Slices, 1), Image: r.Image, Store: where.Store, OutputDir: r.OutputDir,
		Env: r.Env, SecretEnv: slices.Sorted(maps.Keys(r.Secrets)), Retries: r.Retries, RetryOn: r.RetryOn, MaxRuntime: r.MaxRuntime,
		MaxDisruptions: r.MaxDisruptions, StoreCredentials: r.StoreCredentials,
		ServiceAccount: r.ServiceAccount, Queue: r.Queue, Reservation: r.Reservation, PriorityClass: r.PriorityClass,
		FlexStart: r.FlexStart, ComputeClass: r.ComputeClass, Debug: r.Debug,
		SharedPools: r.Placement == api.PlacementShared && isSlice(acc), Restricted: r.Restricted,
		CPU: r.CPU, Memory: r.Memory, MemoryLimit: r.Memory, Disk: r.Disk, Labels: r.Labels, Annotations: r.Annotations, ClientVersion: version.String(),
	}
	s.Backend = backend(s)
	s.Retries = retries(s)
	if s.MaxDisruptions < 0 {
		s.MaxDisruptions = api.DefaultMaxDisruptions
	}
	if s.Backend == api.BackendLocal {
		s.Hosts, s.Slices = 1, 1
		s.Namespace, s.Image, s.AcceleratorText = "", "", string(api.CPU)
		return s, nil
	}
	if err := checkVariables(s); err != nil {
		return s, err
	}
	switch share := accelerator.Share(acc); {
	case acc.Kind == api.CPU:
		s.CPU, s.Memory = cmp.Or(s.CPU, defaultCPU), cmp.Or(s.Memory, defaultMemory)
	case !s.ClassChooses():
		s.CPU, s.Memory = cmp.Or(s.CPU, strconv.Itoa(share.CPUs)), cmp.Or(s.Memory, strconv.Itoa(share.GiB)+"Gi")
	}
	if s.Image == "" {
		return s, errors.New("--image: name the image to run in, or set KINETIC_IMAGE; python:3.12-slim is one. Finding and building images comes with a later version")
	}
	return s, nil
}

// backend is what runs the job, where nobody chose.
func backend(s api.Spec) api.Backend {
	switch {
	case s.Backend != "":
		return s.Backend
	case s.Hosts > 1:
		return api.BackendPathways
	}
	return api.BackendGKE
}

// retries is how often the job starts again. Several hosts of a Job never do.
func retries(s api.Spec) int {
	switch {
	case s.Retries >= 0:
		return s.Retries
	case s.Accelerator.Spot && (s.Hosts == 1 || s.Backend == api.BackendPathways):
		return spotRetries
	}
	return 0
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
	s.CallText = callText(r, p.call, s.Map)
}
