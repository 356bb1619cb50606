package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// plurals are the resources of the most common kinds in jobs and their overlays, by Kind.group.
// Others are looked up in the cluster, also optional kinds of workloads: a cluster may not have
// them.
func plurals() map[string]string {
	return map[string]string{
		"ConfigMap":                             "configmaps",
		"PersistentVolumeClaim":                 "persistentvolumeclaims",
		"Secret":                                "secrets",
		"Service":                               "services",
		"ServiceAccount":                        "serviceaccounts",
		"Job.batch":                             "jobs",
		"NetworkPolicy.networking.k8s.io":       "networkpolicies",
		"PodDisruptionBudget.policy":            "poddisruptionbudgets",
		"ResourceClaimTemplate.resource.k8s.io": "resourceclaimtemplates",
		"Role.rbac.authorization.k8s.io":        "roles",
		"RoleBinding.rbac.authorization.k8s.io": "rolebindings",
	}
}

// collection is the place of the objects of a kind in the URLs of the API server.
type collection struct {
	version schema.GroupVersion
	plural  string
}

func (c collection) path(namespace string) []string {
	return append(versionPath(c.version), "namespaces", namespace, c.plural)
}

func versionPath(version schema.GroupVersion) []string {
	if version.Group == "" {
		return []string{"/api", version.Version}
	}
	return []string{"/apis", version.Group, version.Version}
}

func (c collection) kind() kind {
	return kind{resource: strings.TrimSuffix(c.plural+"."+c.version.Group, ".")}
}

// collectionOf returns where an object belongs. Its kind must have been located.
func (c *Cluster) collectionOf(o *unstructured.Unstructured) collection {
	gvk := o.GroupVersionKind()
	if plural, known := plurals()[gvk.GroupKind().String()]; known {
		return collection{gvk.GroupVersion(), plural}
	}
	return c.discovered[gvk]
}

// locate finds out where the objects to apply belong. It makes one request for each group with a
// kind that is not in plurals.
func (c *Cluster) locate(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if c.collectionOf(o).plural != "" {
			continue
		}
		gvk := o.GroupVersionKind()
		switch err := c.discover(ctx, gvk); {
		case err == nil:
		case !isWorkload(o):
			return fmt.Errorf("%s %s of the overlay: %w", gvk.Kind, o.GetName(), err)
		case errors.Is(err, errNoKind):
			return &apiserver.MissingError{Install: apiserver.InstallLeaderWorkerSet,
				Text: "the cluster has no LeaderWorkerSets, which jobs on several hosts (--backend lws) need: install them with " + apiserver.InstallLeaderWorkerSet + ", or use --backend gke; `kubectl kinetic doctor` shows what else is missing"}
		default:
			return fmt.Errorf("%s %s: %w", gvk.Kind, o.GetName(), err)
		}
	}
	return nil
}

func (c *Cluster) discover(ctx context.Context, gvk schema.GroupVersionKind) error {
	version := gvk.GroupVersion()
	var list metav1.APIResourceList
	err := c.client.explain("discover", kind{resource: version.String()}, "", c.read(ctx, &list, versionPath(version)...))
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	known := false
	for _, r := range list.APIResources {
		known = known || r.Kind == gvk.Kind
		if r.Namespaced && !strings.Contains(r.Name, "/") { // no subresource, such as status
			c.discovered[version.WithKind(r.Kind)] = collection{version, r.Name}
		}
	}
	if _, found := c.discovered[gvk]; found {
		return nil
	}
	if known {
		return fmt.Errorf("cluster-scoped objects can't be deleted with the job: apply it with kubectl apply, and remove it from the overlay")
	}
	return fmt.Errorf("%w in %s: install it, or check kubectl api-resources", errNoKind, version)
}

var errNoKind = errors.New("the cluster has no such kind")

// asJSON makes a request for objects of kinds that have no Go type here.
func (c *Client) asJSON(r *rest.Request, path ...string) *rest.Request {
	return r.AbsPath(path...).SetHeader("Accept", runtime.ContentTypeJSON)
}

// createMode says whether the server keeps the object that it creates.
type createMode bool

const (
	modeCreate createMode = false
	modeDryRun createMode = true
)

// createObject creates an object of any kind, and returns it as the server has it. A field that the
// server doesn't know is an error.
func (c *Client) createObject(ctx context.Context, where collection, o *unstructured.Unstructured, mode createMode) (*unstructured.Unstructured, error) {
	body, err := o.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	request := c.asJSON(c.core.Post(), where.path(c.namespace)...).SetHeader("Content-Type", runtime.ContentTypeJSON).
		Param("fieldValidation", metav1.FieldValidationStrict).Body(body)
	if mode == modeDryRun {
		request.Param("dryRun", metav1.DryRunAll)
	}
	made, err := answer(request.Do(ctx))
	return made, c.explain("create", where.kind(), o.GetName(), err)
}

// getObject reads an object. It tries again after errors that are transient.
func (c *Client) getObject(ctx context.Context, where collection, name string) (found *unstructured.Unstructured, err error) {
	err = retry(ctx, func() error {
		found, err = answer(c.asJSON(c.core.Get(), append(where.path(c.namespace), name)...).Do(ctx))
		return c.explain("get", where.kind(), name, err)
	})
	return found, err
}

// addOwner gives an object another owner. The object is removed with its last owner. It tries again
// after errors that are transient.
func (c *Client) addOwner(ctx context.Context, where collection, name string, owner metav1.OwnerReference) error {
	patch, err := json.Marshal([]any{map[string]any{"op": "add", "path": "/metadata/ownerReferences/-", "value": owner}})
	if err != nil {
		return err
	}
	return retry(ctx, func() error {
		err := c.asJSON(c.core.Patch(types.JSONPatchType), append(where.path(c.namespace), name)...).Body(patch).Do(ctx).Error()
		return c.explain("patch", where.kind(), name, err)
	})
}

// tryMerge returns what an object would be with more content. It changes nothing, and tries again after
// errors that are transient.
func (c *Client) tryMerge(ctx context.Context, where collection, name string, content map[string]any) (merged *unstructured.Unstructured, err error) {
	patch, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("writing %s %s: %w", where.plural, name, err)
	}
	err = retry(ctx, func() error {
		merged, err = answer(c.asJSON(c.core.Patch(types.MergePatchType), append(where.path(c.namespace), name)...).
			Param("dryRun", metav1.DryRunAll).Body(patch).Do(ctx))
		return c.explain("patch", where.kind(), name, err)
	})
	return merged, err
}

// removeObject deletes an object and what it owns, in the order of the policy. With a UID it
// deletes no other object of that name. It tries again after errors that are transient.
func (c *Client) removeObject(ctx context.Context, where collection, name string, uid types.UID, policy metav1.DeletionPropagation) error {
	o := &metav1.DeleteOptions{PropagationPolicy: &policy}
	if uid != "" {
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return retry(ctx, func() error {
		err := c.core.Delete().AbsPath(append(where.path(c.namespace), name)...).Body(o).Do(ctx).Error()
		return c.explain("delete", where.kind(), name, err)
	})
}

// isGone reports whether a removal failed because the object does not exist, or another object has
// its name now.
func isGone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

func answer(r rest.Result) (*unstructured.Unstructured, error) {
	data, err := apiserver.Body(r)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{}
	return o, o.UnmarshalJSON(data)
}
