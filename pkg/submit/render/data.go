package render

import (
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

const (
	mountList = container + "/volumeMounts"
	// scratchVolume is the volume of the base that has all files of a job.
	scratchVolume = "scratch"
)

// disk puts the files of the job on a volume, which is made with each pod and deleted with it.
// Without a StorageClass, Kubernetes takes the cluster's default.
func (p *patch) disk(s api.Spec, l lists) {
	if !s.DiskVolume {
		return
	}
	at := p.entry(l, volumeList, scratchVolume)
	p.remove(at + "/emptyDir")
	claim := map[string]any{
		"accessModes": []string{"ReadWriteOnce"},
		"resources":   map[string]any{"requests": map[string]string{"storage": s.Disk}},
	}
	if s.DiskClass != "" {
		claim["storageClassName"] = s.DiskClass
	}
	p.add(at+"/ephemeral", map[string]any{"volumeClaimTemplate": map[string]any{"spec": claim}})
}

// data mounts the inputs of the job. A copy that belongs at a fixed path is mounted there
// from the job's own volume, where the runner puts it.
func (p *patch) data(s api.Spec, l lists) {
	names := map[string]string{}
	for _, d := range append(slices.Clip(s.Data), mountedOutputs(s)...) {
		switch {
		case d.Access == api.AccessCopy && d.Mount != "":
			p.mount(corev1.VolumeMount{Name: scratchVolume, MountPath: d.Mount, SubPath: path.Join("data", d.Key())})
		case d.Access == api.AccessClaim:
			source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: d.Claim, ReadOnly: !isWritten(s, d.Claim)}}
			p.mount(corev1.VolumeMount{Name: p.volume(names, l, source), MountPath: d.Path, SubPath: d.Folder, ReadOnly: !d.Writable})
		case d.Access == api.AccessFUSE:
			p.mount(corev1.VolumeMount{Name: p.volume(names, l, fuseVolume(inBucket(s, d))), MountPath: d.Path, ReadOnly: !d.Writable})
		}
	}
}

// isWritten reports whether the job may write to a claim. If not, its volume is read-only as a
// whole: then disks can be attached to several nodes, and the owner of the files is not changed.
func isWritten(s api.Spec, claim string) bool {
	return slices.ContainsFunc(s.Data, func(d api.Data) bool { return d.Claim == claim && d.Writable })
}

// mountedOutputs returns the volume of a job's outputs, if they are mounted.
func mountedOutputs(s api.Spec) []api.Data {
	if !s.OutputMount {
		return nil
	}
	url := s.OutputDir
	if url == "" {
		url = s.Store + "/" + store.Outputs(s.ID)
	}
	bucket, folder := cutURL(url)
	return []api.Data{{Access: api.AccessFUSE, Bucket: bucket, Folder: folder, Path: api.OutputMountPath, Writable: true}}
}

// inBucket says where the files of this machine are that are mounted from the store.
func inBucket(s api.Spec, d api.Data) api.Data {
	if d.Set != "" {
		d.Bucket, d.Folder = cutURL(s.Store + "/" + store.DataTree(d.Set))
	}
	return d
}

func cutURL(url string) (bucket, folder string) {
	bucket, folder, _ = strings.Cut(strings.TrimPrefix(url, store.BucketScheme), "/")
	return bucket, strings.TrimSuffix(folder, "/")
}

func (p *patch) mount(m corev1.VolumeMount) { p.add(mountList+"/-", m) }

// volume adds a volume unless names has it, and returns its name.
func (p *patch) volume(names map[string]string, l lists, source corev1.VolumeSource) string {
	key := source.String()
	name, known := names[key]
	if !known {
		name = "data-" + strconv.Itoa(len(names))
		names[key] = name
		l.add(volumeList, "-", name)
		p.add(volumeList+"/-", corev1.Volume{Name: name, VolumeSource: source})
	}
	return name
}
