package pool

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/meter"
	"github.com/kubectl-kinetic/kinetic/pkg/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/nodeprice"
	"github.com/kubectl-kinetic/kinetic/pkg/price"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// standing says which nodes of pools stay on while no job runs, and what they cost at list prices:
// "2 nodes of g2-standard-4, $1.42 an hour, $1037 a month (list price, us-central1, 2025-03)". It is "" if none
// does. Location is the zone or the region of the cluster.
func standing(prices price.Table, location string, pools []*container.NodePool) string {
	var nodes, bases []string
	var sum price.Sum
	perHour := 0.0
	for _, p := range pools {
		least := gke.Limits(p).Min
		if least == 0 {
			continue
		}
		nodes = append(nodes, ui.Count(least, "node")+" of "+p.Config.MachineType)
		each, basis := nodeprice.Of(prices, p, location)
		if each == nil {
			sum.Add(nil)
			continue
		}
		all := price.Round(*each * float64(least))
		sum.Add(&all)
		perHour += all
		bases = append(bases, basis)
	}
	if len(nodes) == 0 {
		return ""
	}
	text := strings.Join(nodes, ", ")
	if len(bases) == 0 {
		return text + ", at a price that is not known here"
	}
	return fmt.Sprintf("%s, %s an hour, $%.0f a month (%s)", text, sum, perHour*price.HoursPerMonth, price.Words(false, bases...))
}

// confirmStanding asks before nodes are made that stay on while no job runs. Pools that exist are not changed.
func (o *addOptions) confirmStanding(ctx context.Context, cluster *container.Cluster, plans []gke.Planned) error {
	var made []*container.NodePool
	for _, p := range plans {
		if existing(cluster.NodePools, p.Pool) == p.Pool {
			made = append(made, p.Pool)
		}
	}
	text := standing(meter.Prices(o.streams.ErrOut), o.cluster.Location, made)
	switch {
	case text == "":
		return nil
	case o.yes:
		ui.New(o.streams.ErrOut, o.clock.Now).Phase("price", text+", also without jobs")
		return nil
	}
	return confirm(ctx, o.streams, "This would keep nodes on, also without jobs: "+text, "nothing was created")
}
