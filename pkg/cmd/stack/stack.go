// Package stack is what up, down and status have in common: the resources of a cluster, and how their
// progress is shown. Its tests run the three commands in one project.
package stack

import (
	"context"
	"os"
	"slices"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// Stack is everything that belongs to a cluster, with what acts on it.
type Stack struct {
	Names     config.Names
	Access    *gcp.Access
	Project   *google.Project
	Cluster   *google.Cluster
	Inside    *infra.Cluster
	Items     []infra.Item
	Resources []infra.Resource
}

// Base is what pool, up, down and status have in common.
type Base struct {
	Streams    genericiooptions.IOStreams
	Clock      clock.PassiveClock
	Connection *connect.Flags
}

// NewBase returns a Base whose notices go to standard error.
func NewBase(streams genericiooptions.IOStreams, now clock.PassiveClock) *Base {
	c := &Base{Streams: streams, Clock: now, Connection: connect.NewFlags()}
	c.Connection.SetNotices(streams.ErrOut)
	return c
}

// TargetOf returns the cluster in GKE that the command line, the environment or the kubeconfig names, and
// all that is known about it. It contacts nothing. elsewhere is what to do outside GKE, after "; ", or "".
func TargetOf(command, elsewhere string, connection *connect.Flags) (config.Target, error) {
	t, err := connection.ResolveStored()
	if err != nil {
		return t, cli.Usage(err)
	}
	if !t.GKE {
		return t, cli.Usagef("%s is only for GKE clusters, and context %s is not known to point to one: name the cluster with --project, --zone and --cluster%s", command, t.Context, elsewhere)
	}
	if t.Project == "" {
		return t, cli.Usagef("no project is known: name it with --project or KINETIC_PROJECT, choose a profile with --profile, or set a cluster up with kubectl kinetic init")
	}
	return t, nil
}

// NamesOf returns the names of what belongs to the cluster of TargetOf. It contacts nothing.
func NamesOf(command string, connection *connect.Flags) (config.Names, error) {
	t, err := TargetOf(command, "", connection)
	if err != nil {
		return config.Names{}, err
	}
	n := config.Names{Project: t.Project, Zone: t.Zone, Cluster: t.Cluster, Namespace: t.Namespace}
	return n, cli.Usage(n.Check())
}

// New returns the resources that are wanted. It contacts nothing.
func New(ctx context.Context, connection *connect.Flags, w infra.Wanted, settings google.Settings, pools map[string]gke.Planned) (*Stack, error) {
	access, err := gcp.New(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	project, err := google.New(ctx, access, w.Names)
	if err != nil {
		return nil, err
	}
	e := &Stack{Names: w.Names, Access: access, Project: project, Cluster: project.Cluster(settings), Items: infra.List(w)}
	e.Inside = &infra.Cluster{Project: w.Names.Project, Connect: e.Connect}
	for _, item := range e.Items {
		actor := project.Actor(item.ID, e.Cluster, pools)
		if actor == nil {
			actor = e.actorOutsideGCP(item.ID, connection)
		}
		e.Resources = append(e.Resources, infra.Resource{Item: item, Actor: actor})
	}
	return e, nil
}

// actorOutsideGCP returns what acts on a resource in the cluster or on this machine.
func (e *Stack) actorOutsideGCP(id infra.ID, connection *connect.Flags) infra.Actor {
	n := e.Names
	switch id.Kind {
	case infra.KindLeaderWorkerSet:
		return infra.LeaderWorkerSet{Cluster: e.Inside}
	case infra.KindNamespace:
		return infra.Namespace{Cluster: e.Inside, Name: n.Namespace}
	case infra.KindKubeAccount:
		return infra.ServiceAccount{Cluster: e.Inside, Namespace: n.Namespace, Account: n.Email(config.JobsAccount), Others: []string{n.Email(config.NodesAccount)}}
	case infra.KindRBAC:
		return infra.Roles{Cluster: e.Inside, Namespace: n.Namespace}
	case infra.KindQueue:
		return infra.Queue{Cluster: e.Inside, Namespace: n.Namespace, Name: id.Name, Quota: quota()}
	case infra.KindContext:
		return infra.Context{Access: connection.Kubeconfig(), Name: n.Context(), Find: e.servers}
	}
	return infra.Profile{Env: os.Getenv, Wanted: config.Profile{Name: id.Name, Project: n.Project, Zone: n.Zone, Cluster: n.Cluster, Namespace: n.Namespace}}
}

// quota is that of a new queue: no more than large, so that jobs wait for nodes rather than for it.
func quota() map[string]string {
	return map[string]string{"cpu": "10k", "memory": "40Ti", "ephemeral-storage": "40Pi", api.ResourceGPU: "1k", api.ResourceTPU: "10k"}
}

// DropNetwork leaves the network out if the cluster that was read has another one.
func (e *Stack) DropNetwork() {
	found := e.Cluster.Last()
	if found == nil {
		return
	}
	if is := google.NetworkOf(found, e.Names.Project); is == "" || is == "projects/"+e.Names.Project+"/global/networks/"+e.Names.Network() {
		return
	}
	isNetwork := func(i infra.Item) bool {
		return slices.Contains([]infra.Kind{infra.KindNetwork, infra.KindRouter, infra.KindNAT}, i.ID.Kind)
	}
	e.Items = slices.DeleteFunc(e.Items, isNetwork)
	e.Resources = slices.DeleteFunc(e.Resources, func(r infra.Resource) bool { return isNetwork(r.Item) })
}

// AddPools adds the node pools of the cluster that was read, whoever made them: they go with it.
func (e *Stack) AddPools(found infra.States) {
	cluster := e.Cluster.Last()
	if cluster == nil {
		return
	}
	this := infra.ID{Kind: infra.KindCluster, Name: e.Names.Cluster}
	at := 1 + slices.IndexFunc(e.Items, func(i infra.Item) bool { return i.ID == this })
	for _, p := range slices.Backward(cluster.NodePools) {
		id := infra.ID{Kind: infra.KindPool, Name: p.Name}
		e.Items = slices.Insert(e.Items, at, infra.Item{ID: id, Within: this})
		found[id] = infra.State{Exists: true, Detail: gke.Describe(p), Kept: "its cluster stays"}
	}
}

// servers returns how the cluster's API server is reached, nil as long as it has no address.
func (e *Stack) servers(ctx context.Context) ([]infra.Server, error) {
	found, err := e.Cluster.Read(ctx)
	if err != nil || found == nil || !google.HasServer(found) {
		return nil, err
	}
	return e.Cluster.Servers(found)
}

// Connect returns how to reach the cluster that was read, with the account of this command. It needs no
// program for credentials, and no entry in the kubeconfig.
func (e *Stack) Connect(ctx context.Context) (*rest.Config, error) {
	found, err := e.Cluster.Present(ctx)
	if err != nil {
		return nil, err
	}
	all, err := e.Cluster.Servers(found)
	if err != nil {
		return nil, err
	}
	return &rest.Config{Host: all[0].URL, TLSClientConfig: rest.TLSClientConfig{CAData: all[0].Authority}, WrapTransport: e.Access.Bearer,
		UserAgent: "kubectl-kinetic/" + version.String(), WarningHandler: rest.NoWarnings{}, QPS: -1}, nil
}

// ProfileOf returns the name of the profile of a cluster: that which is in use, another one or, if there
// is none, the cluster's own name.
func ProfileOf(n config.Names) (string, error) {
	file, err := config.ReadProfiles(os.Getenv)
	if err != nil {
		return "", err
	}
	for _, name := range append([]string{file.Current}, file.Names()...) {
		p, err := file.Find(name)
		if err == nil && p.Project == n.Project && p.Zone == n.Zone && p.Cluster == n.Cluster {
			return name, nil
		}
	}
	return n.Cluster, nil
}
