package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/hack/kwok"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// TestJobsFitTheirPools has the cluster's scheduler put the pods of a job of every shape and backend onto
// nodes of the pools that pool add makes for all of them. These nodes exist in the API only, one for each
// pod, so that all of them are full in the end. Jobs that ask for a kind of capacity come first, and of
// these and the others those that use most of a node. So there is room in its own pool alone for a job on
// demand, which may use spot capacity, and for one with a few GPUs, which may use a part of a larger
// machine. Pods are expected nowhere else.
//
// The test runs after the scripts, not beside them: hundreds of nodes slow a cluster down.
func TestJobsFitTheirPools(t *testing.T) {
	here(t)
	jobs, err := kwok.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	f := newFit(t)
	of := map[api.Backend][]podOf{}
	nodes := map[string]runtime.Object{}
	for _, j := range jobs {
		if j.Backend == api.BackendPathways { // its leader takes no chips, so that it has room in a pool of another capacity, too
			continue
		}
		for i, pod := range f.pods(j) {
			of[j.Backend] = append(of[j.Backend], pod)
			name := fmt.Sprintf("%s-%s-%d", f.namespace, j.Pool.Name, i)
			nodes[name] = f.node(j, name)
		}
	}
	f.create("nodes", "", nodes)
	for _, pods := range of {
		f.schedule(pods)
	}
}

// fit is a namespace, and nodes for its pods alone.
type fit struct {
	*testing.T
	client    rest.Interface
	namespace string
	// label is on the nodes and selected by the pods, and a taint that only these tolerate: nothing else
	// in the cluster has a part in the test.
	label string
	pools map[string]string // the pool of each node
}

// podOf is a pod of a job.
type podOf struct {
	*corev1.Pod
	job kwok.Job
}

func newFit(t *testing.T) *fit {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	config.APIPath, config.GroupVersion, config.QPS = "/api", &corev1.SchemeGroupVersion, -1
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	name := "e2e-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	f := &fit{T: t, client: client, namespace: name, label: "kubebox/" + name, pools: map[string]string{}}
	t.Cleanup(func() {
		f.deletePods() // before the nodes, with which their kubelets are gone
		f.do(client.Delete().Resource("nodes").Param("labelSelector", f.label))
		f.do(client.Delete().Resource("namespaces").Name(name))
	})
	meta := metav1.ObjectMeta{Name: name}
	f.create("namespaces", "", map[string]runtime.Object{name: &corev1.Namespace{ObjectMeta: meta}})
	meta.Name = api.DefaultServiceAccount // no pod is created without
	f.create("serviceaccounts", name, map[string]runtime.Object{meta.Name: &corev1.ServiceAccount{ObjectMeta: meta}})
	return f
}

// do makes a request, in the end of the test, too.
func (f *fit) do(r *rest.Request) {
	if err := r.Do(context.WithoutCancel(f.Context())).Error(); err != nil {
		f.Errorf("%s: %v", r.URL().Path, err)
	}
}

// create creates objects, a few at a time.
func (f *fit) create(resource, namespace string, objects map[string]runtime.Object) {
	var g errgroup.Group
	g.SetLimit(4)
	for name, o := range objects {
		g.Go(func() error {
			if err := f.client.Post().NamespaceIfScoped(namespace, namespace != "").Resource(resource).Body(o).Do(f.Context()).Error(); err != nil {
				return fmt.Errorf("creating %s: %w", name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		f.Fatal(err)
	}
}

func (f *fit) deletePods() {
	f.do(f.client.Delete().Namespace(f.namespace).Resource("pods").Param("gracePeriodSeconds", "0"))
}

// node returns a node of the pool of a job.
func (f *fit) node(j kwok.Job, name string) *corev1.Node {
	node := kwok.Node(j.Pool, name, f.label)
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: f.label, Effect: corev1.TaintEffectNoSchedule})
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	f.pools[name] = j.Pool.Name
	return &node
}

// turn is a label of pods: those with the same one are scheduled at the same time.
const turn = "kubebox/turn"

// turns are all of them: first the pods that ask for a kind of capacity, then the others. Of both, those
// that ask for most chips come first.
var turns = []string{"capacity-16", "capacity-8", "capacity-4", "capacity-2", "capacity-1", "16", "8", "4", "2", "1"}

// pods returns the pods of a job as they are rendered, with what keeps them on this test's nodes. No
// container is started there, so that images and ConfigMaps need not exist.
func (f *fit) pods(j kwok.Job) []podOf {
	rendered, err := j.Pods()
	if err != nil {
		f.Fatal(err)
	}
	var pods []podOf
	for _, pod := range rendered {
		pod.Labels[turn] = strconv.Itoa(j.Accelerator.ChipsPerHost)
		if j.Capacity.Kind != api.CapacityOnDemand {
			pod.Labels[turn] = "capacity-" + pod.Labels[turn]
		}
		pod.Spec.NodeSelector[f.label] = "true"
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: f.label, Operator: corev1.TolerationOpExists},
			// New nodes have it until a controller has seen that they are ready, which it does slowly.
			corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
		pods = append(pods, podOf{pod, j})
	}
	return pods
}

// schedule creates pods, looks where the scheduler puts them, and deletes them.
func (f *fit) schedule(pods []podOf) {
	scheduled := 0
	for _, name := range turns {
		wanted := map[string]runtime.Object{}
		for _, pod := range pods {
			if pod.Labels[turn] == name {
				wanted[pod.Name] = pod.Pod
			}
		}
		f.create("pods", f.namespace, wanted)
		found := f.bound(name, len(wanted))
		for _, pod := range pods {
			if pod.Labels[turn] == name {
				f.check(pod, found[pod.Name])
				scheduled++
			}
		}
	}
	if scheduled != len(pods) {
		f.Errorf("%d of %d pods had a turn", scheduled, len(pods))
	}
	f.deletePods()
}

// bound waits for the pods of a turn to be bound to nodes, and returns them. It gives up after a minute.
func (f *fit) bound(name string, number int) map[string]*corev1.Pod {
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	w, err := f.client.Get().Namespace(f.namespace).Resource("pods").Param("watch", "true").Param("labelSelector", turn+"="+name).Watch(ctx)
	if err != nil {
		f.Fatal(err)
	}
	defer w.Stop()
	found, bound := map[string]*corev1.Pod{}, map[string]bool{}
	for len(bound) < number {
		event, open := <-w.ResultChan()
		if !open {
			break
		}
		if pod, ok := event.Object.(*corev1.Pod); ok {
			found[pod.Name] = pod
			if pod.Spec.NodeName != "" {
				bound[pod.Name] = true
			}
		}
	}
	return found
}

// check fails the test if a pod is not on a node of its job's pool.
func (f *fit) check(pod podOf, found *corev1.Pod) {
	switch {
	case found == nil:
		f.Errorf("%s: pod %s is not there", pod.job, pod.Name)
	case found.Spec.NodeName == "":
		f.Errorf("%s: pod %s is on no node: %s", pod.job, pod.Name, reason(found))
	case f.pools[found.Spec.NodeName] != pod.job.Pool.Name:
		f.Errorf("%s: pod %s is on a node of %s", pod.job, pod.Name, f.pools[found.Spec.NodeName])
	}
}

// reason returns what the scheduler says about a pod.
func reason(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Message
		}
	}
	return "the scheduler has not seen it"
}
