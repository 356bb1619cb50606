package doctor

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
)

// quotaProject looks which project requests are charged to. GKE and others look there whether their APIs are
// enabled.
func (c *cloud) quotaProject(ctx context.Context) Finding {
	charged, project := c.api().QuotaProject(), c.Target.Project
	switch charged {
	case "":
		return Good("the credentials name none")
	case project:
		return Good("%s", charged)
	}
	fix := c.api().Charging(project)
	off, err := c.api().MissingAPIs(ctx, charged)
	switch {
	case c.api().ChargesOther(err, project):
		return Failed(c.api().Explain(err, project, "reading which APIs are enabled in project "+charged))
	case err != nil:
		return failed(c.api().Explain(err, charged, "reading which APIs are enabled in project "+charged))
	case len(off) > 0:
		return Bad(fix, "the credentials charge project %s, and not %s: not enabled there: %s", charged, project, strings.Join(off, ", "))
	}
	return Skip("the credentials charge project %s, not %s; to change that: %s", charged, project, fix)
}

// project looks for the project. It is the first request: bad credentials are found here.
func (c *cloud) project(ctx context.Context) Finding {
	p, err := c.api().Resources.Projects.Get("projects/" + c.Target.Project).Context(ctx).Do()
	switch {
	case c.api().ChargesOther(err, c.Target.Project):
		return Lacking(QuotaProjectCheck)
	case err != nil:
		return failed(c.api().Explain(err, c.Target.Project, "reading the project "+c.Target.Project))
	}
	number, _ := strconv.ParseInt(strings.TrimPrefix(p.Name, "projects/"), 10, 64) // 0 is not known
	c.mu.Lock()
	c.number = number
	c.mu.Unlock()
	if number > 0 {
		c.api().SetNumber(c.Target.Project, strconv.FormatInt(number, 10))
	}
	if p.State != "" && p.State != "ACTIVE" {
		return Bad("gcloud projects undelete "+c.Target.Project, "its state is %s", p.State)
	}
	return Good("%s (%s)", c.Target.Project, c.Target.From.Project)
}

func (c *cloud) billing(ctx context.Context) Finding {
	info, err := c.api().Billing.Projects.GetBillingInfo("projects/" + c.Target.Project).Context(ctx).Do()
	switch {
	case err != nil:
		return c.failed(ctx, err, "reading who pays for the project")
	case !info.BillingEnabled:
		return Bad("gcloud billing projects link "+c.Target.Project+" --billing-account=ACCOUNT", "billing is not enabled for the project")
	}
	return Good("%s", cmp.Or(strings.TrimPrefix(info.BillingAccountName, "billingAccounts/"), "enabled"))
}

func (c *cloud) apis(ctx context.Context) Finding {
	off, err := c.off(ctx)
	switch {
	case err != nil:
		return c.failed(ctx, err, "reading which APIs are enabled")
	case len(off) == 0:
		return Good("all %d enabled", len(infracloud.APIs()))
	case c.lacksCluster(ctx): // up enables them
		return Lacking(GKECheck)
	}
	return Bad("gcloud services enable "+strings.Join(off, " ")+" --project "+c.Target.Project, "not enabled: %s", strings.Join(off, ", "))
}
