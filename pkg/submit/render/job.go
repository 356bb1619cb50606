package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Keys that GKE and other controllers read. They are shared with the components of the
// package manifests where those have a sample value to replace.
const (
	labelInstance = "app.kubernetes.io/instance"
	labelVersion  = "app.kubernetes.io/version"
)

// Paths in the Job of manifests/base/job.
const (
	jobMetadata = "/metadata"
	podMetadata = "/spec/template/metadata"
	podSpec     = "/spec/template/spec"
	container   = podSpec + "/containers/0"
)

// jobPatch turns the Job of the base and its components into the one of the Spec.
func jobPatch(s api.Spec, r program, l lists) (patch, error) {
	var p patch
	p.test(container+"/name", api.ContainerName)
	p.identity(s)
	if !s.Backend.IsLeaderWorkerSet() { // a set has its own
		p.add(jobMetadata+"/annotations", annotations(s, r))
		p.replace("/spec/backoffLimit", s.Retries)
	}
	p.replace(container+"/image", s.Image)
	if s.ImageMoves {
		p.add(container+"/imagePullPolicy", "Always")
	}
	args, err := arguments(s)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		p.add(container+"/args/-", arg)
	}
	if s.Warm != nil {
		p.warm(s)
	}
	p.environment(s, l)
	p.resources(s)
	p.accelerator(s)
	if err := p.network(s); err != nil {
		return nil, err
	}
	if err := p.capacity(s); err != nil {
		return nil, err
	}
	p.nodePool(s)
	if s.ServiceAccount != "" {
		p.replace(podSpec+"/serviceAccountName", s.ServiceAccount)
	}
	if s.PriorityClass != "" {
		p.replace(podSpec+"/priorityClassName", s.PriorityClass)
	}
	runner, _ := l.find(volumeList, runnerVolume)
	p.replace(runner+"/configMap/name", r.configMapName())
	p.disk(s, l)
	p.data(s, l)
	if s.StoreCredentials != "" {
		p.replace(p.entry(l, volumeList, componentKey)+"/secret/secretName", s.StoreCredentials)
	}
	return p, nil
}

func (p *patch) identity(s api.Spec) {
	labels := map[string]string{api.LabelJobID: s.ID, labelInstance: s.ID}
	if v := labelValue(s.ClientVersion); v != "" {
		labels[labelVersion] = v
	}
	if kind := s.Capacity.Kind; kind != api.CapacityOnDemand {
		p.add(pointer(jobMetadata+"/labels", api.LabelCapacity), string(kind))
	}
	p.replace(jobMetadata+"/name", s.JobName())
	p.add(jobMetadata+"/namespace", s.Namespace)
	for _, metadata := range []string{jobMetadata, podMetadata} {
		p.addEach(metadata+"/labels", labels)
		p.addEach(metadata+"/labels", s.Labels)
	}
	if s.Queue != "" {
		p.replace(pointer(jobMetadata+"/labels", api.LabelQueue), s.Queue)
	}
	p.addEach(podMetadata+"/annotations", s.Annotations)
}

func annotations(s api.Spec, r program) map[string]string {
	all := r.annotations(s)
	all[api.AnnotationStore], all[api.AnnotationFunction] = s.Store, s.Name
	if s.CallText != "" {
		all[api.AnnotationCall] = s.CallText
	}
	if s.Pathways != nil {
		all[api.AnnotationPathways] = s.Pathways.Version
	}
	if s.AcceleratorText != "" {
		all[api.AnnotationAccelerator] = s.AcceleratorText
	}
	if s.MaxCost > 0 {
		all[api.AnnotationMaxCost] = strconv.FormatFloat(s.MaxCost, 'f', -1, 64)
	}
	maps.Copy(all, warmAnnotations(s))
	maps.Copy(all, s.Annotations)
	return all
}

// arguments returns the runner's arguments as written in a manifest. They follow those of
// the base and the components.
func arguments(s api.Spec) ([]string, error) {
	own := append([]string{"--job", s.ID}, runnerArguments(s)...)
	if s.Warm != nil {
		var err error
		if own, err = warmArguments(s); err != nil {
			return nil, err
		}
	}
	var args []string
	for _, arg := range own {
		args = append(args, literal(arg))
	}
	return append(args, storeArguments(s)...), nil
}

// runnerArguments returns the runner's arguments about the call, without its ID.
func runnerArguments(s api.Spec) []string {
	args := []string{"--store", s.Store, "--call", s.CallSHA256, "--bundle", s.BundleSHA256}
	if s.EnvironmentSHA256 != "" {
		args = append(args, "--environment", s.EnvironmentSHA256)
	}
	if s.Payload != nil {
		args = append(args, "--payload", s.Payload.SHA256)
	}
	if s.CallKind.Returns() && (s.Backend == api.BackendGKE && s.Hosts == 1 || s.Host != "") && s.Map == nil && s.Processes == "" {
		args = append(args, "--function")
	}
	args = append(args, s.OutputArguments()...)
	args = append(args, s.Cache.Arguments()...)
	if s.MaxRuntime > 0 {
		args = append(args, "--max-runtime", seconds(s.MaxRuntime))
	}
	args = append(args, s.HangArguments()...)
	if s.Budget > 0 {
		args = append(args, "--budget", seconds(s.Budget))
	}
	if s.MaxDisruptions != api.DefaultMaxDisruptions {
		args = append(args, "--max-disruptions", strconv.Itoa(s.MaxDisruptions))
	}
	return slices.Concat(args, retryArguments(s), s.Map.Arguments(), groupArguments(s))
}

// seconds returns a time limit in whole seconds, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// retryArguments tell the runner about retries where Kubernetes doesn't count them alone.
func retryArguments(s api.Spec) []string {
	if s.RetryOn != api.RetryOnError && !s.Backend.IsLeaderWorkerSet() && s.Map == nil {
		return nil
	}
	return s.RetryArguments()
}

// groupArguments are additional arguments for several hosts or processes: how many there are, how many
// chips of which kind each host has, and for a LeaderWorkerSet, which restarts its pods forever, the object
// that its leader scales to zero at the end.
func groupArguments(s api.Spec) []string {
	var args []string
	if s.Processes != "" {
		args = append(args, "--processes", s.Processes)
	}
	if (s.Hosts > 1 || s.Processes != "") && s.Accelerator.Kind != api.CPU {
		args = append(args, "--chips", fmt.Sprintf("%s:%d", s.Accelerator.Kind, s.Accelerator.ChipsPerHost))
	}
	if s.Pathways != nil {
		args = append(args, "--pathways", strconv.Itoa(s.Pathways.TPUHosts))
	}
	if s.Host == "" { // else the warm host ends the set
		args = append(args, releaseArguments(s)...)
	}
	return args
}

// releaseArguments name the object that the leader of a LeaderWorkerSet scales to zero at the end.
func releaseArguments(s api.Spec) []string {
	if !s.Backend.IsLeaderWorkerSet() {
		return nil
	}
	return []string{"--release", s.Namespace + "/" + s.JobName()}
}

// resources requests CPU, memory and disk. Memory may also be a limit: then a job that
// exceeds it is killed itself, rather than something else on the node.
func (p *patch) resources(s api.Spec) {
	requests, limits := map[string]string{}, map[string]string{}
	if s.CPU != "" {
		requests["cpu"] = s.CPU
	}
	if s.Memory != "" {
		requests["memory"] = s.Memory
	}
	if s.Disk != "" && !s.DiskVolume {
		requests["ephemeral-storage"] = s.Disk
	}
	if s.MemoryLimit != "" {
		limits["memory"] = s.MemoryLimit
	}
	at := container + "/resources"
	if s.Accelerator.Kind != api.CPU && s.Pathways == nil {
		p.addEach(at+"/requests", requests)
		p.addEach(at+"/limits", limits)
		return
	}
	whole := map[string]any{}
	if len(requests) > 0 {
		whole["requests"] = requests
	}
	if len(limits) > 0 {
		whole["limits"] = limits
	}
	if len(whole) > 0 {
		p.add(at, whole)
	}
}

// accelerator replaces the samples of the components gpu and tpu. With a ComputeClass,
// they have no node selectors.
func (p *patch) accelerator(s api.Spec) {
	a := s.Accelerator
	if a.Kind == api.CPU {
		return
	}
	if s.Pathways == nil { // else the workers have the chips
		chips := strconv.Itoa(a.ChipsPerHost)
		for _, list := range []string{"/resources/limits", "/resources/requests"} {
			p.replace(pointer(container+list, a.Resource), chips)
		}
	}
	if s.Capacity.Kind == api.CapacityClass {
		return
	}
	labels := a.NodeLabels()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		p.node(key, labels[key])
	}
}

// capacity replaces the samples of the components reservation and compute-class, and adds
// selectors for which they have no sample.
func (p *patch) capacity(s api.Spec) error {
	selector := podSpec + "/nodeSelector"
	switch {
	case s.AutopilotClass == "":
	case s.Accelerator.Kind == api.CPU && s.Capacity.Kind == api.CapacityOnDemand: // it has no selector yet
		p.add(selector, map[string]string{api.NodeLabelComputeClass: s.AutopilotClass})
	default:
		p.add(pointer(selector, api.NodeLabelComputeClass), s.AutopilotClass)
	}
	if s.Capacity.Kind == api.CapacityClass {
		p.node(api.NodeLabelComputeClass, s.Capacity.Name)
	}
	if s.Capacity.Kind != api.CapacityReservation {
		return nil
	}
	r, err := api.ParseReservation(s.Capacity.Name)
	if err != nil {
		return fmt.Errorf("reservation %q: %w", s.Capacity.Name, err)
	}
	labels := r.NodeLabels()
	p.node(api.NodeLabelReservation, r.Name)
	delete(labels, api.NodeLabelReservation)
	p.addEach(selector, labels)
	return nil
}

func (p *patch) node(key, value string) { p.replace(pointer(podSpec+"/nodeSelector", key), value) }

var notInLabel = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// labelValue turns a version into a valid label value: v1.2.3+dirty has a plus sign.
func labelValue(version string) string {
	v := notInLabel.ReplaceAllString(version, "-")
	if len(v) > 63 {
		v = v[:63]
	}
	return strings.Trim(v, "-._")
}
