package google

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"google.golang.org/api/container/v1"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// madeBy is the label of a cluster that `up` has made, or has taken over from the Python package; its
// value is the cluster's name. A cluster of someone else never gets it.
const madeBy = "kubectl-kinetic"

// Maker says who has made a cluster.
type Maker int

// The makers.
const (
	Nobody  Maker = iota // there is no cluster
	Ours                 // `up`
	Python               // the Python package, through Pulumi
	Someone              // someone else
)

// Settings are what can be chosen about a cluster.
type Settings struct {
	Autopilot bool
	// Machine is the machine type of the first pool, whose nodes run what clusters need themselves.
	Machine string
	// MaxNodes is the largest size of the first pool.
	MaxNodes int
	// MachineGiven and MaxNodesGiven say that the user has chosen these two, so that a pool that
	// exists is compared with them.
	MachineGiven, MaxNodesGiven bool
	Endpoints                   Endpoints
	// VPC is the network, if it isn't one of the cluster's own.
	VPC VPC
}

// Channel is the release channel of new clusters.
const Channel = "REGULAR"

// The first pool.
const (
	firstPool = "default-pool"
	firstDisk = 50 // GB
	profile   = "OPTIMIZE_UTILIZATION"
	scope     = "https://www.googleapis.com/auth/cloud-platform"
)

// Cluster is the cluster. It remembers what it has read, for what is within it.
type Cluster struct {
	project  *Project
	id       infra.ID
	settings Settings

	mu       sync.Mutex
	last     *container.Cluster
	deleting bool
}

func (c *Cluster) parent() string {
	return "projects/" + c.project.Names.Project + "/locations/" + c.project.Names.Zone
}

func (c *Cluster) name() string { return c.parent() + "/clusters/" + c.project.Names.Cluster }

// Read asks for the cluster; nil if there is none. That is only what GKE says of this cluster, or that GKE is
// off in this project: what a cluster needs is deleted for it.
func (c *Cluster) Read(ctx context.Context) (*container.Cluster, error) {
	found, err := c.project.services.Containers.Projects.Locations.Clusters.Get(c.name()).Context(ctx).Do()
	other := gcp.IsMissing(err) && !slices.Contains(strings.FieldsFunc(gcp.MessageIn(err), isNoName), c.project.Names.Cluster)
	if !other && c.project.absent(ctx, err) {
		found, err = nil, nil
	}
	if err != nil {
		return nil, c.project.explain(err, "reading", c.id)
	}
	if found != nil && found.Name != c.project.Names.Cluster {
		return nil, fmt.Errorf("reading %s: the answer is about the cluster %q: check the network, and HTTPS_PROXY if there is a proxy", c.id, found.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = found
	return found, nil
}

// isNoName reports whether a rune is in no name of a cluster. "Not found: projects/acme/locations/us-central1-a/clusters/research."
func isNoName(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// Last returns the cluster as it was read last, nil if there was none.
func (c *Cluster) Last() *container.Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Present returns the cluster as it was read last, or reads it. It is an error if there is none.
func (c *Cluster) Present(ctx context.Context) (*container.Cluster, error) {
	if found := c.Last(); found != nil {
		return found, nil
	}
	found, err := c.Read(ctx)
	if err == nil && found == nil {
		err = fmt.Errorf("%s in %s of project %s was deleted in the meantime: repeat this command", c.id, c.project.Names.Zone, c.project.Names.Project)
	}
	return found, err
}

// MadeByUp reports whether `up` has made a cluster, or has taken it over.
func MadeByUp(c *container.Cluster) bool { return c.Name != "" && c.ResourceLabels[madeBy] == c.Name }

// Maker returns who has made the cluster that was read last.
func (c *Cluster) Maker() Maker {
	found := c.Last()
	switch {
	case found == nil:
		return Nobody
	case MadeByUp(found):
		return Ours
	case byPython(found.ResourceLabels):
		return Python
	}
	return Someone
}

// Usable returns why nothing can be done in the cluster that was read last, nil if something can.
func (c *Cluster) Usable() error {
	found := c.Last()
	switch {
	case found == nil || found.Status != "ERROR" && found.Status != "STOPPING":
		return nil
	case found.Status == "STOPPING":
		return &transport.Explained{Of: api.KindExists, Text: fmt.Sprintf("%s is being deleted: wait until it is gone, then repeat this command", c.id)}
	}
	next := "kubectl kinetic down" + gkeName(c.project.Names).Flags()
	return &transport.Explained{Of: api.KindExists, Do: next,
		Text: fmt.Sprintf("%s can't be used: its status is ERROR: %s; delete it with %s, then repeat this command", c.id, found.StatusMessage, next)}
}

// Get implements infra.Actor.
func (c *Cluster) Get(ctx context.Context) (infra.State, error) {
	found, err := c.Read(ctx)
	if err != nil || found == nil {
		return infra.State{Detail: c.detail()}, err
	}
	s := c.project.existing(c.id, c.Maker() != Someone)
	s.Detail = describe(found)
	if s.Pending = found.Status == "PROVISIONING"; s.Pending {
		return s, nil
	}
	if c.Maker() == Python {
		s.Missing = []string{"the label " + madeBy}
	}
	for _, d := range c.settings.differences(found, c.project.Names) {
		if s.Foreign && d.option != "" {
			n := c.project.Names
			d.Command = fmt.Sprintf("gcloud container clusters update %s --location=%s --project=%s %s", n.Cluster, n.Zone, n.Project, d.option)
		}
		s.Differences = append(s.Differences, d.Difference)
	}
	return s, nil
}

func (c *Cluster) detail() string {
	text := "Autopilot, in " + c.project.Names.Zone
	if !c.settings.Autopilot {
		text = fmt.Sprintf("in %s, 1 to %d nodes of %s; GKE doesn't upgrade nodes automatically until support for their version ends", c.project.Names.Zone, c.settings.MaxNodes, c.settings.Machine)
	}
	if v := c.settings.VPC; v.Chosen() {
		text += "; in " + v.String()
	}
	if e := c.settings.Endpoints; e.chosen() {
		text += "; the API server's address can be reached " + e.String()
	}
	return text
}

func describe(found *container.Cluster) string {
	text := fmt.Sprintf("in %s, Kubernetes %s", found.Location, found.CurrentMasterVersion)
	if gke.IsAutopilot(found) {
		text = "Autopilot, " + text
	}
	return text
}

// Ensure implements infra.Actor.
func (c *Cluster) Ensure(ctx context.Context, have infra.State) error {
	if !have.Exists {
		if err := c.create(ctx); err != nil && !gcp.IsExists(err) {
			return c.project.explain(err, "creating", c.id)
		}
	}
	found, err := c.ready(ctx)
	if err != nil {
		return err
	}
	switch maker := c.Maker(); {
	case maker != Ours && !have.Exists:
		return &transport.Explained{Of: api.KindExists, Text: fmt.Sprintf("meanwhile, someone else created %s in %s: repeat this command to see what can be done with it", c.id, found.Location)}
	case maker == Python: // it was found, and the user agreed
		if err := c.label(ctx); err != nil {
			return err
		}
	}
	if len(have.Differences) > 0 {
		err = c.change(ctx, found)
	}
	if err == nil {
		_, err = c.Read(ctx)
	}
	if err == nil {
		_, err = c.Present(ctx)
	}
	return err
}

func (c *Cluster) create(ctx context.Context) error {
	started, err := c.project.services.Containers.Projects.Locations.Clusters.Create(c.parent(), &container.CreateClusterRequest{Cluster: c.wanted()}).Context(ctx).Do()
	return c.do(ctx, started, err)
}

func (c *Cluster) do(ctx context.Context, started *container.Operation, err error) error {
	if err != nil {
		return err
	}
	n := c.project.Names
	return c.project.wait(ctx, c.id, gcp.ContainerOperation(c.project.services.Containers, n.Project, n.Zone, started))
}

// ready waits until the cluster runs, whoever creates it.
func (c *Cluster) ready(ctx context.Context) (*container.Cluster, error) {
	timer := backoff.Timer{First: c.project.access.Interval, Longest: 5 * max(c.project.access.Interval, time.Millisecond)}
	for {
		if err := timer.Sleep(ctx); err != nil {
			return nil, fmt.Errorf("waiting for %s: %w", c.id, err)
		}
		found, err := c.Read(ctx)
		switch {
		case err != nil:
			return nil, err
		case found == nil:
			return nil, fmt.Errorf("waiting for %s: it was deleted meanwhile", c.id)
		case found.Status != "PROVISIONING":
			return found, c.Usable()
		}
		if err := c.follow(ctx); err != nil {
			return nil, c.project.explain(err, "creating", c.id)
		}
	}
}

// follow waits for the operation that is under way for the cluster, if there is one.
func (c *Cluster) follow(ctx context.Context) error {
	all, err := c.project.services.Containers.Projects.Locations.Operations.List(c.parent()).Context(ctx).Do()
	if err != nil {
		return err
	}
	for _, o := range all.Operations {
		if o.Status != "DONE" && strings.HasSuffix(o.TargetLink, "/clusters/"+c.id.Name) {
			return c.do(ctx, o, nil)
		}
	}
	return nil
}

// operate makes a change to the cluster, after those that are under way.
func (c *Cluster) operate(ctx context.Context, start func() (*container.Operation, error)) error {
	n := c.project.Names
	return c.project.access.Change(ctx, gcp.GKE{Service: c.project.services.Containers, Project: n.Project, Location: n.Zone}, start, c.project.shown(c.id))
}

// label marks a cluster of the Python package as ours, and keeps its other labels, which say who has
// created it. The request names the labels that it is based on, so it is not sent again as it is: what
// became of it is read first.
func (c *Cluster) label(ctx context.Context) error {
	err := backoff.Retry(ctx, settlesWithin, stale, func() error {
		if _, err := c.Read(ctx); err != nil {
			return err
		}
		found, err := c.Present(ctx)
		if err != nil || c.Maker() != Python {
			return err
		}
		labels := maps.Clone(found.ResourceLabels)
		labels[madeBy] = found.Name
		return c.operate(ctx, func() (*container.Operation, error) {
			return c.project.services.Containers.Projects.Locations.Clusters.SetResourceLabels(c.name(),
				&container.SetLabelsRequest{ResourceLabels: labels, LabelFingerprint: found.LabelFingerprint}).Context(ctx).Do()
		})
	})
	return c.project.explain(err, "labelling", c.id)
}

// stale reports whether labels were changed since they were read.
func stale(err error) bool {
	return gcp.IsStatus(err, http.StatusPreconditionFailed) ||
		gcp.IsStatus(err, http.StatusBadRequest) && strings.Contains(strings.ToLower(gcp.MessageIn(err)), "fingerprint")
}

// change changes what differs, one setting at a time as the API demands.
func (c *Cluster) change(ctx context.Context, found *container.Cluster) error {
	for _, d := range c.settings.differences(found, c.project.Names) {
		if d.update == nil {
			continue
		}
		err := c.operate(ctx, func() (*container.Operation, error) {
			return c.project.services.Containers.Projects.Locations.Clusters.Update(c.name(), &container.UpdateClusterRequest{Update: d.update}).Context(ctx).Do()
		})
		if err != nil {
			return c.project.explain(err, "changing "+d.Setting+" of", c.id)
		}
	}
	return nil
}

// Delete implements infra.Actor.
func (c *Cluster) Delete(ctx context.Context) error {
	err := c.operate(ctx, func() (*container.Operation, error) {
		o, err := c.project.services.Containers.Projects.Locations.Clusters.Delete(c.name()).Context(ctx).Do()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.deleting = !refused(err)
		return o, err
	})
	return c.project.deleted(ctx, c.id, err, c)
}

// refused reports whether GKE has certainly not begun to delete a cluster. The request is repeated if an answer is lost,
// and then it can be in the way of itself, or too late.
func refused(err error) bool {
	var answer *googleapi.Error
	return errors.As(err, &answer) && answer.Code/100 == 4 && answer.Code != http.StatusBadRequest && answer.Code != http.StatusNotFound
}

// Deleting reports whether GKE has begun to delete the cluster, or may have.
func (c *Cluster) Deleting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deleting
}
