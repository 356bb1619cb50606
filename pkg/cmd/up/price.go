package up

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/stack"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// cost is the list price of what stays on while no job runs. It is never a bill.
type cost struct {
	PerMonth float64    `json:"perMonth"`
	Items    []costItem `json:"items"`
	// Unknown names what has no list price here.
	Unknown []string `json:"unknown,omitempty"`
	// Bases say where and when the prices hold.
	Bases []string `json:"priceBases"`
}

type costItem struct {
	What     string  `json:"what"`
	PerMonth float64 `json:"perMonth"`
}

// bill sums up cost items.
type bill struct {
	cost
	prices price.Table
	region string
}

// add adds a price, which is nil if it is not known.
func (b *bill) add(what string, each *float64, basis string, times float64) {
	if each == nil {
		b.Unknown = append(b.Unknown, what)
		return
	}
	if !slices.Contains(b.Bases, basis) {
		b.Bases = append(b.Bases, basis)
	}
	all := price.Round(*each * times)
	b.PerMonth = price.Round(b.PerMonth + all)
	b.Items = append(b.Items, costItem{what, all})
}

func (b *bill) item(what, item string, times float64) {
	usd, basis, known := b.prices.Of(item, b.region, false)
	each := &usd
	if !known {
		each = nil
	}
	b.add(what, each, basis, times)
}

// alwaysOn is how many nodes of a pool stay on while no job runs.
type alwaysOn struct {
	pool  *container.NodePool
	nodes int
}

// alwaysOn returns the nodes that stay on: as many as each pool has at least, of a cluster that exists those of
// its own pools, and of those that are added. states say which pools are not changed.
func (o *upOptions) alwaysOn(e *stack.Stack, states infra.States) []alwaysOn {
	var all []alwaysOn
	found := e.Cluster.Last()
	switch {
	case found == nil && o.settings.Autopilot, gke.IsAutopilot(found):
		return nil
	case found == nil:
		first := e.Cluster.FirstPool()
		all = append(all, alwaysOn{first, gke.Limits(first).Min})
	}
	exists := map[string]bool{}
	for _, p := range clusterOf(e).NodePools {
		exists[p.Name] = true
		least := gke.Limits(p).Min
		if wanted, planned := o.pools[p.Name]; planned && o.reconcile && !states[poolID(p.Name)].Foreign {
			least = wanted.LimitsFor(p).Min
		}
		all = append(all, alwaysOn{p, least})
	}
	for _, name := range o.wanted.Pools {
		if p := o.pools[name]; !exists[name] {
			all = append(all, alwaysOn{p.Pool, gke.Limits(p.Pool).Min})
		}
	}
	return slices.DeleteFunc(all, func(a alwaysOn) bool { return a.nodes == 0 || a.pool.Config == nil })
}

// costOf returns the list price of a cluster without jobs. nat says that its nodes use the NAT of `up`.
func costOf(c *container.Cluster, on []alwaysOn, nat bool, prices price.Table) cost {
	b := bill{prices: prices, region: config.Region(c.Location)}
	b.item("cluster", price.ClusterHour, price.HoursPerMonth)
	nodes, disks := 0, 0
	for _, a := range on {
		each, basis := gke.NodePrice(prices, a.pool, c.Location)
		b.add(human.Count(a.nodes, "node")+" of "+a.pool.Config.MachineType, each, basis, float64(a.nodes)*price.HoursPerMonth)
		nodes += a.nodes
		disks += a.nodes * int(a.pool.Config.DiskSizeGb)
	}
	if disks > 0 {
		b.item(fmt.Sprintf("%d GB of disks", disks), price.DiskGBMonth, float64(disks))
	}
	if nat {
		b.item("NAT", price.NATHour, float64(max(1, nodes))*price.HoursPerMonth)
		b.item("its address", price.AddressHour, price.HoursPerMonth)
	}
	return b.cost
}

// String says it in a line.
func (c cost) String() string {
	var parts []string
	for _, i := range c.Items {
		parts = append(parts, fmt.Sprintf("%s $%.0f", i.What, i.PerMonth))
	}
	least := ""
	if len(c.Unknown) > 0 {
		least = "at least "
	}
	text := fmt.Sprintf("baseline cost: %s$%.0f a month (%s; %s)", least, c.PerMonth, strings.Join(parts, ", "), price.Words(false, c.Bases...))
	if len(c.Unknown) > 0 {
		text += "; not known: " + strings.Join(c.Unknown, ", ")
	}
	return text
}
