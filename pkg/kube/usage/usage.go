// Package usage reads how many nodes each node pool of a cluster has, and which jobs use
// their accelerators.
package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/itemlist"
)

// Pool is how much a node pool has and what of it is used.
type Pool struct {
	Nodes int
	// Used is how many chips the jobs on its nodes have.
	Used int
	Jobs []Job // sorted by namespace and ID
}

// Job names a job.
type Job struct {
	Namespace string `json:"namespace"`
	ID        string `json:"id"`
}

// Read reads the nodes and the pods of jobs of a cluster, at the same time, and returns the node
// pools by their names. The server may answer from its cache. notify, which may be nil, gets a
// line when the server is slow to answer.
func Read(ctx context.Context, config *rest.Config, notify func(string)) (map[string]Pool, error) {
	r, err := newReader(config, notify)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	poolOf := map[string]string{} // by node
	listed := make(chan error, 1)
	go func() { listed <- r.nodes(ctx, poolOf) }()
	pods, err := r.pods(ctx)
	if err != nil {
		cancel()
	}
	if nodesErr := <-listed; nodesErr != nil && (err == nil || ctx.Err() == nil) {
		err = nodesErr
	}
	if err != nil {
		return nil, err
	}
	return join(poolOf, pods), nil
}

// reader reads from one cluster.
type reader struct {
	rest    rest.Interface
	decoder runtime.Decoder
}

func newReader(config *rest.Config, notify func(string)) (reader, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return reader{}, fmt.Errorf("preparing a client: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	factory := serializer.NewCodecFactory(scheme)
	_, config = apiserver.Monitored(config, notify)
	config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &corev1.SchemeGroupVersion, "/api", factory.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return reader{}, fmt.Errorf("preparing a client for %s: %w", config.Host, err)
	}
	return reader{client, factory.UniversalDeserializer()}, nil
}

// list calls each with every object of a list. With metadata, only that is read.
func (r reader) list(ctx context.Context, resource string, params map[string]string, list runtime.Object, each func(runtime.Object)) error {
	as := ""
	if _, metadata := list.(*metav1.PartialObjectMetadataList); metadata {
		as = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	}
	request := r.rest.Get().Resource(resource).Param("resourceVersion", "0").
		SetHeader("Accept", runtime.ContentTypeProtobuf+as, runtime.ContentTypeJSON+as)
	for name, value := range params {
		request.Param(name, value)
	}
	body, err := request.Stream(ctx)
	if err == nil {
		defer body.Close()
		_, err = itemlist.Read(body, r.decoder, list, itemlist.Slim, each)
	}
	return apiserver.Request{Verb: "list", Resource: resource, Cluster: true}.Explain("listing "+resource, err)
}

// nodes stores the pool of each node.
func (r reader) nodes(ctx context.Context, poolOf map[string]string) error {
	return r.list(ctx, "nodes", nil, &metav1.PartialObjectMetadataList{}, func(o runtime.Object) {
		if node, ok := o.(*metav1.PartialObjectMetadata); ok {
			poolOf[node.Name] = node.Labels[api.NodeLabelPool]
		}
	})
}

// pod is the part of a pod that matters.
type pod struct {
	job   Job
	node  string
	chips int
}

// pods lists the pods of jobs that are on a node and have not ended.
func (r reader) pods(ctx context.Context) ([]pod, error) {
	var pods []pod
	params := map[string]string{"labelSelector": api.LabelJobID,
		"fieldSelector": "spec.nodeName!=,status.phase!=" + string(corev1.PodSucceeded) + ",status.phase!=" + string(corev1.PodFailed)}
	err := r.list(ctx, "pods", params, &corev1.PodList{}, func(o runtime.Object) {
		p, ok := o.(*corev1.Pod)
		if !ok || p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			return
		}
		found := pod{job: Job{p.Namespace, p.Labels[api.LabelJobID]}, node: p.Spec.NodeName}
		for _, c := range p.Spec.Containers {
			for _, resource := range []corev1.ResourceName{api.ResourceTPU, api.ResourceGPU} {
				n := c.Resources.Requests[resource]
				found.chips += int(n.Value())
			}
		}
		pods = append(pods, found)
	})
	return pods, err
}

// join returns the pools with the jobs on their nodes.
func join(poolOf map[string]string, pods []pod) map[string]Pool {
	pools := map[string]Pool{}
	for _, name := range poolOf {
		p := pools[name]
		p.Nodes++
		pools[name] = p
	}
	for _, each := range pods {
		name, known := poolOf[each.node]
		if !known { // of a node that has just come or gone
			continue
		}
		p := pools[name]
		p.Used += each.chips
		if !slices.Contains(p.Jobs, each.job) {
			p.Jobs = append(p.Jobs, each.job)
		}
		pools[name] = p
	}
	for _, p := range pools {
		slices.SortFunc(p.Jobs, func(a, b Job) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.ID, b.ID)) })
	}
	return pools
}
