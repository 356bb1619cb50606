package submit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/amount"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// arguments returns the names of a function's arguments, those of data included. It rejects
// a name that is given twice.
func arguments(c api.Call, inputs []api.Data) ([]string, error) {
	names := slices.Collect(maps.Keys(c.KWArgs))
	for _, d := range inputs {
		if _, twice := c.KWArgs[d.Name]; twice {
			return nil, fmt.Errorf("--data %s=%s: --arg %s gives the same argument: omit one", d.Name, d.Source, d.Name)
		}
		if d.Name != "" {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// validateDisk rejects sizes that are none, and names that no StorageClass has.
func validateDisk(r api.Request) error {
	if r.Disk == "" && r.DiskClass != "" {
		return fmt.Errorf("--disk ,%s: the size is missing: expected SIZE,CLASS, such as 200Gi,%[1]s", r.DiskClass)
	}
	return errors.Join(amount.Size("--disk", r.Disk), dnsName("--disk "+r.Disk+",", r.DiskClass))
}

// validateOutputMount rejects outputs that can't be mounted.
func validateOutputMount(r api.Request) error {
	inBucket := r.OutputDir == "" || strings.HasPrefix(r.OutputDir, store.BucketScheme)
	switch {
	case !r.OutputMount:
		return nil
	case r.Backend == api.BackendLocal:
		return errors.New("--output-mount: a local job has no mounts: omit it, its outputs are a directory of this machine")
	case !inBucket:
		return fmt.Errorf("--output-mount can't mount --output-dir %s, which is not in a bucket: omit one of them", r.OutputDir)
	case strings.Contains(r.OutputDir, ","):
		return fmt.Errorf("--output-mount can't mount --output-dir %s, because of its comma: choose another", r.OutputDir)
	case r.ResumeFrom != "":
		return errors.New("--output-mount cannot be combined with --resume-from, which copies outputs to the pod's disk: name the other job's outputs with --output-dir")
	case r.OutputSync != 0:
		return errors.New("--output-mount cannot be combined with --output-sync: what is mounted is not saved from the pod's disk")
	}
	return nil
}

const (
	// smallData is how much data needs no disk of its own.
	smallData = 1 << 30
	// diskBesides is what a job needs of disk besides its data.
	diskBesides = 2 << 30
)

// requestDisk requests the disk that a pod's data needs, unless the user did, and decides whether it is a volume. The warning
// says that it is one although nobody asked for that.
func requestDisk(s *api.Spec) (warning string, err error) {
	if s.Backend == api.BackendLocal {
		return "", nil
	}
	bytes := inputBytes(s.Data)
	need := bytes + bytes/10 + diskBesides
	if s.Disk == "" && bytes >= smallData {
		s.Disk = gibibytes(need)
	}
	if s.Disk == "" {
		return "", nil
	}
	disk, most := resource.MustParse(s.Disk), accelerator.MaxDisk(s.AutopilotClass)
	if disk.CmpInt64(bytes) < 0 {
		return "", fmt.Errorf("--disk %s: the data alone takes %d MiB: request more, such as %s", s.Disk, bytes>>20, gibibytes(need))
	}
	s.DiskVolume = s.DiskClass != ""
	if most > 0 && disk.CmpInt64(most) > 0 && !s.DiskVolume { // no node has that disk for one pod
		s.DiskVolume = true
		warning = fmt.Sprintf("a pod of Autopilot's class %s may use %d GiB of its node's disk, and the job needs %s: its files go to a volume of the cluster's default StorageClass; --disk %[3]s,CLASS chooses another",
			s.AutopilotClass, most>>30, s.Disk)
	}
	return warning, nil
}

// hubWarnings warns of a data set of Hugging Face that nothing in the job may be able to load. Another
// package may bring datasets, and so may a base image of the user's own.
func (p Planned) hubWarnings() []string {
	i := slices.IndexFunc(p.Spec.Data, func(d api.Data) bool { return strings.HasPrefix(d.URL, hubScheme) })
	images := p.request.Images
	if i < 0 || !p.installs() || images.NoDeps || images.BaseImage+images.BaseImageRepo != "" {
		return nil
	}
	if _, required := p.Deps.WithModule("datasets"); required {
		return nil
	}
	source := cmp.Or(p.Deps.Source, "the project")
	return []string{fmt.Sprintf("%s is loaded with the package datasets, which %s does not require: add datasets, unless another package brings it",
		p.Spec.Data[i].Source, source)}
}

// gibibytes returns a number of bytes as a Kubernetes quantity, rounded up to whole GiB.
func gibibytes(bytes int64) string { return fmt.Sprintf("%dGi", (bytes+1<<30-1)>>30) }

// StoredBytes is how many bytes the job has in the store before it starts.
func (p Planned) StoredBytes() int64 {
	total := p.Files.StoredBytes
	for _, set := range p.Data.Sets {
		total += set.StoredBytes
	}
	for _, tree := range p.Data.Trees {
		total += tree.Bytes
	}
	return total + p.payload.Size
}

// storeData uploads what the store lacks of local inputs, one after the other: each uses as
// many connections as there may be.
func (s submission) storeData(ctx context.Context) (pack.Stats, error) {
	var sum pack.Stats
	add := func(stats pack.Stats, err error) error {
		sum.Bytes += stats.Bytes
		sum.NewBytes += stats.NewBytes
		sum.NewBlobs += stats.NewBlobs
		return err
	}
	for _, set := range s.Data.Sets {
		if err := add(set.Upload(ctx, s.registry.Store, s.progress)); err != nil {
			return sum, err
		}
	}
	for _, tree := range s.Data.Trees {
		if err := add(tree.UploadTree(ctx, s.registry.Store, s.progress)); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// serialized returns a function that makes one call of progress at a time, and none if it is nil.
func serialized(progress func(int64)) func(int64) {
	if progress == nil {
		return func(int64) {}
	}
	var mu sync.Mutex
	return func(more int64) {
		mu.Lock()
		defer mu.Unlock()
		progress(more)
	}
}
