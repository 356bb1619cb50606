package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-kinetic/kinetic/pkg/apiserver"
	"github.com/kubectl-kinetic/kinetic/pkg/kueue"
	"github.com/kubectl-kinetic/kinetic/pkg/status"
)

// AddOn is a controller that a cluster may have.
type AddOn struct {
	Installed bool `json:"installed"`
	// APIVersion is the version of its API that the server prefers.
	APIVersion string `json:"apiVersion,omitempty"`
	// Version is the version of the controller, "" if it can't be read.
	Version string `json:"version,omitempty"`
}

// controller says where a controller is found: the group of its API, and its Deployment as
// its own manifests and charts name it.
type controller struct{ group, namespace, deployment string }

var (
	leaderWorkerSet = controller{status.LeaderWorkerSet.Group, "lws-system", "lws-controller-manager"}
	kueueController = controller{kueue.Version.Group, "kueue-system", "kueue-controller-manager"}
)

func (c controller) request() apiserver.Request {
	return apiserver.Request{Verb: "get", Resource: "/apis/" + c.group}
}

// addOn looks for a controller by its API, which every user may ask for. Only some may read
// its Deployment.
func (r reader) addOn(ctx context.Context, c controller) (*AddOn, error) {
	version := make(chan string, 1)
	go func() { version <- r.imageTag(ctx, c) }()
	data, err := r.get(ctx, runtime.ContentTypeJSON, nil, "/apis", c.group)
	if isUnknown(err) {
		return &AddOn{}, nil
	}
	if err != nil {
		return nil, err
	}
	var group metav1.APIGroup
	if err := json.Unmarshal(data, &group); err != nil {
		return nil, fmt.Errorf("reading the API group %s: %w", c.group, err)
	}
	return &AddOn{Installed: true, APIVersion: group.PreferredVersion.Version, Version: <-version}, nil
}

// isUnknown reports whether an API server says that it does not have a path. Anything else
// that the address leads to may say 404, too.
func isUnknown(err error) bool {
	other, isOther := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	return apierrors.IsNotFound(err) && (!isOther || strings.TrimSpace(other.Message) == "404 page not found")
}

// imageTag returns the tag of a controller's image, "" if that can't be read. It leaves a
// quarter of the time, so that what else is known of the controller is not lost.
func (r reader) imageTag(ctx context.Context, c controller) string {
	if end, isLimited := ctx.Deadline(); isLimited {
		limited, cancel := context.WithDeadline(ctx, end.Add(-time.Until(end)/4))
		defer cancel()
		ctx = limited
	}
	data, err := r.get(ctx, runtime.ContentTypeJSON, nil, "/apis/apps/v1/namespaces", c.namespace, "deployments", c.deployment)
	if err != nil {
		return ""
	}
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Name, Image string }
				}
			}
		}
	}
	if err := json.Unmarshal(data, &deployment); err != nil {
		return ""
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == "manager" {
			return tagOf(container.Image)
		}
	}
	return ""
}

// tagOf returns the tag of an image, "" if it has none.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tag
}
