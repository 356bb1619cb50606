package infra

import "github.com/kubectl-kinetic/kinetic/pkg/config"

// Wanted is what the list depends on.
type Wanted struct {
	Names config.Names
	// Autopilot is a cluster whose nodes GKE manages: it has no pools of ours.
	Autopilot bool
	// OtherNetwork is a cluster in a network that exists: it has no network, router and NAT of ours.
	OtherNetwork bool
	// Pools are the names of the node pools, without the first one, which comes with the cluster.
	Pools []string
	// Queue is the name of a Kueue queue, "" for none.
	Queue string
	// Profile is the name of a profile, "" for none.
	Profile string
	// Down adds what only `down` looks for, because GKE leaves it behind.
	Down bool
	// DeleteData says that `down` deletes the buckets, too.
	DeleteData bool
}

// Why something stays when a cluster is deleted.
const (
	staysAPIs = "other things in the project may use them"
	staysData = "it has the results of jobs; delete it with --delete-data"
	staysLogs = "it has the sources and logs of builds; delete it with --delete-data"
)

// List returns all resources, each after those that it needs.
func List(w Wanted) []Item {
	items := project(w)
	if !w.OtherNetwork {
		items = append(items, network(w.Names)...)
	}
	items = append(items, cluster(w)...)
	items = append(items, objects(w)...)
	return append(items, files(w)...)
}

func one(kind Kind, name string) ID { return ID{kind, name} }

// project returns what is not about the cluster: accounts, images, buckets.
func project(w Wanted) []Item {
	n := w.Names
	apis := one(KindAPIs, n.Project)
	nodes, builds, jobs := one(KindAccount, n.Account(config.NodesAccount)), one(KindAccount, n.Account(config.BuildsAccount)), one(KindAccount, n.Account(config.JobsAccount))
	repository := one(KindRepository, n.Repository())
	store, sources := one(KindBucket, n.Jobs()), one(KindBucket, n.Builds())
	data, logs := staysData, staysLogs
	if w.DeleteData {
		data, logs = "", ""
	}
	return []Item{
		{ID: apis, Stays: staysAPIs},
		{ID: nodes, Needs: []ID{apis}},
		{ID: builds, Needs: []ID{apis}},
		{ID: jobs, Needs: []ID{apis}},
		{ID: one(KindRoles, nodes.Name), Needs: []ID{nodes}},
		// Its label says who has made what has no mark: it is deleted after that.
		{ID: repository, Needs: []ID{apis}, Turn: Third},
		{ID: one(KindRepositoryAccess, repository.Name), Within: repository, Needs: []ID{nodes, builds}},
		{ID: store, Needs: []ID{apis}, Stays: data},
		{ID: one(KindBucketAccess, store.Name), Within: store, Needs: []ID{jobs}},
		{ID: sources, Needs: []ID{apis}, Stays: logs},
		{ID: one(KindBucketAccess, sources.Name), Within: sources, Needs: []ID{builds}},
	}
}

func network(n config.Names) []Item {
	network, router := one(KindNetwork, n.Network()), one(KindRouter, n.Router())
	return []Item{
		{ID: network, Needs: []ID{one(KindAPIs, n.Project)}},
		{ID: router, Needs: []ID{network}},
		{ID: one(KindNAT, n.NAT()), Within: router},
	}
}

func cluster(w Wanted) []Item {
	n := w.Names
	this, jobs := one(KindCluster, n.Cluster), one(KindAccount, n.Account(config.JobsAccount))
	nodes := n.Account(config.NodesAccount)
	needs := []ID{one(KindAccount, nodes), one(KindRoles, nodes)}
	if !w.OtherNetwork {
		needs = append(needs, one(KindNetwork, n.Network()))
	}
	var items []Item
	if w.Down {
		policies := one(KindPolicies, n.Cluster)
		items, needs = append(items, Item{ID: policies}), append(needs, policies)
	}
	items = append(items, // If it can't be deleted, it must still work.
		Item{ID: this, Needs: needs, Turn: First},
		// The project's pool of identities comes with its first cluster.
		Item{ID: one(KindIdentity, jobs.Name), Within: jobs, Needs: []ID{this}})
	if w.Autopilot {
		return items
	}
	for _, name := range w.Pools {
		items = append(items, Item{ID: one(KindPool, name), Within: this})
	}
	return items
}

// defaultNamespace is the namespace that every cluster has from the beginning.
const defaultNamespace = "default"

// objects returns what is in the cluster, without the namespace that it always has.
func objects(w Wanted) []Item {
	this := one(KindCluster, w.Names.Cluster)
	items := []Item{{ID: one(KindLeaderWorkerSet, ""), Within: this}}
	var needs []ID
	if w.Names.Namespace != defaultNamespace {
		namespace := one(KindNamespace, w.Names.Namespace)
		items, needs = append(items, Item{ID: namespace, Within: this}), []ID{namespace}
	}
	items = append(items,
		Item{ID: one(KindKubeAccount, config.ServiceAccount), Within: this, Needs: needs},
		Item{ID: one(KindRBAC, w.Names.Namespace), Within: this, Needs: needs})
	if w.Queue != "" {
		items = append(items, Item{ID: one(KindQueue, w.Queue), Within: this, Needs: needs})
	}
	return items
}

// files returns what is on this machine. A profile means that jobs can run: it comes last. It also says
// which cluster is meant, so it is deleted last, too: then an interrupted `down` can be repeated.
func files(w Wanted) []Item {
	n := w.Names
	items := []Item{{ID: one(KindContext, n.Context()), Needs: []ID{one(KindCluster, n.Cluster)}, Turn: Last}}
	if w.Profile == "" {
		return items
	}
	return append(items, Item{ID: one(KindProfile, w.Profile), Turn: Last, Needs: []ID{
		one(KindContext, n.Context()), one(KindKubeAccount, config.ServiceAccount), one(KindRBAC, n.Namespace),
		one(KindBucketAccess, n.Jobs()), one(KindIdentity, n.Account(config.JobsAccount)),
	}})
}
