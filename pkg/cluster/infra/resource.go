package infra

import (
	"context"
	"strings"
)

// ID names a resource in the list, and to people.
type ID struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// String returns the name for people: bucket acme-kn-research-jobs.
func (id ID) String() string { return strings.TrimRight(string(id.Kind)+" "+id.Name, " ") }

// Kind is a kind of resource.
type Kind string

// The kinds.
const (
	KindAPIs             Kind = "APIs of project"
	KindAccount          Kind = "service account"
	KindRoles            Kind = "project roles of"
	KindRepository       Kind = "repository"
	KindRepositoryAccess Kind = "access to repository"
	KindBucket           Kind = "bucket"
	KindBucketAccess     Kind = "access to bucket"
	KindNetwork          Kind = "network"
	KindRouter           Kind = "router"
	KindNAT              Kind = "NAT"
	KindCluster          Kind = "cluster"
	KindPolicies         Kind = "placement policies of cluster"
	KindPool             Kind = "node pool"
	KindIdentity         Kind = "Workload Identity of"
	KindLeaderWorkerSet  Kind = "LeaderWorkerSet"
	KindNamespace        Kind = "namespace"
	KindKubeAccount      Kind = "Kubernetes service account"
	KindRBAC             Kind = "RBAC roles of namespace"
	KindQueue            Kind = "Kueue queue"
	KindContext          Kind = "kubeconfig context"
	KindProfile          Kind = "profile"
	KindDisk             Kind = "disk"
)

// Difference is a setting of something that exists that is not what was asked for.
type Difference struct {
	Setting string `json:"setting"`
	Have    string `json:"have"`
	Want    string `json:"want"`
	// Fixed says that `up` doesn't change the setting: it can't be changed while the resource exists or,
	// if there is a Command, `up` has not made the resource, or would replace nodes that are in use.
	Fixed bool `json:"fixed,omitempty"`
	// Command changes only this setting, "" if there is none.
	Command string `json:"command,omitempty"`
}

// State is what was found of a resource.
type State struct {
	Exists bool
	// Pending says that it is being created. Ensure waits for that.
	Pending bool
	// Unready says why it is Pending if it is not being created. Ensure repairs it, or its error says what to do.
	Unready string
	// Foreign reports that something of this name exists that `up` has not made. Removal leaves it,
	// unless it is a cluster, and forced.
	Foreign bool
	// Deletion is the command that deletes what is Foreign.
	Deletion string
	// Taken says why nothing of this name can be created or deleted although the project has nothing of
	// it: it is in another project, or seems to be.
	Taken error
	// Kept says why removal leaves what was found, even if it is forced; "" if it doesn't.
	Kept string
	// Missing are parts that a resource lacks, which Ensure adds.
	Missing []string
	// Differences are settings that Ensure changes.
	Differences []Difference
	// Detail says what it is like, or would be.
	Detail string
}

// Actor makes the requests about one resource. Its methods can be repeated, and may be cut off
// anywhere. Their errors say what was being done, and to what.
type Actor interface {
	// Get looks at what exists and changes nothing.
	Get(ctx context.Context) (State, error)
	// Ensure creates the resource, adds what it lacks and changes what differs. It is only called if
	// there is something to do. That something exists already is no error if it is what was asked
	// for: someone else may do the same.
	Ensure(ctx context.Context, have State) error
	// Delete deletes the resource. It is no error if that is gone.
	Delete(ctx context.Context) error
}

// Turn is when `down` deletes a resource: after all those of earlier turns, and not if one of them can't
// be deleted.
type Turn int

// The turns.
const (
	First Turn = iota - 1
	Second
	Third
	Last
)

// Item is a resource in the list.
type Item struct {
	ID ID
	// Within is the resource that this one is a part of: it can only be read while that exists, and
	// is deleted with it. It is the zero ID for most.
	Within ID
	// Needs are the resources that must exist before this one is created.
	Needs []ID
	// Turn is when `down` deletes the resource.
	Turn Turn
	// Stays says why `down` doesn't delete the resource, "" if it does.
	Stays string
}

// before returns what must exist before the item.
func (i Item) before() []ID {
	if i.Within == (ID{}) {
		return i.Needs
	}
	return append([]ID{i.Within}, i.Needs...)
}

// Resource is an item with what acts on it.
type Resource struct {
	Item
	Actor Actor
}

// Taken returns why one of the resources can't be created, nil if all can.
func Taken(items []Item, found States) error {
	for _, item := range items {
		if err := found[item.ID].Taken; err != nil {
			return err
		}
	}
	return nil
}
