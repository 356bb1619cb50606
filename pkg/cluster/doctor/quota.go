package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	compute "google.golang.org/api/compute/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// quota compares what the project and the region have left with what one job needs. Compute Engine lists the
// quotas of most GPUs and of some TPUs by region, and that of all GPUs of the project.
func (c *cloud) quota(ctx context.Context) Finding {
	a := c.Accelerator
	if a != nil && a.Kind == api.CPU {
		return Skip("not needed for cpu")
	}
	name := config.Region(c.Target.Zone)
	region, err := c.api().Compute.Regions.Get(c.Target.Project, name).Context(ctx).Do()
	switch {
	case gcp.IsMissing(err):
		return Skip("there is no region %s", name)
	case err != nil:
		return c.failed(ctx, err, "reading the quotas of "+name)
	}
	project, err := c.api().Compute.Projects.Get(c.Target.Project).Context(ctx).Do()
	if err != nil {
		return c.failed(ctx, err, "reading the quotas of project "+c.Target.Project)
	}
	if a == nil {
		return c.exhausted(project, region)
	}
	if all, known := gke.Quotas(project.Quotas)[accelerator.AllGPUs]; known && a.Kind == api.GPU && all.Free() < float64(a.Chips) {
		return c.tooLittle(ctx, all, "project "+c.Target.Project)
	}
	if q, known := gke.Quotas(region.Quotas)[accelerator.QuotaMetric(*a)]; known {
		if q.Free() < float64(a.Chips) {
			return c.tooLittle(ctx, q, name)
		}
		return Good("%s in %s has %g of %g left", q.Metric, name, q.Free(), q.Limit)
	}
	if id := accelerator.QuotaID(*a); id != "" {
		return Skip("%s lists no quota for %s: look for %s at %s", name, accelerator.Text(*a), id, c.quotaPage())
	}
	return Skip("%s lists no quota for %s: look at %s", name, accelerator.Text(*a), c.quotaPage())
}

func (c *cloud) quotaPage() string { return gcp.QuotaPage + "?project=" + c.Target.Project }

// tooLittle is the finding for a quota that has too little left for the job. Nodes for it may be what uses the quota:
// then the job needs no more.
func (c *cloud) tooLittle(ctx context.Context, q gke.Quota, where string) Finding {
	text := fmt.Sprintf("%s in %s has %g of %g left, and %s needs %d", q.Metric, where, q.Free(), q.Limit, accelerator.Text(*c.Accelerator), c.Accelerator.Chips)
	if c.Nodes != nil {
		soon, cancel := context.WithTimeout(ctx, Within/2)
		defer cancel()
		if n, err := c.Nodes(soon); err == nil && n > 0 {
			return Skip("%s, but the cluster already has %s for it; request more at %s", text, human.Count(n, "node"), c.quotaPage())
		}
	}
	return Bad(c.quotaPage(), "%s", text)
}

// exhausted lists the accelerator quotas that are used up. That is no failure, since the cluster's own nodes may use
// them. Neither is a GPU quota of zero: the project may be for TPUs.
func (c *cloud) exhausted(project *compute.Project, region *compute.Region) Finding {
	if all, known := gke.Quotas(project.Quotas)[accelerator.AllGPUs]; known && all.Limit == 0 {
		return Skip("%s is 0: the project has no quota for GPUs in any region; request it at %s", all.Metric, c.quotaPage())
	}
	var none []string
	for _, q := range slices.Concat(region.Quotas, project.Quotas) {
		if strings.HasSuffix(q.Metric, "_GPUS") || strings.HasSuffix(q.Metric, accelerator.AllGPUs) || strings.Contains(q.Metric, "TPU_") {
			if q.Limit > 0 && q.Usage >= q.Limit {
				none = append(none, fmt.Sprintf("%s (%g)", q.Metric, q.Limit))
			}
		}
	}
	if len(none) > 0 {
		return Skip("used up in %s, perhaps by this cluster: %s; request more at %s", region.Name, strings.Join(none, ", "), c.quotaPage())
	}
	return Good("no quota for GPUs in %s is used up; -a checks the quota of one accelerator", region.Name)
}
