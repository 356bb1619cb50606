package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/versions"
)

func describe(a *versions.AddOn) string {
	if a.Version == "" {
		return "API " + a.APIVersion
	}
	return a.Version + ", API " + a.APIVersion
}

// unread returns the finding for a part of the inventory that could not be read.
func unread(i versions.Inventory, part string) Finding {
	why := cmp.Or(i.Errors[part], i.Error, "it can't be read")
	if strings.HasPrefix(why, "forbidden") {
		return Skip("%s", why)
	}
	return Bad("", "%s", why)
}

func (c *cluster) leaderWorkerSet(ctx context.Context) Finding {
	if a := c.Accelerator; a != nil && a.Hosts == 1 && !c.Pathways {
		return Skip("not needed: %s has one host", accelerator.Text(*a))
	}
	also := ""
	if c.Pathways {
		also = " and those with Pathways"
	}
	i, _ := c.inventory(ctx) // its errors are in it
	switch lws := i.LeaderWorkerSet; {
	case lws == nil:
		return unread(i, versions.PartLeaderWorkerSet)
	case !lws.Installed:
		return Bad(apiserver.InstallLeaderWorkerSet, "not installed, but jobs on several hosts%s need it", also)
	case lws.Runs != nil && !*lws.Runs:
		return Bad("kubectl get pods -n lws-system", "%s, but no pod of its controller is ready", describe(lws))
	case older(lws.Version):
		return Skip("%s: jobs on several hosts were tried with %s and later only; replace it with: %s",
			describe(lws), oldestLeaderWorkerSet, apiserver.InstallLeaderWorkerSet)
	default:
		return Good("%s", describe(lws))
	}
}

// oldestLeaderWorkerSet is the oldest release with which jobs were tried.
const oldestLeaderWorkerSet = "v0.7.0"

// older reports whether a release of LeaderWorkerSet is too old. That of an unknown version isn't.
func older(version string) bool {
	v, err := utilversion.ParseSemantic(version)
	return err == nil && v.LessThan(utilversion.MustParseSemantic(oldestLeaderWorkerSet))
}

func (c *cluster) kueue(ctx context.Context) Finding {
	i, _ := c.inventory(ctx) // its errors are in it
	switch k := i.Kueue; {
	case k == nil:
		return unread(i, versions.PartKueue)
	case !k.Installed && c.Queue == "":
		return Skip("not installed; only --queue needs it")
	case !k.Installed:
		return Bad(kueue.Install, "not installed, so --queue %s has no effect", c.Queue)
	case k.Runs != nil && !*k.Runs:
		return Bad("kubectl get pods -n kueue-system", "%s, but no pod of its controller is ready", describe(k))
	case c.Queue == "":
		return Good("%s", describe(k))
	default:
		return c.localQueue(ctx, k)
	}
}

// localQueue looks for the queue that jobs will use.
func (c *cluster) localQueue(ctx context.Context, k *versions.AddOn) Finding {
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
	}
	err := c.server.Get(ctx, &list, nil, "/apis", kueue.Version.Group, k.APIVersion, "namespaces", c.Target.Namespace, "localqueues")
	if apierrors.IsForbidden(err) {
		return Skip("%s; no permission to read queue %s", describe(k), c.Queue)
	}
	if err != nil {
		return c.failed("list", "localqueues", err)
	}
	var names []string
	for _, q := range list.Items {
		names = append(names, q.Metadata.Name)
		if q.Metadata.Name != c.Queue {
			continue
		}
		for _, condition := range q.Status.Conditions {
			if condition.Type == "Active" && condition.Status == "False" {
				return Bad(fmt.Sprintf("kubectl describe localqueue %s -n %s", c.Queue, c.Target.Namespace), "queue %s admits no job: %s", c.Queue, condition.Message)
			}
		}
		return Good("%s, queue %s", describe(k), c.Queue)
	}
	slices.Sort(names)
	fix, there := "kubectl get clusterqueues", "it has none" // a queue of a namespace takes its jobs to one of the cluster
	if len(names) > 0 {
		fix, there = "kubectl get localqueues -n "+c.Target.Namespace, "it has "+strings.Join(names, ", ")
	}
	return Bad(fix, "namespace %s has no queue %s; %s", c.Target.Namespace, c.Queue, there)
}

// fuse looks for the driver that mounts buckets, which only GKE has.
func (c *cluster) fuse(ctx context.Context) Finding {
	err := c.server.Get(ctx, &struct{}{}, nil, "/apis/storage.k8s.io/v1/csidrivers", diagnose.Driver)
	t := c.Target
	switch {
	case apierrors.IsNotFound(err) && !t.GKE:
		return Skip("only GKE has it; --data NAME=SRC copies files without it")
	case apierrors.IsNotFound(err):
		return Bad(fmt.Sprintf("gcloud container clusters update %s --update-addons GcsFuseCsiDriver=ENABLED --location %s --project %s", t.Cluster, t.Zone, t.Project),
			"the Cloud Storage FUSE add-on is off, so --data NAME=SRC,fuse fails")
	case apierrors.IsForbidden(err):
		return Skip("no permission to read CSIDrivers")
	case err != nil:
		return c.failed("get", "csidrivers", err)
	}
	return Good("%s", diagnose.Driver)
}

// runners says which runners the namespace has. Each version of the client brings its own.
func (c *cluster) runners(ctx context.Context) Finding {
	i, _ := c.inventory(ctx) // its errors are in it
	if i.Runners == nil {
		return unread(i, versions.PartRunners)
	}
	for _, r := range i.Runners {
		if r.Relation == versions.Newer {
			return Skip("this namespace already uses %s, which is newer than this client, %s: upgrade it", r.Version, c.Client.Version)
		}
	}
	if len(i.Runners) == 0 {
		return Good("not installed yet: the next job installs it")
	}
	if r := i.Runners[0]; r.Relation != versions.Current {
		return Good("the newest is version %s; the next job adds this client's version, %s", r.Version, c.Client.Version)
	}
	return Good("this client's, %s", c.Client.Version)
}
