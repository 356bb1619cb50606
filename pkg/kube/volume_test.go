package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// fakeAPI has objects by path. It may refuse or fail every request.
type fakeAPI struct {
	objects   map[string]any
	forbidden bool
	broken    bool

	mu    sync.Mutex
	asked []string
}

func (f *fakeAPI) get(_ context.Context, into any, parts ...string) error {
	at := path.Join(parts...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, at)
	object, found := f.objects[at]
	switch what := (schema.GroupResource{Resource: path.Base(path.Dir(at))}); {
	case f.broken:
		return apierrors.NewInternalError(errors.New("etcd is down"))
	case f.forbidden:
		return apierrors.NewForbidden(what, path.Base(at), errors.New("no"))
	case !found:
		return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", what, path.Base(at), "", 0, false)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

const claimsPath = "/api/v1/namespaces/ml/persistentvolumeclaims"

func listNamed(names ...string) any {
	var items []any
	for _, name := range names {
		items = append(items, map[string]any{"metadata": map[string]any{"name": name}})
	}
	return map[string]any{"items": items}
}

// theClaim returns the claim datasets with these access modes.
func theClaim(modes ...corev1.PersistentVolumeAccessMode) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "datasets", Namespace: "ml"},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: modes},
	}
}

var (
	named    = api.Data{Name: "images", Source: "pvc://datasets/images", Access: api.AccessClaim, Claim: "datasets", Folder: "images"}
	mounted  = api.Data{Mount: "/mnt/work", Source: "pvc://datasets", Access: api.AccessClaim, Claim: "datasets"}
	writable = api.Data{Mount: "/mnt/work", Source: "pvc://datasets", Access: api.AccessClaim, Claim: "datasets", Writable: true}
)

// result is what a check comes to.
type result struct {
	fails, says string
	// asked is how many requests it takes.
	asked int
}

func check(t *testing.T, f *fakeAPI, s api.Spec, want result) {
	t.Helper()
	var said []string
	c := volumeChecker{Namespace: "ml", Get: f.get, Say: func(format string, args ...any) {
		line, isWarning := strings.CutPrefix(fmt.Sprintf(format, args...), "warning: ")
		if !isWarning {
			t.Errorf("%q is no warning", line)
		}
		said = append(said, line)
	}}
	err := c.CheckFlags(t.Context(), s)
	got := ""
	if err != nil {
		got = err.Error()
		var usage interface{ Usage() bool }
		if !errors.As(err, &usage) || !usage.Usage() {
			t.Errorf("%v is not a mistake in the command line", err)
		}
	}
	if got != want.fails {
		t.Errorf("error\n%s\nwant\n%s", got, want.fails)
	}
	if told := strings.Join(said, "\n"); told != want.says {
		t.Errorf("says\n%s\nwant\n%s", told, want.says)
	}
	if len(f.asked) != want.asked {
		t.Errorf("asked for %q, want %d requests", f.asked, want.asked)
	}
}

func TestClaims(t *testing.T) {
	const (
		rwo, rwx, rox, pod = corev1.ReadWriteOnce, corev1.ReadWriteMany, corev1.ReadOnlyMany, corev1.ReadWriteOncePod
	)
	with := func(change func(*corev1.PersistentVolumeClaim), modes ...corev1.PersistentVolumeAccessMode) corev1.PersistentVolumeClaim {
		c := theClaim(modes...)
		change(&c)
		return c
	}
	hosts := func(n int, inputs ...api.Data) api.Spec {
		return api.Spec{Placement: api.Placement{Hosts: n}, Data: inputs}
	}
	block := corev1.PersistentVolumeBlock
	for name, tt := range map[string]struct {
		claim corev1.PersistentVolumeClaim
		spec  api.Spec
		result
	}{
		"one host":                 {theClaim(rwo), hosts(1, named), result{asked: 1}},
		"mounted twice":            {theClaim(rwo), hosts(1, named, writable), result{asked: 1}},
		"written by one host":      {theClaim(rwo), hosts(1, writable), result{asked: 1}},
		"read by several":          {theClaim(rox), hosts(4, named), result{asked: 1}},
		"written by several":       {theClaim(rwx), hosts(4, writable), result{asked: 1}},
		"for one node or for many": {theClaim(rwo, rox), hosts(4, named), result{asked: 1}},
		"a map, one pod at a time": {theClaim(rwo), api.Spec{Placement: api.Placement{Hosts: 1}, Data: []api.Data{named}, Map: &api.Map{Parallelism: 1}}, result{asked: 1}},
		"a volume that can do more": {with(func(c *corev1.PersistentVolumeClaim) {
			c.Status.AccessModes = []corev1.PersistentVolumeAccessMode{rwo, rwx}
		}, rwo), hosts(4, writable), result{asked: 1}},
		"not bound yet": {with(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimPending }, rwo), hosts(1, named), result{asked: 1}},
		"for one node, several hosts read": {theClaim(rwo), hosts(4, named), result{asked: 1,
			says: "PersistentVolumeClaim datasets is ReadWriteOnce, for the pods of one node at a time: the 4 hosts of this job may wait for each other; a claim that is ReadOnlyMany is for all nodes"}},
		"for one node, several hosts write": {theClaim(rwo), hosts(4, named, writable), result{asked: 1,
			says: "PersistentVolumeClaim datasets is ReadWriteOnce, for the pods of one node at a time: the 4 hosts of this job may wait for each other; a claim that is ReadWriteMany is for all nodes"}},
		"for one node, a map": {theClaim(rwo), api.Spec{Placement: api.Placement{Hosts: 1}, Data: []api.Data{named}, Map: &api.Map{Parallelism: 9}}, result{asked: 1,
			says: "PersistentVolumeClaim datasets is ReadWriteOnce, for the pods of one node at a time: the pods of this map may wait for each other; a claim that is ReadOnlyMany is for all nodes"}},
		"for one pod, a map": {theClaim(pod), api.Spec{Placement: api.Placement{Hosts: 1}, Data: []api.Data{named}, Map: &api.Map{Parallelism: 9}}, result{asked: 1,
			says: "PersistentVolumeClaim datasets is ReadWriteOncePod, for one pod at a time: the pods of this map wait for each other"}},
		"for one pod, several hosts": {theClaim(pod), hosts(2, named), result{asked: 1,
			fails: "--data images=pvc://datasets/images: PersistentVolumeClaim datasets is ReadWriteOncePod, so only one of the 2 hosts could start: name one that is ReadOnlyMany"}},
		"for reading, written": {theClaim(rox), hosts(1, writable), result{asked: 1,
			fails: "--volume /mnt/work=pvc://datasets: PersistentVolumeClaim datasets is ReadOnlyMany, so nothing can be written to it: omit rw, or name one that is ReadWriteMany"}},
		"for reading": {theClaim(rox), hosts(1, mounted), result{asked: 1}},
		"being deleted": {with(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Unix(1, 0)) }, rwx), hosts(1, mounted), result{asked: 1,
			fails: "--volume /mnt/work=pvc://datasets: PersistentVolumeClaim datasets is being deleted: name another, or create it again"}},
		"without its volume": {with(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase, c.Spec.VolumeName = corev1.ClaimLost, "pv-7" }, rwx), hosts(1, mounted), result{asked: 1,
			fails: "--volume /mnt/work=pvc://datasets: PersistentVolumeClaim datasets has lost its volume pv-7: see kubectl describe pvc datasets -n ml"}},
		"without files": {with(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = &block }, rwo), hosts(1, mounted), result{asked: 1,
			fails: "--volume /mnt/work=pvc://datasets: PersistentVolumeClaim datasets is a block device without files: name one whose volumeMode is Filesystem"}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, &fakeAPI{objects: map[string]any{claimsPath + "/datasets": tt.claim}}, tt.spec, tt.result)
		})
	}
}

func TestWhatAClusterLacks(t *testing.T) {
	job := func(class string, inputs ...api.Data) api.Spec {
		return api.Spec{Placement: api.Placement{Hosts: 1, Disk: "50Gi", DiskClass: class}, Data: inputs}
	}
	all := map[string]any{claimsPath: listNamed("other", "dataset"), classPath: listNamed("standard", "premium-rwo")}
	for name, tt := range map[string]struct {
		api  *fakeAPI
		spec api.Spec
		result
	}{
		"neither is used": {&fakeAPI{objects: all}, job("", api.Data{Name: "x", Access: api.AccessCopy}), result{}},
		"a claim": {&fakeAPI{objects: all}, job("", named), result{asked: 2,
			fails: `--data images=pvc://datasets/images: there is no PersistentVolumeClaim datasets in namespace ml: did you mean "dataset"?`}},
		"all claims": {&fakeAPI{}, job("", mounted), result{asked: 2,
			fails: "--volume /mnt/work=pvc://datasets: there is no PersistentVolumeClaim datasets in namespace ml: kubectl get pvc -n ml lists them"}},
		"a class": {&fakeAPI{objects: all}, job("premium"), result{asked: 2,
			fails: `--disk 50Gi,premium: the cluster has no StorageClass premium: did you mean "premium-rwo"?`}},
		"a class unlike others": {&fakeAPI{objects: all}, job("fast"), result{asked: 2,
			fails: "--disk 50Gi,fast: the cluster has no StorageClass fast: kubectl get storageclasses lists them"}},
		"both": {&fakeAPI{}, job("fast", mounted), result{asked: 4,
			fails: "--volume /mnt/work=pvc://datasets: there is no PersistentVolumeClaim datasets in namespace ml: kubectl get pvc -n ml lists them\n" +
				"--disk 50Gi,fast: the cluster has no StorageClass fast: kubectl get storageclasses lists them"}},
		"nothing": {&fakeAPI{objects: map[string]any{classPath + "/fast": map[string]any{}, claimsPath + "/datasets": theClaim()}}, job("fast", named), result{asked: 2}},
		"permission": {&fakeAPI{forbidden: true}, job("fast", named), result{asked: 2,
			says: "can't check that namespace ml has the PersistentVolumeClaim datasets before the job starts: no permission to read PersistentVolumeClaims\n" +
				"can't check that the cluster has the StorageClass fast before the job starts: no permission to read StorageClasses"}},
		"an answer": {&fakeAPI{broken: true}, job("fast", named), result{asked: 2}},
	} {
		t.Run(name, func(t *testing.T) { check(t, tt.api, tt.spec, tt.result) })
	}
}

// A volume can be made and bound although the machine can't attach its disk. The node would be paid for
// nothing.
func TestDisksThatMachinesCannotAttach(t *testing.T) {
	class := func(name, driver string, parameters ...string) map[string]any {
		values := map[string]string{}
		for _, p := range parameters {
			key, value, _ := strings.Cut(p, "=")
			values[key] = value
		}
		return map[string]any{"metadata": map[string]any{"name": name}, "provisioner": driver, "parameters": values}
	}
	balanced, standard := class("standard-rwo", diskDriver, "type=pd-balanced"), class("standard", oldDiskDriver)
	hyperdisk, filestore := class("fast", diskDriver, "Type=hyperdisk-balanced"), class("standard-rwx", "filestore.csi.storage.gke.io", "tier=standard")
	flexible := class("dynamic-rwo", diskDriver, "type=dynamic", "pd-type=pd-balanced", "hyperdisk-type=hyperdisk-balanced")
	with := func(classes ...map[string]any) map[string]any {
		objects, items := map[string]any{}, []any{}
		for _, c := range classes {
			objects[classPath+"/"+c["metadata"].(map[string]any)["name"].(string)] = c
			items = append(items, c)
		}
		objects[classPath] = map[string]any{"items": items}
		return objects
	}
	on := func(accelerator, class string) api.Spec {
		return api.Spec{Placement: api.Placement{Accelerator: parse(t, accelerator), Hosts: 1, Disk: "50Gi", DiskClass: class}, DiskVolume: true}
	}
	all := []map[string]any{balanced, standard, hyperdisk, filestore, flexible}
	for name, tt := range map[string]struct {
		classes []map[string]any
		spec    api.Spec
		result
	}{
		"pd-balanced on v6e": {all, on("v6e-8", "standard-rwo"), result{asked: 2,
			fails: "--disk 50Gi,standard-rwo: StorageClass standard-rwo provisions pd-balanced disks, which machines of type ct6e-standard-8t can't attach; they take hyperdisk-balanced or hyperdisk-ml: name a StorageClass such as fast"}},
		"the driver's default on v6e": {all[:2], on("v6e-8", "standard"), result{asked: 2,
			fails: "--disk 50Gi,standard: StorageClass standard provisions pd-standard disks, which machines of type ct6e-standard-8t can't attach; they take hyperdisk-balanced or hyperdisk-ml: " +
				"create a StorageClass for one of these, or omit the class for the node's own disk (--disk 50Gi)"}},
		"hyperdisk on v5p": {all, on("v5p-8", "fast"), result{asked: 2,
			fails: "--disk 50Gi,fast: StorageClass fast provisions hyperdisk-balanced disks, which machines of type ct5p-hightpu-4t can't attach; they take pd-balanced, pd-ssd or hyperdisk-ml: name a StorageClass such as standard-rwo"}},
		"hyperdisk on v6e":                    {all, on("v6e-8", "fast"), result{asked: 1}},
		"pd-balanced on v5e":                  {all, on("v5e-4", "standard-rwo"), result{asked: 1}},
		"pd-balanced on l4":                   {all, on("l4", "standard-rwo"), result{asked: 1}},
		"a type that the driver chooses":      {all, on("v6e-8", "dynamic-rwo"), result{asked: 1}},
		"a file system":                       {all, on("v6e-8", "standard-rwx"), result{asked: 1}},
		"cpu, whose machines are not known":   {all, on("cpu", "standard-rwo"), result{asked: 1}},
		"a driver of another cluster's disks": {[]map[string]any{class("local", "rancher.io/local-path")}, on("v6e-8", "local"), result{asked: 1}},
	} {
		t.Run(name, func(t *testing.T) { check(t, &fakeAPI{objects: with(tt.classes...)}, tt.spec, tt.result) })
	}

	claim := theClaim(corev1.ReadWriteOnce)
	claim.Spec.StorageClassName = new("standard-rwo")
	byHand := with(balanced)
	byHand[claimsPath+"/datasets"] = claim
	spec := on("v6e-8", "")
	spec.DiskVolume, spec.Disk, spec.Data = false, "", []api.Data{named}
	t.Run("a claim of somebody's volume", func(t *testing.T) { check(t, &fakeAPI{objects: byHand}, spec, result{asked: 1}) })
	claim.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": diskDriver}
	made := with(balanced)
	made[claimsPath+"/datasets"] = claim
	t.Run("a claim of a disk", func(t *testing.T) {
		check(t, &fakeAPI{objects: made}, spec, result{asked: 2,
			fails: "--data images=pvc://datasets/images: PersistentVolumeClaim datasets is a pd-balanced disk of StorageClass standard-rwo, which machines of type ct6e-standard-8t can't attach: " +
				"they take hyperdisk-balanced or hyperdisk-ml; name another claim"})
	})
}

func parse(t *testing.T, text string) api.Accelerator {
	t.Helper()
	a, err := accelerator.Parse(text, accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestDefaultClass(t *testing.T) {
	class := func(isDefault string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "standard-rwo", "annotations": map[string]any{"storageclass.kubernetes.io/is-default-class": isDefault}}}
	}
	list := func(classes ...any) *fakeAPI {
		return &fakeAPI{objects: map[string]any{classPath: map[string]any{"items": classes}}}
	}
	none := "the disk of 50Gi has to be a volume, and the cluster has no default StorageClass: name one with --disk 50Gi,CLASS; kubectl get storageclasses lists them"
	for name, tt := range map[string]struct {
		api *fakeAPI
		result
	}{
		"there is one":    {list(class("false"), class("true")), result{asked: 1}},
		"there is none":   {list(class("false")), result{asked: 1, fails: none}},
		"there are none":  {list(), result{asked: 1, fails: none}},
		"nobody may look": {&fakeAPI{forbidden: true}, result{asked: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, tt.api, api.Spec{Placement: api.Placement{Hosts: 1, Disk: "50Gi"}, DiskVolume: true}, tt.result)
		})
	}
}

// An input that is mounted in another way is not looked up.
func TestClaimNames(t *testing.T) {
	other := api.Data{Access: api.AccessClaim, Claim: "other"}
	got := claimNames([]api.Data{named, {Access: api.AccessFUSE}, other, writable})
	if want := []string{"datasets", "other"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
