package joblist

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// Pool is how much a node pool has and what of it is used.
type Pool struct {
	Nodes int
	// Used is how many chips the pods on its nodes have.
	Used int
	Jobs []Ref // sorted by namespace and ID
	// Others are the pods that have chips and are of no job, as NAMESPACE/NAME, sorted.
	Others []string
}

// Ref names a job.
type Ref struct {
	Namespace string `json:"namespace"`
	ID        string `json:"id"`
}

// ReadUsage reads the nodes of a cluster and the pods that matter, at the same time, and returns the node
// pools by their names. The server may answer from its cache. notify, which may be nil, gets a
// line when the server is slow to answer.
func ReadUsage(ctx context.Context, config *rest.Config, notify func(string)) (map[string]Pool, error) {
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
	return joinUsage(poolOf, pods), nil
}

// listCached calls each with every object of a list, as the server has it in its cache.
func (r reader) listCached(ctx context.Context, resource string, parameters map[string]string, each func(runtime.Object)) error {
	parameters["resourceVersion"] = "0"
	_, err := r.page(ctx, []string{"/api", "v1", resource}, parameters, each)
	return apiserver.Request{Verb: "list", Resource: resource, Cluster: true}.Explain("listing "+resource, err)
}

func (r reader) nodes(ctx context.Context, poolOf map[string]string) error {
	return r.listCached(ctx, "nodes", map[string]string{}, func(o runtime.Object) {
		if node, ok := o.(*metav1.PartialObjectMetadata); ok {
			poolOf[node.Name] = node.Labels[api.NodeLabelPool]
		}
	})
}

// usagePod is the part of a pod that matters.
type usagePod struct {
	job   Ref
	other string // its name, if it is of no job
	node  string
	chips int
}

// pods lists the pods that are on a node and have not ended: those of jobs, and others that have chips.
func (r reader) pods(ctx context.Context) ([]usagePod, error) {
	var pods []usagePod
	parameters := map[string]string{
		"fieldSelector": "spec.nodeName!=,status.phase!=" + string(corev1.PodSucceeded) + ",status.phase!=" + string(corev1.PodFailed)}
	err := r.listCached(ctx, "pods", parameters, func(o runtime.Object) {
		p, ok := o.(*corev1.Pod)
		if !ok || p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			return
		}
		found := usagePod{job: Ref{p.Namespace, p.Labels[api.LabelJobID]}, node: p.Spec.NodeName}
		for _, c := range p.Spec.Containers {
			for _, resource := range []corev1.ResourceName{api.ResourceTPU, api.ResourceGPU} {
				n := c.Resources.Requests[resource]
				found.chips += int(n.Value())
			}
		}
		if found.job.ID == "" {
			found.other = p.Namespace + "/" + p.Name
		}
		if found.job.ID != "" || found.chips > 0 {
			pods = append(pods, found)
		}
	})
	return pods, err
}

func joinUsage(poolOf map[string]string, pods []usagePod) map[string]Pool {
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
		switch {
		case each.other != "":
			p.Others = append(p.Others, each.other)
		case !slices.Contains(p.Jobs, each.job):
			p.Jobs = append(p.Jobs, each.job)
		}
		pools[name] = p
	}
	for _, p := range pools {
		slices.Sort(p.Others)
		slices.SortFunc(p.Jobs, func(a, b Ref) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.ID, b.ID)) })
	}
	return pools
}
