package down

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// disks returns the disks of the volumes of a cluster that is about to be deleted, none if they can't be listed: that
// keeps no cluster alive.
func (o *downOptions) disks(ctx context.Context, u *ui.UI, e *stack.Stack) []infra.Disk {
	if !hasJobs(e.Cluster.Last()) {
		return nil
	}
	all, err := e.Inside.Disks(ctx)
	if err != nil && ctx.Err() == nil {
		u.Warn(fmt.Sprintf("can't list the disks of volumes: %v; GKE does not always delete them with the cluster: look for them afterwards with: gcloud compute disks list --project=%s --filter='name~^pvc- AND -users:*'",
			err, e.Names.Project))
	}
	return all
}

// withDisks adds what may become of disks to a plan: the page of `gcloud container clusters delete` says that GKE
// attempts to delete them, and doesn't guarantee it.
func withDisks(plan infra.Removals, disks []infra.Disk) infra.Removals {
	for _, d := range disks {
		why := "GKE does not always delete it with the cluster, and it costs money until it is gone"
		if d.Kept {
			why = "its reclaim policy is Retain, so someone may want it"
		}
		plan = append(plan, infra.Removal{ID: infra.ID{Kind: infra.KindDisk, Name: d.Name}, Fate: infra.MayStay,
			Why: fmt.Sprintf("%s in %s, of claim %s: %s; delete it afterwards with: %s", d.Size, d.Location, d.Claim, why, deletion(d, d.Name))})
	}
	return plan
}

func deletion(d infra.Disk, names ...string) string {
	flag := "--zone="
	if d.Regional {
		flag = "--region="
	}
	return fmt.Sprintf("gcloud compute disks delete %s %s%s --project=%s", strings.Join(names, " "), flag, d.Location, d.Project)
}

// tellOfDisks prints a text and the commands that delete the disks GKE may leave, one for each location of a project.
// Disks that someone wants to keep are left out.
func tellOfDisks(u *ui.UI, text string, disks []infra.Disk) {
	type place struct{ project, location string }
	names := map[place][]string{}
	var order []infra.Disk
	for _, d := range disks {
		if d.Kept {
			continue
		}
		at := place{d.Project, d.Location}
		if names[at] == nil {
			order = append(order, d)
		}
		names[at] = append(names[at], d.Name)
	}
	for _, d := range order {
		u.Note(text + deletion(d, names[place{d.Project, d.Location}]...))
	}
}
