// Package accelerators is the command `kubectl kinetic accelerators`: it lists what jobs may ask for.
package accelerators

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

const long = `List the accelerators that jobs can request with --accelerator, with their list
prices per hour. Contacts nothing without --live.

Filters narrow the list. An accelerator must match all of them; of several kinds,
names or shapes, one is enough:

  gpu, tpu            the kind
  v6e, l4, h100       the name, or another name of it
  v6e-8, l4x2         the shape
  spot                with a price for spot capacity, which prices then mean
  '>=4', 4+, 8        how many chips
  '>=80GB', 80GB+     the memory of a chip
  1host               how many hosts
  '<=$2', '<=2.50/h'  the price of an hour; unknown prices never match

Prices are those of the region that --zone, the profile or the kubeconfig names, as
far as they are known. They are list prices of a date, not a bill.

--live asks Google Cloud which zones have the machines, and how much quota is left in
the cluster's region. HERE shows whether the cluster's zone has them. ZONES lists the
zones of one region (the cluster's, if it has any) and counts all others; -o wide
lists all. QUOTA LEFT is - if the region has no such quota. --live doesn't show whether
a machine is free.

Exit codes: 0 the list was printed; 1 Google Cloud could not be reached; 2 a filter is
invalid; 130 interrupted.`

const examples = `  kubectl kinetic accelerators tpu v6e

  # at least four GPUs with at least 80 GB each
  kubectl kinetic accelerators gpu 4+ 80GB+

  # what costs at most two dollars an hour on spot capacity
  kubectl kinetic accelerators spot '<=$2' -o name

  # where in this project, and how much of the quota is left?
  kubectl kinetic accelerators h100 --live`

// Formats of --output besides those of package document.
const (
	wideFormat = "wide"
	nameFormat = "name"
)

type flags struct {
	output     string
	live       bool
	connection *connect.Flags
}

// NewCommand returns the command `kubectl kinetic accelerators`.
func NewCommand(streams genericiooptions.IOStreams, _ clock.PassiveClock) *cobra.Command {
	f := &flags{connection: connect.NewFlags()}
	own := cli.NewSection("Flags")
	own.FormatVar(&f.output, "Output `FORMAT`: wide, name, json or yaml.", append([]string{wideFormat, nameFormat}, cli.Formats()...)...)
	own.Flags.BoolVar(&f.live, "live", false, "Query Google Cloud for available zones and quotas.")
	c := &cobra.Command{
		Use:               "accelerators [FILTER…] [flags]",
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kinetic accelerators"},
		Short:             "List the accelerators that jobs can request",
		Long:              long,
		Example:           examples,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeFilters,
		RunE: cli.RunE(func(ctx context.Context, args []string) error {
			o, err := f.toOptions(args, streams, os.Getenv)
			if err != nil {
				return cli.Usage(err)
			}
			if f.live {
				if err := o.look(ctx, o.place, os.Getenv); err != nil {
					return err
				}
			}
			return o.run()
		}),
	}
	cli.AddSections(c, own, f.connection.Section())
	return c
}

func completeFilters(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	words := []string{"gpu", "tpu", spotWord + "\tWith a price for spot capacity"}
	for _, o := range accelerator.Offers() {
		if word := fmt.Sprintf("%s\t%s, %d GB a chip", o.Name, strings.ToUpper(string(o.Kind)), o.ChipGB); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

type options struct {
	streams genericiooptions.IOStreams
	output  string
	spot    bool
	live    bool
	place   config.Target
	offers  []offer
	useless []string // what is said of filters that leave nothing
}

func (f *flags) toOptions(words []string, streams genericiooptions.IOStreams, env func(string) string) (*options, error) {
	wanted, err := newFilter(words)
	if err != nil {
		return nil, err
	}
	prices, err := price.Read(env)
	if err != nil {
		return nil, err
	}
	where, err := f.place()
	if err != nil {
		return nil, err
	}
	region := config.Region(where.Zone)
	o := &options{streams: streams, output: f.output, spot: wanted.spot, live: f.live, place: where}
	var all []offer
	for _, known := range accelerator.Offers() {
		all = append(all, newOffer(known, prices, region, wanted.spot))
	}
	o.offers = wanted.without(-1, all)
	o.useless = wanted.useless(all, o.offers)
	return o, nil
}

// place returns the place of the cluster, without what is not known. A list that needs no cluster doesn't
// fail because of one that nobody asked for.
func (f *flags) place() (config.Target, error) {
	where, err := f.connection.ResolveStored()
	switch {
	case f.live && err == nil && where.Project == "":
		return where, cli.Usagef("--live requires a project: set --project or KINETIC_PROJECT")
	case f.live && err == nil:
		return where, nil // its default zone counts, too
	case err != nil && !f.live && !f.connection.ChooseCluster():
		return config.Target{}, nil
	}
	return where.Known(), err
}

func (o *options) run() error {
	useless := o.useless
	if len(o.offers) == 0 {
		useless = []string{"no accelerator fits: " + strings.Join(useless, "; ")}
	}
	for _, text := range useless {
		fmt.Fprintln(o.streams.ErrOut, text)
	}
	switch {
	case o.output == nameFormat:
		return o.names()
	case o.output == cli.JSON || o.output == cli.YAML:
		items := []item{}
		for _, a := range o.offers {
			items = append(items, a.item())
		}
		return cli.Write(o.streams.Out, o.output, map[string]any{"items": items})
	case len(o.offers) == 0:
		return nil
	}
	return o.table()
}

// names prints each name once: some shapes differ by the number of hosts only.
func (o *options) names() error {
	last := ""
	for _, a := range o.offers {
		if name := a.name(); name != last {
			if _, err := fmt.Fprintln(o.streams.Out, name); err != nil {
				return err
			}
			last = name
		}
	}
	return nil
}

func (o *options) table() error {
	style := ui.Detect(o.streams.Out)
	columns, prices := o.columns(), "for an hour of all hosts: list prices in US dollars, not a bill"
	if style.Width() > 0 { // a footnote says it: it is nearly the same in all rows
		columns = slices.DeleteFunc(columns, func(c column) bool { return c.Header == pricesOf })
		prices = "for an hour of all hosts, in US dollars, not a bill: " + price.Words(false, o.bases()...)
	}
	var shown []ui.Column
	for _, c := range columns {
		shown = append(shown, c.Column)
	}
	table := ui.NewFitted(o.streams.Out, style, true, shown...)
	for _, a := range o.offers {
		var row []string
		for _, c := range columns {
			row = append(row, cmp.Or(c.cell(a), "-"))
		}
		table.Row(row...)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(o.streams.ErrOut, ui.Wrapped(o.streams.ErrOut, prices))
	if o.live && slices.ContainsFunc(o.offers, func(a offer) bool { return a.live.Quota == nil }) {
		none := fmt.Sprintf("quota -: Compute Engine lists none in %s, as for the newest GPUs and TPUs; see %s?project=%s", config.Region(o.place.Zone), gcp.QuotaPage, o.place.Project)
		fmt.Fprintln(o.streams.ErrOut, ui.Wrapped(o.streams.ErrOut, none))
	}
	return nil
}

// bases returns where and when the prices held.
func (o *options) bases() []string {
	var all []string
	for _, a := range o.offers {
		all = append(all, a.from())
	}
	return all
}

// column is one of the table. A cell may be "".
type column struct {
	ui.Column
	cell func(offer) string
}

// always returns a column that is there in any width, varies one that goes if it is too wide and its cells are equal.
func always(header string, cell func(offer) string) column {
	return column{ui.Column{Header: header}, cell}
}

func varies(header string, cell func(offer) string) column {
	return column{ui.Column{Header: header, Varies: true, Text: true}, cell}
}

// spare returns a column that goes if it is too wide.
func spare(header string, cell func(offer) string) column {
	return column{ui.Column{Header: header, Varies: true, Spare: true}, cell}
}

// pricesOf is the header of the column that says where and when prices held.
const pricesOf = "prices of"

// columns returns those of the table. With --live, only -o wide has those that do not change.
func (o *options) columns() []column {
	prices := []column{always("price/h", func(a offer) string { return dollars(a.perHour) }), always("spot/h", func(a offer) string { return dollars(a.spot) })}
	columns := []column{always("accelerator", offer.text)}
	wide := o.output == wideFormat
	if o.live && !wide {
		return slices.Concat(columns, prices, o.liveColumns())
	}
	columns = append(columns, spare("aliases", offer.otherNames),
		always("chips", func(a offer) string { return strconv.Itoa(a.Chips) }), varies("hosts", func(a offer) string { return strconv.Itoa(a.Hosts) }),
		spare("topology", func(a offer) string { return a.Topology }), spare("machine", func(a offer) string { return a.MachineType }),
		spare("gb/chip", func(a offer) string { return strconv.Itoa(a.ChipGB) }))
	columns = append(append(columns, prices...), varies(pricesOf, offer.from))
	if wide {
		columns = append(columns, varies("kind", func(a offer) string { return string(a.Kind) }), varies("label", func(a offer) string { return a.Label }),
			varies("arch", func(a offer) string { return cmp.Or(a.Arch, "amd64") }))
	}
	if o.live {
		columns = append(columns, o.liveColumns()...)
	}
	return columns
}
