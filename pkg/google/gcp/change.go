package gcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// GKE is GKE in one location of a project.
type GKE struct {
	Service           *container.Service
	Project, Location string
}

// inTheWay matches how GKE refuses a change while another one is made: "Cluster is running
// incompatible operation X." or "Operation X is currently repairing cluster C.".
const inTheWay = `[Oo]peration (operation-[0-9a-z-]+)`

// Change makes a change to a cluster or to something in it, and follows its operation. GKE makes one
// change at a time: if another one is in the way, Change waits until that is over, however it ends.
// changed, which may be nil, is called with each new state.
func (a *Access) Change(ctx context.Context, in GKE, start func() (*container.Operation, error), changed func(State)) error {
	for {
		o, err := start()
		if err == nil {
			return a.Wait(ctx, ContainerOperation(in.Service, in.Project, in.Location, o), changed)
		}
		found := lazyregexp.Of(inTheWay).FindStringSubmatch(err.Error())
		if found == nil || !IsStatus(err, http.StatusBadRequest) {
			return err
		}
		if err := a.waitForOther(ctx, in, found[1], changed); err != nil {
			return err
		}
	}
}

// waitForOther waits until the operation of that name is over.
func (a *Access) waitForOther(ctx context.Context, in GKE, name string, changed func(State)) error {
	if changed != nil {
		changed(State{Text: "waiting for " + name})
	}
	if err := sleep(ctx, a.Interval); err != nil { // GKE may refuse a change a little longer
		return err
	}
	o, err := in.Service.Projects.Locations.Operations.Get(fmt.Sprintf("projects/%s/locations/%s/operations/%s", in.Project, in.Location, name)).Context(ctx).Do()
	if IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = a.Wait(ctx, ContainerOperation(in.Service, in.Project, in.Location, o), changed)
	if errors.As(err, new(*UnfinishedError)) {
		return err
	}
	return nil
}
