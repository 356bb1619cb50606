package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

type addFlags struct {
	accelerators                     []string
	spot, flexStart, queued, compact bool
	yes                              bool
	minNodes, maxNodes, slices       int
	reservations                     []string
	fromVariable                     bool // the reservations are KINETIC_RESERVATION, which is not for spot
	name, diskSize, backend, output  string
	dryRun                           cli.DryRun
	zones                            []string
	labels                           map[string]string
}

const addLong = `Add a node pool for each accelerator. Its nodes get the labels that jobs for this
accelerator select. A pool begins with --min-nodes; GKE adds nodes when a job needs
them, and removes them when none does. A TPU slice of several hosts is a pool of its
own, which has all of its nodes or none.

What exists already is not made again. Ctrl-C ends the waiting, not what GKE has
begun: repeat the command to wait for it again.`

const addExamples = `  # machines with one L4 GPU, up to 10 of them
  kubectl kinetic pool add l4

  # a TPU slice on 4 hosts, and spot machines with 8 chips
  kubectl kinetic pool add v6e-4x4 v6e-8:spot

  # four slices for run --slices 4, from two reservations in turn
  kubectl kinetic pool add v6e-4x4 --slices 4 --reservation block-a,block-b

  # a slice in whichever of two zones has the machines when a job needs them
  kubectl kinetic pool add v6e-4x4 --zones us-east5-a,us-east5-b

  # what would be requested, without an account
  kubectl kinetic pool add h100x8 --reservation block-7 --dry-run -o yaml`

func (c *command) add() *cobra.Command {
	f := &addFlags{}
	machines := cli.NewSection("Machines")
	fs := machines.Flags
	fs.StringArrayVarP(&f.accelerators, "accelerator", "a", nil, "Same as an argument: an `ACCELERATOR`, such as l4 or v6e-8. May be repeated.")
	fs.BoolVar(&f.spot, "spot", false, "Spot capacity: cheaper, and may be taken back at any time.")
	fs.StringSliceVar(&f.reservations, "reservation", nil, "Take machines from this reservation, `NAME` or projects/PROJECT/reservations/NAME. With several, each gets a pool.")
	fs.BoolVar(&f.flexStart, "flex-start", false, "Wait for machines, and keep them for at most 7 days (Dynamic Workload Scheduler).")
	fs.BoolVar(&f.queued, "queued", false, "With --flex-start: create machines only when a Kueue queue requests all machines of a job at once.")
	fs.BoolVar(&f.compact, "compact", false, "Place GPU machines close together, in one zone.")
	cli.NumberVar(fs, &f.slices, 1, cli.Unbounded, "slices", "Add this `NUMBER` of pools, each of them a TPU slice of several hosts. Several reservations take turns.")
	cli.NumberVar(fs, &f.minNodes, 0, cli.Unbounded, "min-nodes", "Keep at least this `NUMBER` of nodes. They cost money while they are idle.")
	cli.NumberVar(fs, &f.maxNodes, 1, cli.Unbounded, "max-nodes", "Have at most this `NUMBER` of nodes. Default: 10, or the hosts of one slice.")
	fs.StringSliceVar(&f.zones, "zones", nil, "Comma-separated `ZONES` for the nodes. Machines that must be in one zone get a pool in each. Default: the cluster's zones that have the machines.")
	fs.StringVar(&f.backend, "backend", "", "`BACKEND` of the jobs: auto, gke, lws or pathways. With lws or pathways, shapes that exist on one host and on several (v5e-2x4, v6e-2x4) are on several.")
	fs.BoolVarP(&f.yes, "yes", "y", false, "Don't ask whether nodes may stay on while no job runs (--min-nodes).")
	machines.Completions["accelerator"] = cli.CompleteInOrder(accelerator.CompletePool)
	machines.Offer("backend", string(api.BackendGKE), string(api.BackendLWS), string(api.BackendPathways))
	pool := cli.NewSection("Node pool")
	pool.Flags.StringVar(&f.name, "name", "", "`NAME` of the pool. Default: derived from the accelerator and the flags.")
	pool.Flags.StringVar(&f.diskSize, "disk-size", "", "`SIZE` of a node's disk, such as 200GB. Default: 100GB.")
	pool.Flags.StringToStringVar(&f.labels, "labels", nil, "Labels for the nodes, `KEY=VALUE` with commas.")
	outcome := cli.NewSection("Outcome")
	f.dryRun.Add(outcome, "Print the request without sending it: none or client. It contacts nothing and needs no account.")
	outcome.FormatVar(&f.output, "Output `FORMAT`: yaml, json or name.", append(cli.Formats(), "name")...)
	return c.finish(&cobra.Command{
		Use: "add ACCELERATOR…", Short: "Add node pools for accelerators", Long: addLong, Example: addExamples,
		Args: f.some, ValidArgsFunction: cli.CompleteInOrder(accelerator.CompletePool),
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			accelerators := slices.Concat(args, f.accelerators)
			if f.reserve(os.Getenv, accelerators) {
				fmt.Fprintf(c.Streams.ErrOut, "machines come from reservation %s (KINETIC_RESERVATION)\n", strings.Join(f.reservations, ","))
			}
			o, err := f.toOptions(c, accelerators, machines.Flags.Changed("min-nodes"))
			if err != nil {
				return cli.Usage(err)
			}
			if o.dryRun {
				return o.print()
			}
			return o.run(ctx)
		}),
	}, machines, pool, outcome)
}

// reserve takes the reservation from the environment, unless flags say where machines come from or all are spot, and
// reports whether it did.
func (f *addFlags) reserve(getenv func(string) string, accelerators []string) bool {
	name := getenv("KINETIC_RESERVATION")
	isSpot := func(text string) bool {
		a, err := accelerator.Parse(text, accelerator.Options{})
		return err == nil && a.Spot
	}
	all := !slices.ContainsFunc(accelerators, func(text string) bool { return !isSpot(text) })
	if name == "" || f.reservations != nil || f.spot || f.flexStart || all {
		return false
	}
	f.reservations, f.fromVariable = strings.Split(name, ","), true
	return true
}

// some wants an accelerator, as an argument or a flag.
func (f *addFlags) some(_ *cobra.Command, args []string) error {
	if len(args)+len(f.accelerators) == 0 {
		return errors.New("name an accelerator, such as l4 or v6e-8; `kubectl kinetic accelerators` lists them")
	}
	return nil
}

type addOptions struct {
	*command
	cluster gke.Cluster
	wanted  []wanted
	dryRun  bool
	yes     bool
	output  string
}

// wanted is a node pool that was asked for.
type wanted struct {
	text        string // as typed
	accelerator api.Accelerator
	options     gke.Options
}

func (f *addFlags) toOptions(c *command, accelerators []string, minGiven bool) (*addOptions, error) {
	dryRun, err := f.dryRun.On()
	if err != nil {
		return nil, err
	}
	o := &addOptions{command: c, dryRun: dryRun, yes: f.yes, output: f.output}
	if f.name != "" && len(accelerators) > 1 {
		return nil, cli.Usagef("--name %s: it names one pool, and there are %d accelerators; add them one by one", f.name, len(accelerators))
	}
	backend, err := backendOf(f.backend)
	if err != nil {
		return nil, err
	}
	disk, err := gigabytes(f.diskSize)
	if err != nil {
		return nil, err
	}
	for _, text := range accelerators {
		a, err := accelerator.Parse(text, accelerator.Options{Spot: f.spot, Backend: backend})
		if err != nil {
			return nil, err
		}
		own := *f
		if a.Spot && f.fromVariable {
			own.reservations = nil
		}
		all, err := own.wanted(text, a, gke.Options{Name: f.name, Min: f.minNodes, MinGiven: minGiven, Max: f.maxNodes,
			FlexStart: f.flexStart, Queued: f.queued, Compact: f.compact, Zones: f.zones, DiskGB: disk, Labels: f.labels})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		for _, w := range all {
			if i := slices.IndexFunc(o.wanted, func(other wanted) bool { return other.options.Name == w.options.Name }); i >= 0 {
				return nil, cli.Usagef("%s and %s are the same node pool, %s: name it once, and add a second one with another --name", o.wanted[i].text, text, w.options.Name)
			}
		}
		o.wanted = append(o.wanted, all...)
	}
	if o.cluster, _, err = c.cluster(); err != nil {
		return nil, err
	}
	return o, nil
}

// wanted returns the pools for an accelerator: one, one for each slice, or at least one for each reservation and, if
// its machines must be in one zone or are reserved, for each zone. Pools that would have the same name are numbered from the second on.
func (f *addFlags) wanted(text string, a api.Accelerator, o gke.Options) ([]wanted, error) {
	if f.slices > 1 && a.Hosts == 1 {
		return nil, fmt.Errorf("--slices %d: it is on one host, and one pool has many of these: use --max-nodes", f.slices)
	}
	var zones []string // that have a pool each
	if a.Kind == api.TPU && a.Hosts > 1 || gke.IsRack(a) || f.compact || len(f.reservations) > 0 {
		zones = f.zones
	}
	if z := len(zones); f.slices > 1 && z > f.slices {
		return nil, fmt.Errorf("--slices %d: each of the %d --zones gets a pool: name at most %[1]d zones, or use --slices %[2]d", f.slices, z)
	}
	source := "--reservation "
	if f.fromVariable {
		source = "KINETIC_RESERVATION="
	}
	switch r, z := len(f.reservations), len(zones); {
	case r == 1 && z > 1:
		name := f.reservations[0]
		return nil, fmt.Errorf("%s%s: a reservation is in one zone, and there are %d --zones: name its zone; or, if each zone has one of this name, repeat it: %[1]s%[4]s",
			source, name, z, strings.Join(slices.Repeat([]string{name}, z), ","))
	case r > 1 && z > 1 && r != z:
		return nil, fmt.Errorf("%s%s: %d reservations and %d --zones: each pool is in one zone, so name the zone of each reservation", source, strings.Join(f.reservations, ","), r, z)
	}
	var all []wanted
	count := map[string]int{}
	for i := range max(1, f.slices, len(f.reservations), len(zones)) {
		own := o
		if len(zones) > 0 {
			own.Zones = []string{zones[i%len(zones)]}
		}
		if len(f.reservations) > 0 {
			own.Reservation = f.reservations[i%len(f.reservations)]
		}
		name := cmp.Or(o.Name, gke.Name(a, own))
		if count[name]++; count[name] > 1 {
			name += "-" + strconv.Itoa(count[name])
		}
		own.Name = name
		if _, err := gke.Plan(a, own); err != nil {
			return nil, err
		}
		all = append(all, wanted{text, a, own})
	}
	return all, nil
}

// backendOf reads --backend. Only lws and pathways choose another shape.
func backendOf(text string) (api.Backend, error) {
	switch text {
	case "", "auto":
		return "", nil
	}
	return api.Backend(text), cli.OneOf("--backend", text, []string{"auto", string(api.BackendGKE), string(api.BackendLWS), string(api.BackendPathways)})
}

// gigabytes reads a size such as 200, 200GB or 200Gi, 0 for none.
func gigabytes(text string) (int, error) {
	number := text
	for _, unit := range []string{"GiB", "GB", "Gi", "G"} {
		if cut, found := strings.CutSuffix(text, unit); found {
			number = cut
			break
		}
	}
	n, err := strconv.Atoi(number)
	switch {
	case text == "":
		return 0, nil
	case err != nil || n < 1:
		return 0, cli.Usagef("--disk-size %q: expected gigabytes, such as 200GB", text)
	}
	return n, nil
}

// request is what is sent to make a node pool.
type request struct {
	Parent         string `json:"parent"`
	NodePool       any    `json:"nodePool"`
	ResourcePolicy any    `json:"resourcePolicy,omitempty"`
}

// print prints the requests. It contacts nothing, so the nodes' account is missing, and the zones of a region.
func (o *addOptions) print() error {
	var requests []request
	var names []string
	var plans []placed
	networks := false
	for _, w := range o.wanted {
		options := w.options
		options.Cluster, options.Nodes.Identity, options.Nodes.Networks = o.cluster, true, true
		p, err := gke.Plan(w.accelerator, options)
		if err != nil {
			return cli.Usage(fmt.Errorf("%s: %w", w.text, err))
		}
		where, err := p.Settle(&container.Cluster{Name: o.cluster.Name, Location: o.cluster.Location, NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2}}, nil)
		if err != nil {
			return cli.Usage(err)
		}
		r := request{Parent: o.cluster.Path(), NodePool: p.Pool}
		if p.Policy != nil {
			r.ResourcePolicy = p.Policy
		}
		requests, names, plans = append(requests, r), append(names, p.Pool.Name), append(plans, placed{p, where})
		networks = networks || gke.HasNetworks(p.Pool)
		fmt.Fprintf(o.Streams.ErrOut, "would create node pool %s in cluster %s: %s\n", p.Pool.Name, o.cluster.Name, describe(p.Pool))
	}
	tellNotes(ui.New(o.Streams.ErrOut, o.Clock.Now), plans)
	if text := standing(connect.Prices(o.Streams.ErrOut), o.cluster.Location, keptOf(plans)); text != "" {
		fmt.Fprintln(o.Streams.ErrOut, "would run even without jobs: "+text)
	}
	if o.output == "name" {
		return o.printNames(names)
	}
	o.printZones(plans)
	fmt.Fprintln(o.Streams.ErrOut, "the nodes get the service account that the cluster's other nodes have")
	if networks {
		fmt.Fprintln(o.Streams.ErrOut, "the accelerator network profile is left out for a cluster without Dataplane V2")
	}
	format := cmp.Or(o.output, cli.YAML)
	if len(requests) == 1 {
		return cli.Write(o.Streams.Out, format, requests[0])
	}
	return cli.Write(o.Streams.Out, format, requests)
}

// printZones says what requests without zones mean.
func (o *addOptions) printZones(plans []placed) {
	several := false
	for _, p := range plans {
		switch {
		case len(p.Pool.Locations) > 0:
		case p.where.Zones > 1:
			several = true
		default:
			fmt.Fprintf(o.Streams.ErrOut, "name the zone with --zones before you send the request for node pool %s: without it, each zone of cluster %s gets these nodes\n", p.Pool.Name, o.cluster.Name)
		}
	}
	if several {
		fmt.Fprintf(o.Streams.ErrOut, "the pool will span the zones of cluster %s that have the machines, assumed to be three here; to choose them, use --zones\n", o.cluster.Name)
	}
}
