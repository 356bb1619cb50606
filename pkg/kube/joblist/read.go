package joblist

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// Selector selects the objects of all jobs.
const Selector = api.LabelApp + " in (" + api.AppSingleHost + "," + api.AppSet + ")," + api.LabelJobID

// PageSize is how many objects the server sends at once. With kubectl's 500, a list of 5,000 jobs
// takes a fifth longer.
const PageSize = 2500

// All are the jobs of all namespaces of a cluster.
type All struct {
	Jobs []api.JobSummary
	// Ahead is how much the cluster's clock is ahead of this machine's.
	Ahead time.Duration
	// LeftOut says why jobs on several hosts may be missing; nil if they are not.
	LeftOut error
}

// Read lists the jobs that a cluster has, with their states. It lists each kind of object once, all at the
// same time, in pages. notify, which may be nil, gets a line when the server is slow to answer.
func Read(ctx context.Context, config *rest.Config, notify func(string)) (All, error) {
	r, err := newReader(config, notify)
	if err != nil {
		return All{}, err
	}
	var jobs, sets, pods []runtime.Object
	var leftOut error
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		jobs, err = r.list(ctx, diagnose.Job.GroupVersion().WithResource(diagnose.Job.Plural))
		return err
	})
	group.Go(func() (err error) {
		sets, err = r.list(ctx, diagnose.LeaderWorkerSet.GroupVersion().WithResource(diagnose.LeaderWorkerSet.Plural))
		switch {
		case apierrors.IsNotFound(err): // the cluster doesn't have the kind
			return nil
		case apierrors.IsForbidden(err):
			leftOut = err
			return nil
		}
		return err
	})
	group.Go(func() (err error) {
		pods, err = r.list(ctx, corev1.SchemeGroupVersion.WithResource("pods"))
		return err
	})
	if err := group.Wait(); err != nil {
		return All{}, err
	}
	return All{join(jobs, sets, pods), r.client.Ahead(), leftOut}, nil
}

func refOf(o *metav1.ObjectMeta) Ref { return Ref{o.Namespace, o.Labels[api.LabelJobID]} }

func join(jobs, sets, pods []runtime.Object) []api.JobSummary {
	podsOf := map[Ref][]*corev1.Pod{} // pods are large, so pointers are sorted
	for _, o := range pods {
		if p, ok := o.(*corev1.Pod); ok {
			podsOf[refOf(&p.ObjectMeta)] = append(podsOf[refOf(&p.ObjectMeta)], p)
		}
	}
	all := make([]api.JobSummary, 0, len(jobs)+len(sets))
	add := func(kind *diagnose.Kind, objects []runtime.Object) {
		for _, o := range objects {
			w := diagnose.NewWorkload(kind, o)
			if !w.Exists() {
				continue
			}
			var its []corev1.Pod
			for _, p := range slices.SortedFunc(slices.Values(podsOf[refOf(w.Meta())]), diagnose.CompareAges) {
				if !w.IsOfOlder(p) {
					its = append(its, *p)
				}
			}
			all = append(all, Summary(w, its, w.State(its)))
		}
	}
	add(diagnose.Job, jobs)
	add(diagnose.LeaderWorkerSet, sets)
	return all
}

type reader struct {
	client  *apiserver.Client
	decoder runtime.Decoder
}

func newReader(config *rest.Config, notify func(string)) (reader, error) {
	client, err := apiserver.NewClient(config, notify)
	if err != nil {
		return reader{}, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return reader{}, err
		}
	}
	return reader{client, serializer.NewCodecFactory(scheme).UniversalDeserializer()}, nil
}

// list returns the objects of jobs of a resource, with what a list needs of them. It begins again if the
// server has dropped the version of the first page.
func (r reader) list(ctx context.Context, resource schema.GroupVersionResource) ([]runtime.Object, error) {
	path := []string{"/apis", resource.Group, resource.Version, resource.Resource}
	if resource.Group == "" {
		path = []string{"/api", resource.Version, resource.Resource}
	}
	const tries = 5
	for try := 1; ; try++ {
		objects, err := r.pages(ctx, path)
		if apierrors.IsResourceExpired(err) && try < tries {
			continue
		}
		return objects, apiserver.Request{Verb: "list", Resource: resource.GroupResource().String(), Cluster: true}.Explain("listing "+resource.Resource, err)
	}
}

func (r reader) pages(ctx context.Context, path []string) (kept []runtime.Object, err error) {
	parameters := map[string]string{"labelSelector": Selector, "limit": strconv.Itoa(PageSize)}
	for {
		about, err := r.page(ctx, path, parameters, func(o runtime.Object) {
			switch o := o.(type) {
			case *batchv1.Job:
				kept = append(kept, Job(o))
			case *corev1.Pod:
				kept = append(kept, Pod(o))
			default:
				kept = append(kept, o)
			}
		})
		if err != nil {
			return nil, err
		}
		if parameters["continue"] = about.GetContinue(); parameters["continue"] == "" {
			return kept, nil
		}
	}
}

func (r reader) page(ctx context.Context, path []string, parameters map[string]string, each func(runtime.Object)) (metav1.ListInterface, error) {
	list, accept := listOf(path[len(path)-1])
	page, err := r.client.Read(ctx, accept, parameters, path...)
	if err != nil {
		return nil, err
	}
	return ReadItems(bytes.NewReader(page), r.decoder, list, Slim, each)
}

// listOf returns an empty list of a resource, and the media types for it. Of kinds that have no Go type
// here only the metadata is read.
func listOf(plural string) (list runtime.Object, accept string) {
	as := ""
	switch plural {
	case "jobs":
		list = &batchv1.JobList{}
	case "pods":
		list = &corev1.PodList{}
	default:
		list, as = &metav1.PartialObjectMetadataList{}, ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	}
	return list, runtime.ContentTypeProtobuf + as + "," + runtime.ContentTypeJSON + as
}
