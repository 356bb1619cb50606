package submit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// spotRetries is how often a job on spot capacity restarts by default.
const spotRetries = 3

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
func newSpec(r api.Request, where config.Target, placement api.Placement) (api.Spec, error) {
	where = where.Known()
	s := api.Spec{
		Namespace: where.Namespace, Project: where.Project, Zone: where.Zone, Cluster: where.Cluster, Store: where.Store,
		Placement: placement, Pathways: newPathways(r, placement.Accelerator), MemoryLimit: r.Memory,
		Execution: r.Execution, SecretEnv: slices.Sorted(maps.Keys(r.Secrets)), ClientVersion: version.String(),
	}
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
		s.Namespace, s.MaxCost = "", 0 // this machine costs nothing
		return s, nil
	}
	return s, checkVariables(r, s)
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
