package submit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// What a CPU job requests, so that its pod is not the first to be evicted.
const (
	defaultCPU    = "1"
	defaultMemory = "2Gi"
)

// spotRetries is how often a job on spot capacity restarts by default.
const spotRetries = 3

// machines describe the hardware of a job's pods.
type machines struct {
	api.Accelerator
	capacity api.Capacity
	// autopilotClass is as in a Spec.
	autopilotClass string
}

// chooseMachines returns the hardware of the job. For a local job that is this machine.
func chooseMachines(r api.Request) (machines, error) {
	text := cmp.Or(r.AcceleratorText, string(api.CPU))
	acc, err := accelerator.Parse(text, accelerator.Options{Spot: r.Spot, Backend: r.Backend})
	if err != nil {
		return machines{}, fmt.Errorf("--%w", err)
	}
	if r.Backend == api.BackendLocal {
		acc, err = accelerator.Parse(string(api.CPU), accelerator.Options{})
		return machines{Accelerator: acc}, err
	}
	m := machines{Accelerator: acc}
	if m.capacity, err = chooseCapacity(r, acc); err != nil {
		return m, err
	}
	if api.IsBuiltInClass(r.ComputeClass) {
		m.autopilotClass = r.ComputeClass
	}
	return m, cmp.Or(checkSize(r, m), checkPathways(r, acc), checkHosts(r, acc), checkNetwork(r, acc), checkNodePools(r, acc))
}

// checkSize rejects hosts that request more than any machine with their chips has. A
// ComputeClass has machines that only it knows.
func checkSize(r api.Request, m machines) error {
	most := accelerator.Largest(m.Accelerator)
	if most.CPUs == 0 || m.capacity.Kind == api.CapacityClass {
		return nil
	}
	least := accelerator.Size{}                                 // of what runs beside the call
	if r.Backend == api.BackendPathways && r.OverlayDir == "" { // an overlay may change it
		least = accelerator.Size{CPUs: api.PathwaysCPUs, GiB: api.PathwaysGiB}
	}
	for _, ask := range []struct {
		flag, value, unit string
		has, beside       int
	}{
		{"--cpu", r.CPU, "", most.CPUs, least.CPUs},
		{"--memory", r.Memory, "Gi", most.GiB, least.GiB},
	} {
		if ask.value == "" {
			continue
		}
		text := func(n int) string { return strconv.Itoa(n) + ask.unit }
		if asked, has := resource.MustParse(ask.value), resource.MustParse(text(ask.has-ask.beside)); asked.Cmp(has) > 0 {
			err := fmt.Errorf("%s %s: the largest machine for a host of %s (%s) has %s", ask.flag, ask.value, accelerator.Text(m.Accelerator), most.Machine, text(ask.has))
			if ask.beside > 0 {
				err = fmt.Errorf("%w, of which the Pathways runtime requests %s", err, text(ask.beside))
			}
			return err
		}
	}
	return nil
}

// checkNodePools rejects a placement that can't be satisfied.
func checkNodePools(r api.Request, acc api.Accelerator) error {
	switch {
	case r.NodePools == api.NodePoolsExclusive && !isSlice(acc):
		return fmt.Errorf("--slice-node-pool %s: only multi-host TPU slices have a node pool of their own, but --accelerator is %s: omit it", r.NodePools, accelerator.Text(acc))
	case r.NodePools == api.NodePoolsShared && r.Slices > 1:
		return fmt.Errorf("--slice-node-pool %s cannot be combined with --slices %d: the hosts of each slice must be in one node pool", r.NodePools, r.Slices)
	}
	return nil
}

func isSlice(acc api.Accelerator) bool { return acc.Kind == api.TPU && acc.Hosts > 1 }

// hardwareWarnings warns about hardware flags that don't have their apparent effect.
func hardwareWarnings(r api.Request, s api.Spec) []string {
	if s.Backend == api.BackendLocal {
		return nil
	}
	warnings := accelerator.CapacityDoubts(s.Accelerator, s.Capacity.Kind, s.Machines(), r.Queue != "")
	warnings = append(warnings, pathwaysDoubts(s)...)
	if waitsForClaim(s, s.Network) {
		warnings = append(warnings, fmt.Sprintf("--network rdma with --queue %s: from v0.18 on, Kueue never admits a job that claims all RDMA cards of its nodes, so the job may wait for ever: omit --network for plain TCP, or --queue", s.Queue))
	}
	if n := accelerator.CPUCount(r.AcceleratorText); n > 0 && r.CPU == "" {
		warnings = append(warnings, fmt.Sprintf("--accelerator %s: the number has no effect; request %[3]d CPUs with --cpu %[2]d", r.AcceleratorText, n, n))
	}
	if s.Accelerator.Arch != "" && s.Capacity.Kind != api.CapacityClass && isOwn(r.Image) {
		warnings = append(warnings, fmt.Sprintf("the machines of %s have %s processors: the image must be built for linux/%s", s.Accelerator.Name, s.Accelerator.Arch, s.Accelerator.Arch))
	}
	if r.NodePools == api.NodePoolsShared && !isSlice(s.Accelerator) {
		warnings = append(warnings, fmt.Sprintf("--slice-node-pool %s has no effect with --accelerator %s: it is for multi-host TPU slices",
			r.NodePools, accelerator.Text(s.Accelerator)))
	}
	if s.Hosts > 1 && s.Accelerator.Kind == api.TPU {
		for _, e := range s.Env {
			if slices.Contains(groupVariables(), e.Name) {
				warnings = append(warnings, fmt.Sprintf("--env %s: all %d hosts get this value, and the cluster then sets none of the variables with which TPU hosts find each other", e.Name, s.Hosts))
			}
		}
	}
	return warnings
}

// checkHosts rejects numbers of hosts and slices that the hardware or the backend doesn't
// support.
func checkHosts(r api.Request, acc api.Accelerator) error {
	all := max(r.Hosts, acc.Hosts) * max(r.Slices, 1)
	switch {
	case acc.Kind == api.TPU && r.Hosts == acc.Hosts:
		return fmt.Errorf("--hosts %d: a TPU's topology already determines its hosts (%s): omit it", r.Hosts, accelerator.Describe(acc))
	case acc.Kind == api.TPU && r.Hosts > 0:
		return fmt.Errorf("--hosts %d: a TPU's topology determines its hosts (%s): %s", r.Hosts, accelerator.Describe(acc), otherHosts(r, acc))
	case acc.Kind == api.TPU && r.Processes != "" && r.Processes != api.ProcessesAuto && r.Processes != "1":
		return fmt.Errorf("--processes-per-host %s: one process uses all TPU chips of a host: omit it", r.Processes)
	}
	if r.Backend == api.BackendPathways { // whose one process sees all of them
		return nil
	}
	if err := checkSlices(r, acc); err != nil || all == 1 {
		return err
	}
	return checkSeveral(r, all)
}

// otherHosts says how a TPU can have another number of hosts.
func otherHosts(r api.Request, acc api.Accelerator) string {
	several, err := accelerator.Parse(accelerator.Text(acc), accelerator.Options{Backend: api.BackendLWS})
	if err == nil && several.Hosts == r.Hosts {
		return fmt.Sprintf("omit it and use --backend lws, which has %d for %s", r.Hosts, r.AcceleratorText)
	}
	advice := "omit it, or choose another with --accelerator"
	if other := accelerator.WithHosts(acc, r.Hosts); other.Hosts != acc.Hosts {
		advice = fmt.Sprintf("choose another with --accelerator, such as %s, which has %d", accelerator.Text(other), other.Hosts)
	}
	if slices := r.Hosts / acc.Hosts; slices*acc.Hosts == r.Hosts && r.Backend != api.BackendGKE && r.Backend != api.BackendPathways && accelerator.HasMultislice(acc) {
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
		return fmt.Errorf("--slices %d: only TPUs come in slices: for several hosts of %s, use --hosts", r.Slices, acc.Name)
	case acc.Hosts == 1 && accelerator.HasMultislice(joined):
		return fmt.Errorf("--slices %d: single-host slices can't be joined (%s): choose a larger topology with --accelerator, such as %s", r.Slices, accelerator.Describe(acc), accelerator.Text(joined))
	case !accelerator.HasMultislice(acc):
		return fmt.Errorf("--slices %d: slices of TPU %s can't be joined: choose a newer one with --accelerator", r.Slices, acc.Name)
	case r.Backend == api.BackendGKE:
		return fmt.Errorf("--slices %d cannot be combined with --backend gke: use --backend lws", r.Slices)
	case r.Slices > most:
		return fmt.Errorf("--slices %d: a job can have at most %d hosts, and each slice has %d: use 1 to %d", r.Slices, api.MaxHosts, acc.Hosts, most)
	}
	return nil
}

// checkSeveral rejects what makes no sense on several hosts.
func checkSeveral(r api.Request, hosts int) error {
	switch {
	case r.Map != "":
		return fmt.Errorf("--map makes each call on one host, but --accelerator %s has %d hosts: choose a single-host one", r.AcceleratorText, hosts)
	case r.Debug:
		return fmt.Errorf("--debug needs one host, not %d: use a smaller --accelerator, or omit --hosts and --slices", hosts)
	case r.Backend == api.BackendGKE && r.Retries > 0:
		return fmt.Errorf("--retries %d cannot be combined with --backend gke on several hosts: an Indexed Job fails when it loses one; use --backend lws", r.Retries)
	case r.Backend == api.BackendGKE && r.RetryOn == api.RetryOnError:
		return errors.New("--retry-on error cannot be combined with --backend gke on several hosts: an Indexed Job fails when it loses one; use --backend lws")
	case r.Backend == api.BackendGKE && r.MaxDisruptions > 0:
		return fmt.Errorf("--max-disruptions %d cannot be combined with --backend gke on several hosts: an Indexed Job fails when it loses one; use --backend lws", r.MaxDisruptions)
	}
	return nil
}

// outputDir returns --output-dir as it is passed to the job: a local job may get a path
// relative to where it was started, a pod gets a bucket or an absolute path. A shell does
// not expand the ~ in --output-dir=~/out.
func outputDir(r api.Request, m Machine) (string, error) {
	dir := r.OutputDir
	if r.Backend == api.BackendLocal {
		dir = platform.ExpandHome(dir, m.Home)
	}
	scheme, bucket, isURL := strings.Cut(dir, "://")
	inBucket := scheme == "gs" && bucket != "" && bucket[0] != '/'
	switch {
	case dir == "" || r.Backend != api.BackendLocal && (inBucket || path.IsAbs(dir)): // a container is Linux
		return dir, nil
	case r.Backend != api.BackendLocal:
		return "", fmt.Errorf("--output-dir %q: expected gs://BUCKET/PREFIX or an absolute path in the container", dir)
	case isURL:
		return "", fmt.Errorf("--output-dir %q: a local job needs a directory", dir)
	case filepath.IsAbs(dir):
		return dir, nil
	default:
		return filepath.Join(m.Cwd, dir), nil
	}
}

// newSpec returns the Spec without the job's name, ID and call.
func newSpec(r api.Request, where config.Target, m machines) (api.Spec, error) {
	where = where.Known()
	acc := m.Accelerator
	s := api.Spec{
		Namespace: where.Namespace, Project: where.Project, Zone: where.Zone, Cluster: where.Cluster, Store: where.Store,
		Placement: r.Placement, Accelerator: acc, Capacity: m.capacity, AutopilotClass: m.autopilotClass, MemoryLimit: r.Memory,
		Execution: r.Execution, SecretEnv: slices.Sorted(maps.Keys(r.Secrets)), ClientVersion: version.String(),
	}
	s.Hosts, s.Slices = max(r.Slices, 1)*max(r.Hosts, acc.Hosts), max(r.Slices, 1)
	if s.Pathways = newPathways(r, acc); s.Pathways != nil {
		s.Hosts = 1
	}
	if !isSlice(acc) {
		s.NodePools = ""
	}
	s.Backend = backend(s)
	s.Retries = retries(s)
	if r.Map != "" && r.Retries < 0 {
		s.Retries = mapRetries
	}
	keep, err := chooseWarm(r, s)
	if err != nil {
		return s, err
	}
	s.KeepWarm = keep
	if keep.Idle > 0 { // nothing is repeated, and a call that hangs must not hold the host for ever
		s.Retries, s.MaxRuntime = max(r.Retries, 0), cmp.Or(s.MaxRuntime, api.DefaultWarmRuntime)
	}
	if s.MaxDisruptions < 0 {
		s.MaxDisruptions = api.DefaultMaxDisruptions
	}
	if s.Backend == api.BackendLocal {
		s.Hosts, s.Slices, s.MaxCost = 1, 1, 0 // this machine costs nothing
		s.Namespace, s.Image, s.AcceleratorText = "", "", string(api.CPU)
		return s, nil
	}
	if err := checkVariables(r, s); err != nil {
		return s, err
	}
	switch share := accelerator.Share(acc); {
	case acc.Kind == api.CPU:
		s.CPU, s.Memory = cmp.Or(s.CPU, defaultCPU), cmp.Or(s.Memory, defaultMemory)
	case s.Capacity.Kind != api.CapacityClass:
		s.CPU, s.Memory = cmp.Or(s.CPU, strconv.Itoa(share.CPUs)), cmp.Or(s.Memory, strconv.Itoa(share.GiB)+"Gi")
	}
	return s, nil
}

// backend returns what runs the job, if nobody chose.
func backend(s api.Spec) api.Backend {
	switch {
	case s.Backend != "":
		return s.Backend
	case s.Hosts > 1:
		return api.BackendLWS
	}
	return api.BackendGKE
}

// retries returns how often the job restarts. A Job on several hosts never does.
func retries(s api.Spec) int {
	switch {
	case s.Retries >= 0:
		return s.Retries
	case s.Capacity.Kind == api.CapacitySpot && (s.Hosts == 1 || s.Backend.IsLeaderWorkerSet()):
		return spotRetries
	}
	return 0
}

func (p *Planned) identify(r api.Request, id Identity) {
	s := &p.Spec
	s.Created = id.When.UTC()
	s.CallKind, s.CallSHA256, s.BundleSHA256 = p.call.Kind, sha256Hex(p.Call), p.Files.SHA256
	s.Name = cmp.Or(r.Name, callName(p.call))
	if id.Hex == "" {
		// Every field of a Spec can be marshalled.
		data, _ := json.Marshal(s)
		id.Hex = sha256Hex(data)[:hexDigits]
	}
	s.ID = r.JobID
	if s.ID == "" {
		longest := longestID(mostChunks(r, s.Map))
		s.ID = newID(s.Accelerator, s.Name, id, longest)
		p.Warnings = append(p.Warnings, nameWarnings(r.Name, s, longest)...)
	}
	s.CallText = callText(r, p.call, p.payload.Arguments, s.Map)
}

// nameWarnings warns of a --name that is not whole in the job's ID.
func nameWarnings(name string, s *api.Spec, longest int) []string {
	kept := strings.TrimPrefix(store.WithoutTime(s.ID), s.Accelerator.Short()+"-")
	whole := slug(name) == kept && strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) < 0
	if name == "" || whole {
		return nil
	}
	return []string{fmt.Sprintf("--name %s: shortened to %s in the job's ID: IDs have at most %d characters: a-z, 0-9 and '-'", name, kept, longest)}
}

// losesOutputs reports whether the outputs go to a directory in the container that is
// lost with the pod.
func (p Planned) losesOutputs() bool {
	s := p.Spec
	if s.Backend == api.BackendLocal || !path.IsAbs(s.OutputDir) {
		return false
	}
	rendered, err := render.Objects(s, p.Overlay)
	return err == nil && !rendered.Keeps(s.JobName(), s.OutputDir) // reported when the objects are needed
}
