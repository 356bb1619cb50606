package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// ClusterRegistry returns the jobs of a cluster's namespace, or of all namespaces with "",
// for listing, and the cluster that runs them. It contacts nothing.
func ClusterRegistry(c *connect.Flags, where config.Target, namespace string) (job.Registry, *kube.Cluster, error) {
	cluster, err := Cluster(c, where, namespace)
	if err != nil {
		return job.Registry{}, nil, err
	}
	server, err := serverURL(cluster.Config())
	if err != nil {
		return job.Registry{}, nil, cli.Usage(err)
	}
	s, err := openStore(where.Store)
	if err != nil {
		return job.Registry{}, nil, cli.Usage(err)
	}
	jobs := warm.Backend{Backend: cluster, OpenStore: openerOf(s), Usual: s.URL(), Warn: func(text string) { c.Notice("warning: " + text) },
		Dial: func(ctx context.Context, host api.Handle, number int) (*warm.Conn, error) {
			found, err := cluster.WarmHost(ctx, host)
			if err != nil {
				return nil, err
			}
			return DialWarm(ctx, cluster, found, number)
		}}
	registry := job.Registry{Backend: resultRecorder{jobs, Reports(), s.URL(), c.Kubectl(where)}, Kind: api.BackendGKE, Namespace: namespace, Cluster: knownCluster(where),
		ClusterID: clusterID(cluster.Config(), server), Server: server.String(), OpenStore: store.Open, Store: s, Flags: c.Given()}
	return registry, cluster, nil
}

// openerOf returns a function that opens stores, each once: calls are looked at every half second. Nobody may close them.
func openerOf(s store.Store) func(string) (store.Store, error) {
	var mu sync.Mutex
	open := map[string]store.Store{s.URL(): s, "": s}
	return func(url string) (store.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if have := open[url]; have != nil {
			return have, nil
		}
		opened, err := store.Open(url)
		if err == nil {
			open[url] = opened
		}
		return opened, err
	}
}

// JobsRegistry returns the existing jobs in the cluster's namespace, or in all namespaces, and the cluster.
// It contacts nothing.
func JobsRegistry(c *connect.Flags, allNamespaces bool) (job.Registry, *kube.Cluster, error) {
	where, err := c.ResolveJobs()
	if err != nil {
		return job.Registry{}, nil, cli.Usage(err)
	}
	namespace := where.Namespace
	if allNamespaces {
		namespace = ""
	}
	return ClusterRegistry(c, where, namespace)
}

// StoredRegistry is JobsRegistry without a cluster, for jobs that have ended. Every
// operation that needs the cluster returns why.
func StoredRegistry(c *connect.Flags, why error) (job.Registry, error) {
	where, err := c.ResolveStored()
	if err != nil {
		return job.Registry{}, cli.Usage(err)
	}
	s, err := openStore(where.Store)
	if err != nil {
		return job.Registry{}, cli.Usage(err)
	}
	return job.Registry{Backend: unavailable{why}, Kind: api.BackendGKE, Cluster: knownCluster(where), OpenStore: store.Open, Store: s, Flags: c.Given()}, nil
}

// unavailable is the backend if the kubeconfig leads to no cluster.
type unavailable struct{ why error }

// List implements job.Backend, like all methods below.
func (n unavailable) List(context.Context, api.ListLevel) ([]api.JobSummary, error) {
	return nil, n.why
}

func (n unavailable) Pick(context.Context, func([]api.JobSummary) []api.JobSummary) ([]api.JobSummary, error) {
	return nil, n.why
}

func (n unavailable) WatchList(context.Context, api.ListLevel, func([]api.JobSummary) error) error {
	return n.why
}

func (n unavailable) Status(context.Context, api.Handle) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{}, n.why
}

func (n unavailable) Watch(context.Context, api.Handle, func(api.WorkloadStatus)) (api.WorkloadStatus, error) {
	return api.WorkloadStatus{}, n.why
}

func (n unavailable) Inspect(context.Context, api.Handle, bool) (api.WorkloadDetail, error) {
	return api.WorkloadDetail{}, n.why
}

func (n unavailable) Logs(context.Context, api.Handle, *logs.Archive, logs.Options, display.Streams) error {
	return n.why
}

// PartLog leaves the answer to the store.
func (n unavailable) PartLog(context.Context, api.Handle, string, logs.Options, io.Writer) error {
	return errors.Join(fs.ErrNotExist, n.why)
}

func (n unavailable) Delete(context.Context, api.Handle, api.DeleteOptions) error { return n.why }

func (n unavailable) Release(context.Context, api.Handle, api.End) error { return n.why }

func (n unavailable) RemoveRunners(context.Context) ([]string, error) { return nil, n.why }

func (n unavailable) ServerTime(here time.Time) time.Time { return here }

// openStore opens the default store, if there is one.
func openStore(url string) (store.Store, error) {
	if url == "" {
		return store.None(cli.Usage(config.ErrNoStore)), nil
	}
	return store.Open(url)
}

// knownCluster returns the name of the GKE cluster, "" if it is only guessed.
func knownCluster(where config.Target) string {
	if where.From.Cluster == config.FromDefault || !where.GKE {
		return ""
	}
	return where.Cluster
}

// Cluster returns the cluster that runs the jobs of a namespace, without the store. It
// contacts nothing.
func Cluster(c *connect.Flags, where config.Target, namespace string) (*kube.Cluster, error) {
	config, err := c.REST(where)
	if err != nil {
		return nil, err
	}
	client, err := kube.NewClient(config, namespace, c.Notice)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%w: %s", err, connect.SettingHint))
	}
	return kube.New(client), nil
}

// serverURL returns the address of the API server, normalized and without credentials.
func serverURL(config *rest.Config) (*url.URL, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	plain := &url.URL{Scheme: server.Scheme, Host: strings.ToLower(server.Host), Path: strings.TrimSuffix(server.Path, "/")}
	if server.Scheme == "https" {
		plain.Host = strings.TrimSuffix(plain.Host, ":443")
	}
	return plain, nil
}

// clusterID returns an identifier of a cluster. It is a hash of the certificate authority:
// each cluster makes its own, and it is the same from inside the cluster and through every
// tunnel, whereas https://127.0.0.1:6443 is another cluster on each machine. Reading it
// needs no permission, unlike the UID of kube-system. Clusters behind one proxy share its
// authority but have different paths. Without an authority, the ID is a hash of the
// address. With plain HTTP, as of kubectl proxy, it is "": any cluster may be behind that
// address.
func clusterID(config *rest.Config, server *url.URL) string {
	if server.Scheme == "http" {
		return ""
	}
	root := []byte(server.Host)
	if cert := authority(config); cert != nil {
		root = cert
	}
	sum := sha256.Sum256(append(slices.Clip(root), server.Path...))
	return hex.EncodeToString(sum[:16])
}

// authority returns the first certificate that may sign the server's, nil if this machine's
// are used. It ignores what it can't read: the client has reported that.
func authority(config *rest.Config) []byte {
	text := config.CAData
	if len(text) == 0 && config.CAFile != "" {
		text, _ = os.ReadFile(config.CAFile)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	return block.Bytes
}
