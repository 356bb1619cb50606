//go:build unix

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// cluster is what a benchmark on a cluster uses: its own namespace and bucket, which are
// removed afterwards.
type cluster struct {
	*bench
	namespace string
	// storage is the address of the Cloud Storage emulator.
	storage, bucket string
	config          *clientcmdapi.Config
	server          string       // the API server's address
	http            *http.Client // has the credentials of the kubeconfig
	env             []string     // for both tools
	version         int          // of the file that the benchmark of warm hosts edits
}

// clusterBenchmarks are in the order in which they run.
var clusterBenchmarks = []benchmark[*cluster]{
	{"no-op", (*cluster).noop},
	{"submit", (*cluster).submit},
	{"noticed", (*cluster).noticed},
	{"mount", (*cluster).mount},
	{"warm", (*cluster).warm},
	{"follow", (*cluster).follow},
	{"hosts", (*cluster).hosts},
	{"restart", (*cluster).restart},
	{"release", (*cluster).release},
	{"upload", (*cluster).upload},
	// These are last, because removing thousands of jobs keeps the cluster busy.
	{"map", (*cluster).mapped},
	{"decorated", (*cluster).decorated},
	{"list", (*cluster).list},
	{"pools", (*cluster).pools},
}

// errNoCluster means that the benchmarks on a cluster are skipped.
var errNoCluster = errors.New("there is no cluster in this shell: make bench CLUSTER=local brings one up")

// connect creates a namespace and a bucket on the cluster of make cluster-env. It touches
// no other cluster, because measuring must not disturb one in use.
func (b *bench) connect(ctx context.Context) (*cluster, error) {
	if os.Getenv("KUBEBOX") == "" {
		return nil, errNoCluster
	}
	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	restConfig, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(restConfig)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("kinetic-bench-%d", os.Getpid())
	c := &cluster{bench: b, namespace: name, bucket: name, storage: os.Getenv("STORAGE_EMULATOR_HOST"),
		config: config, server: restConfig.Host, http: client}
	kubeconfig, err := c.kubeconfig("kubeconfig", nil)
	if err != nil {
		return nil, err
	}
	c.env = append(b.home, "KUBECONFIG="+kubeconfig, "KINETIC_STORE=gs://"+c.bucket, "KINETIC_NAMESPACE=")
	if err := c.write("project/f.py", functions); err != nil {
		return nil, err
	}
	return c, errors.Join(
		c.make(ctx, "/api/v1/namespaces", `{"metadata":{"name":"`+c.namespace+`"}}`),
		c.make(ctx, "/api/v1/namespaces/"+c.namespace+"/serviceaccounts", `{"metadata":{"name":"kinetic"}}`),
		request(ctx, http.DefaultClient, http.MethodPost, c.storage+"/storage/v1/b", `{"name":"`+c.bucket+`"}`, nil))
}

// functions is the source file that the jobs run.
//
//go:embed functions.py
var functions string

// project returns the folder of that file.
func (c *cluster) project() string { return filepath.Join(c.dir, "project") }

// kubeconfig writes the cluster's kubeconfig under a name, with this benchmark's namespace
// and modified by change, if not nil.
func (c *cluster) kubeconfig(name string, change func(*clientcmdapi.Cluster)) (path string, err error) {
	own := c.config.DeepCopy()
	at := own.Contexts[own.CurrentContext]
	at.Namespace = c.namespace
	if change != nil {
		change(own.Clusters[at.Cluster])
	}
	path = filepath.Join(c.dir, name)
	return path, clientcmd.WriteToFile(*own, path)
}

// close removes what connect created, without waiting for it.
func (c *cluster) close(ctx context.Context) error {
	return errors.Join(
		request(ctx, c.http, http.MethodDelete, c.server+"/api/v1/namespaces/"+c.namespace, "", nil),
		c.empty(ctx),
		request(ctx, http.DefaultClient, http.MethodDelete, c.storage+"/storage/v1/b/"+c.bucket, "", nil))
}

// empty removes every object of the bucket.
func (c *cluster) empty(ctx context.Context) error {
	objects := c.storage + "/storage/v1/b/" + c.bucket + "/o"
	var list struct{ Items []struct{ Name string } }
	if err := request(ctx, http.DefaultClient, http.MethodGet, objects, "", &list); err != nil {
		return err
	}
	var errs []error
	for _, o := range list.Items {
		name := strings.ReplaceAll(o.Name, "/", "%2F")
		errs = append(errs, request(ctx, http.DefaultClient, http.MethodDelete, objects+"/"+name, "", nil))
	}
	return errors.Join(errs...)
}

// ours returns a function that makes a new command of ours for each run.
func (c *cluster) ours(ctx context.Context, args ...string) func() *exec.Cmd {
	return command(ctx, c.project(), c.env, filepath.Join(c.bin, "kubectl-kinetic"), args...)
}

// kubectl returns a function that makes a new kubectl command for each run.
func (c *cluster) kubectl(ctx context.Context, args ...string) func() *exec.Cmd {
	return command(ctx, c.project(), c.env, "kubectl", args...)
}

// start submits a job that calls a function, and waits until one of its pods runs.
func (c *cluster) start(ctx context.Context, id, function string, args []string, flags ...string) error {
	submit := append([]string{"run", "f.py:" + function, "--job-id", id, "--detach", "--cpu", "100m"}, flags...)
	for _, a := range args {
		submit = append(submit, "--arg", a)
	}
	if _, err := once(c.ours(ctx, submit...)()); err != nil {
		return err
	}
	return c.watch(ctx, id, 1, hasBegun)
}

func hasBegun(s containerState) bool { return s.Running != nil || s.Terminated != nil }

// containerState is as in the API: at most one of the two is set.
type containerState struct{ Running, Terminated any }

// pods returns the URL to watch a job's pods.
func (c *cluster) pods(id string) string {
	return c.server + "/api/v1/namespaces/" + c.namespace + "/pods?watch=true&labelSelector=job-id%3D" + id
}

// watch reads the events of a job's pods until the containers of that number of pods have
// been in the wanted state. It doesn't use a pod's phase, which changes a second later.
func (c *cluster) watch(ctx context.Context, id string, number int, wanted func(containerState) bool) error {
	body, err := open(ctx, c.http, http.MethodGet, c.pods(id), "")
	if err != nil {
		return err
	}
	defer body.Close()
	found := map[string]bool{}
	for events := json.NewDecoder(body); len(found) < number; {
		var event struct {
			Object struct {
				Metadata struct{ Name string }
				Status   struct {
					ContainerStatuses []struct{ State containerState }
				}
			}
		}
		if err := events.Decode(&event); err != nil {
			return fmt.Errorf("watching the pod of job %s: %w", id, err)
		}
		for _, s := range event.Object.Status.ContainerStatuses {
			if wanted(s.State) {
				found[event.Object.Metadata.Name] = true
			}
		}
	}
	return nil
}

// make creates an object in the API server.
func (c *cluster) make(ctx context.Context, path, body string) error {
	return request(ctx, c.http, http.MethodPost, c.server+path, body, nil)
}

// request sends JSON, and decodes the answer unless into is nil.
func request(ctx context.Context, client *http.Client, method, url, body string, into any) error {
	answer, err := open(ctx, client, method, url, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if into != nil {
		return json.NewDecoder(answer).Decode(into)
	}
	_, err = io.Copy(io.Discard, answer)
	return err
}

// open sends JSON and returns the body of an answer that is not an error.
func open(ctx context.Context, client *http.Client, method, url, body string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return nil, fmt.Errorf("%s %s: %s: %s", method, url, answer.Status, bytes.TrimSpace(text))
	}
	return answer.Body, nil
}
