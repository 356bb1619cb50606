package pool

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// kept is how many nodes of a pool stay on while no job runs.
type kept struct {
	pool  *container.NodePool
	nodes int
	// where the nodes of a new pool are.
	where gke.Placing
}

// standing says which nodes of pools stay on while no job runs, and what they cost at list prices:
// "2 nodes of g2-standard-4, $1.42 an hour, $1037 a month (list price, us-central1, 2025-03)". It is "" if none
// does. Location is the zone or the region of the cluster.
func standing(prices price.Table, location string, pools []kept) string {
	var nodes, bases []string
	var sum price.Sum
	perHour := 0.0
	for _, k := range pools {
		if k.nodes == 0 {
			continue
		}
		text := human.Count(k.nodes, "node") + " of " + k.pool.Config.MachineType
		if first := k.where.First(k.pool); first > k.nodes {
			text += fmt.Sprintf(" (%d at first, %d in each of %d zones)", first, k.pool.InitialNodeCount, k.where.Zones)
		}
		nodes = append(nodes, text)
		each, basis := gke.NodePrice(prices, k.pool, location)
		if each == nil {
			sum.Add(nil)
			continue
		}
		all := price.Round(*each * float64(k.nodes))
		sum.Add(&all)
		perHour += all
		bases = append(bases, basis)
	}
	if len(nodes) == 0 {
		return ""
	}
	text := strings.Join(nodes, ", ")
	if len(bases) == 0 {
		return text + ", at an unknown price"
	}
	return fmt.Sprintf("%s, %s an hour, $%.0f a month (%s)", text, sum, perHour*price.HoursPerMonth, price.Words(false, bases...))
}

// confirmStanding asks before nodes stay on while no job runs. undone says what an answer of no means.
func (c *command) confirmStanding(ctx context.Context, location string, pools []kept, yes bool, undone string) error {
	text := standing(connect.Prices(c.Streams.ErrOut), location, pools)
	switch {
	case text == "":
		return nil
	case yes:
		ui.New(c.Streams.ErrOut, c.Clock.Now).Phase("price", text+", even without jobs")
		return nil
	}
	return cli.MustConfirm(ctx, c.Streams, "Nodes would run even without jobs: "+text, undone, "--yes")
}
