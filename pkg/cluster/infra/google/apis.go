package google

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/serviceusage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// APIs returns the APIs that a project needs, in the order in which people read them. Nodes stream images
// through that of the container file system.
func APIs() []string {
	var names []string
	for _, short := range []string{"container", "containerfilesystem", "compute", "artifactregistry", "cloudbuild", "storage", "iam", "iamcredentials", "logging", "cloudresourcemanager"} {
		names = append(names, short+".googleapis.com")
	}
	return names
}

type apis struct {
	*Project
	id infra.ID
}

func (a apis) Get(ctx context.Context) (infra.State, error) {
	missing, err := a.services.MissingAPIs(ctx, a.Names.Project)
	if err != nil {
		return infra.State{}, a.explain(err, "reading the", a.id)
	}
	// The project is there: only APIs are missing.
	return infra.State{Exists: true, Missing: missing}, nil
}

// MissingAPIs returns which of APIs are not enabled in a project.
func (s Services) MissingAPIs(ctx context.Context, project string) ([]string, error) {
	found, err := s.readAPIs(ctx, project, APIs()...)
	if err != nil {
		return nil, err
	}
	enabled := map[string]bool{}
	for _, each := range found.Services {
		enabled[each.Name[strings.LastIndex(each.Name, "/")+1:]] = each.State == "ENABLED"
	}
	return slices.DeleteFunc(APIs(), func(api string) bool { return enabled[api] }), nil
}

func (s Services) readAPIs(ctx context.Context, project string, apis ...string) (*serviceusage.BatchGetServicesResponse, error) {
	parent := "projects/" + project
	var names []string
	for _, name := range apis {
		names = append(names, parent+"/services/"+name)
	}
	return s.Usage.Services.BatchGet(parent).Names(names...).Context(ctx).Do()
}

// absent reports whether something is known not to exist in the project: its service says so, or Service
// Usage says that the API is off in this project. What a service says itself about its API may be about the
// project that the credentials charge.
func (p *Project) absent(ctx context.Context, err error) bool {
	if gcp.IsMissing(err) {
		return true
	}
	return p.stateOfDisabled(ctx, err) == "DISABLED"
}

// deleted returns how the deletion of a resource ended, nil if that is gone: the error can be about the operation alone.
func (p *Project) deleted(ctx context.Context, id infra.ID, err error, resource infra.Actor) error {
	if p.absent(ctx, err) {
		if s, unread := resource.Get(ctx); unread == nil && !s.Exists {
			return nil
		}
	}
	return p.explain(err, "deleting", id)
}

// stateOfDisabled returns what Service Usage says of the API that a service calls disabled in this project,
// "" for other errors and where it can't be asked. It says ENABLED from the moment in which someone enables
// the API; the service itself takes a while.
func (p *Project) stateOfDisabled(ctx context.Context, err error) string {
	api, consumer := gcp.DisabledAPI(err)
	if api == "" || consumer == "" {
		return ""
	}
	found, err := p.services.readAPIs(ctx, p.Names.Project, api)
	if err != nil || len(found.Services) != 1 {
		return ""
	}
	s := found.Services[0]
	number, _, _ := strings.Cut(strings.TrimPrefix(s.Name, "projects/"), "/")
	p.access.SetNumber(p.Names.Project, number)
	if consumer != number && consumer != p.Names.Project {
		return ""
	}
	return s.State
}

// number reads the number of the project. The service that enables the others can be asked for it
// before they are enabled: it answers projects/123/services/storage.googleapis.com.
func (p *Project) number(ctx context.Context) (uint64, error) {
	const doing = "reading the number of the project"
	found, err := p.services.readAPIs(ctx, p.Names.Project, gcp.Storage.API())
	if err != nil {
		return 0, p.access.Explain(err, p.Names.Project, doing)
	}
	for _, s := range found.Services {
		text, _, _ := strings.Cut(strings.TrimPrefix(s.Name, "projects/"), "/")
		if number, err := strconv.ParseUint(text, 10, 64); err == nil {
			return number, nil
		}
	}
	return 0, fmt.Errorf("%s %s: the Service Usage API returned no number", doing, p.Names.Project)
}

func (a apis) Ensure(ctx context.Context, have infra.State) error {
	started, err := a.services.Usage.Services.BatchEnable("projects/"+a.Names.Project, &serviceusage.BatchEnableServicesRequest{ServiceIds: have.Missing}).Context(ctx).Do()
	if err != nil {
		return a.explain(err, "enabling the", a.id)
	}
	command := fmt.Sprintf("gcloud services operations describe %s --project=%s", started.Name, a.Names.Project)
	err = a.wait(ctx, a.id, gcp.NewOperation(command, started, usageState, func(ctx context.Context) (*serviceusage.Operation, error) {
		return a.services.Usage.Operations.Get(started.Name).Context(ctx).Do()
	}))
	return a.explain(err, "enabling the", a.id)
}

func usageState(o *serviceusage.Operation) gcp.State {
	if o.Error != nil {
		return gcp.LongRunning(o.Done, o.Error.Code, o.Error.Message)
	}
	return gcp.State{Done: o.Done}
}

// Delete implements infra.Actor. Other things in the project may use the APIs.
func (a apis) Delete(context.Context) error { return nil }
