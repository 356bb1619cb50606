package versions

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/kueue"
)

// AddOn is a controller that a cluster may have.
type AddOn struct {
	Installed bool `json:"installed"`
	// APIVersion is the version of its API that the server prefers.
	APIVersion string `json:"apiVersion,omitempty"`
	// Version is the version of the controller, "" if it can't be read.
	Version string `json:"version,omitempty"`
	// Runs reports whether a pod of the controller is ready, nil if it can't be read.
	Runs *bool `json:"runs,omitempty"`
}

// controller says where a controller is found: the group of its API, and its Deployment as
// its own manifests and charts name it.
type controller struct{ group, namespace, deployment string }

func kueueController() controller {
	return controller{kueue.Version.Group, "kueue-system", "kueue-controller-manager"}
}

func leaderWorkerSet() controller {
	return controller{diagnose.LeaderWorkerSet.Group, "lws-system", "lws-controller-manager"}
}

func (c controller) request() apiserver.Request {
	return apiserver.Request{Verb: "get", Resource: "/apis/" + c.group}
}

// addOn looks for a controller by its API, which every user may ask for. Only some may read
// its Deployment.
func (r reader) addOn(ctx context.Context, c controller) (*AddOn, error) {
	running := make(chan AddOn, 1)
	go func() { running <- r.controller(ctx, c) }()
	var group metav1.APIGroup
	if err := r.server.Get(ctx, &group, nil, "/apis", c.group); isUnknown(err) {
		return &AddOn{}, nil
	} else if err != nil {
		return nil, err
	}
	found := <-running
	found.Installed, found.APIVersion = true, group.PreferredVersion.Version
	return &found, nil
}

// isUnknown reports whether an API server says that it does not have a path. Anything else
// that the address leads to may say 404, too.
func isUnknown(err error) bool {
	other, isOther := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	return apierrors.IsNotFound(err) && (!isOther || strings.TrimSpace(other.Message) == "404 page not found")
}

// controller returns the version of a controller, and whether it runs, as far as that can be read.
// It leaves a quarter of the time, so that what else is known of the controller is not lost.
func (r reader) controller(ctx context.Context, c controller) AddOn {
	if end, isLimited := ctx.Deadline(); isLimited {
		limited, cancel := context.WithDeadline(ctx, end.Add(-time.Until(end)/4))
		defer cancel()
		ctx = limited
	}
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Name, Image string }
				}
			}
		}
		Status struct{ ReadyReplicas int }
	}
	err := r.server.Get(ctx, &deployment, nil, "/apis/apps/v1/namespaces", c.namespace, "deployments", c.deployment)
	if err != nil {
		return AddOn{}
	}
	runs := deployment.Status.ReadyReplicas > 0
	found := AddOn{Runs: &runs}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == "manager" {
			found.Version = tagOf(container.Image)
		}
	}
	return found
}

// tagOf returns the tag of an image, "" if it has none.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tag
}
