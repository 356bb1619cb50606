package gcptest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// resources are Compute Engine's resources of one kind, by path: "projects/acme/global/networks/kn-research".
type resources[T any] struct {
	kind string // "networks"
	all  map[string]*T
	// fields returns the name of a resource, and where its address belongs.
	fields func(resource *T) (name string, link *string)
	// create refuses a new resource, or fills in what Compute Engine sets.
	create func(r *request, resource *T) error
	// user returns what uses a resource, "" if nothing does.
	user func(path string) string
}

func newResources[T any](kind string, fields func(resource *T) (name string, link *string)) resources[T] {
	return resources[T]{kind: kind, all: map[string]*T{}, fields: fields,
		create: func(*request, *T) error { return nil }, user: func(string) string { return "" }}
}

// path returns the path of a resource. region is "" for those that are global.
func (c *resources[T]) path(project, region, name string) string {
	scope := "global"
	if region != "" {
		scope = "regions/" + region
	}
	return "projects/" + project + "/" + scope + "/" + c.kind + "/" + name
}

func (c *resources[T]) add(project, region string, resource *T) {
	name, address := c.fields(resource)
	path := c.path(project, region, name)
	*address = link(path)
	c.all[path] = resource
}

func (c *resources[T]) of(r *request) (path string, resource *T, err error) {
	path = c.path(r.values["project"], r.values["region"], r.values["name"])
	if resource = c.all[path]; resource == nil {
		return path, nil, absent(path)
	}
	return path, resource, nil
}

func absent(path string) error { return notFound("The resource '%s' was not found", path) }

func (c *resources[T]) get(r *request) (any, error) {
	_, resource, err := c.of(r)
	return resource, err
}

// list returns a page of what a project has, in a region if the path names one, and the token of the next.
func (c *resources[T]) list(r *request) ([]*T, string) {
	var all []*T
	for _, path := range slices.Sorted(maps.Keys(c.all)) {
		if strings.HasPrefix(path, c.path(r.values["project"], r.values["region"], "")) {
			all = append(all, c.all[path])
		}
	}
	return page(r, all)
}

func (c *resources[T]) insert(r *request) (any, error) {
	wanted := new(T)
	if err := r.read(wanted); err != nil {
		return nil, err
	}
	name, address := c.fields(wanted)
	path := c.path(r.values["project"], r.values["region"], name)
	if c.all[path] != nil {
		return nil, exists("The resource '%s' already exists", path)
	}
	if err := c.create(r, wanted); err != nil {
		return nil, err
	}
	*address = link(path)
	return r.server.operate(r, "insert", path, func(failed *Error) {
		if failed == nil {
			c.all[path] = wanted
		}
	}), nil
}

func (c *resources[T]) remove(r *request) (any, error) {
	path, _, err := c.of(r)
	if err != nil {
		return nil, err
	}
	if user := c.user(path); user != "" {
		return nil, &Error{Code: http.StatusBadRequest, Reason: "resourceInUseByAnotherResource",
			Message: "The resource '" + path + "' is already being used by '" + user + "'"}
	}
	return r.server.operate(r, "delete", path, func(failed *Error) {
		if failed == nil {
			delete(c.all, path)
		}
	}), nil
}
