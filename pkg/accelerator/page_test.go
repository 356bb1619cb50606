package accelerator

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/golden"
)

const pageOpening = `# Accelerators

<!-- Written by: go test ./pkg/accelerator -run TestAcceleratorsPage -update -->

` + "Pass the first column to `-a`" + `:

    kubectl kinetic run train.py:train -a v6e-8
    kubectl kinetic run train.py:train -a l4x2:spot
    kubectl kinetic run train.py:train -a v6e-8 --explain      # what it needs and costs; starts nothing
    kubectl kinetic accelerators gpu '>=80GB'                  # this page as a list, with filters
    kubectl kinetic accelerators spot '<=$2'                   # what costs at most two dollars an hour on spot capacity

` + "- `:spot`, or the flag `--spot`, asks for spot capacity: cheaper, and taken back at any time." + `
` + "- `tpu-v6e-8`, `gpu-l4` and `v6e-2x4` are accepted too. `a100:8` means the same as `a100x8`." + `
- The number counts chips. Some of Google Cloud's names count cores instead: see the column "Google Cloud".
- Several hosts run as one job: see [hosts.md](hosts.md).
` + "- `--backend pathways` has one process use all chips of a slice: see [pathways.md](pathways.md). The section of each kind of TPU names the shapes that it supports." + `

**Which of these does my cluster have?** Your node pools decide that:

    kubectl kinetic pool list

[pools.md](pools.md) says how to add one. Outside GKE, look at the labels of the nodes:

    kubectl get nodes -L cloud.google.com/gke-accelerator,cloud.google.com/gke-tpu-accelerator,cloud.google.com/gke-tpu-topology

**Prices** are list prices in US dollars for an hour of the whole job, without discounts, disks and the cluster's own
fee. Region and date are given with each table. Prices differ between regions, and spot prices change every month:
check [Google Cloud's price list](https://cloud.google.com/compute/all-pricing), and see [cost.md](cost.md). A dash means
that this catalogue has no price.
`

// TestAcceleratorsPage holds docs/accelerators.md to the catalogue.
func TestAcceleratorsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageOpening)
	writeFamilies(t, &b, "GPUs", api.GPU)
	writeFamilies(t, &b, "TPUs", api.TPU)
	writeShorthands(&b)
	page := filepath.Join("..", "..", "docs", "accelerators.md")
	golden.Check(t, page, b.String())
}

// TestSpellingsOfThePage reads back the spellings that the page's opening promises.
func TestSpellingsOfThePage(t *testing.T) {
	for spelling, want := range map[string]string{
		"tpu-v6e-8": "v6e-2x4", "gpu-l4": "l4", "v6e-2x4": "v6e-2x4", "a100:8": "a100x8", "l4x2:spot": "l4x2:spot",
	} {
		a, err := Parse(spelling, Options{})
		if err != nil {
			t.Error(err)
		} else if got := Text(a); got != want {
			t.Errorf("%s is %s, want %s", spelling, got, want)
		}
	}
}

func writeFamilies(t *testing.T, b *strings.Builder, title string, kind api.AcceleratorKind) {
	fmt.Fprintf(b, "\n## %s\n", title)
	for _, f := range builtin().families {
		if f.kind != kind {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n%s", f.name, about(f))
		if kind == api.GPU {
			writeHeader(b, "`-a`", "GPUs", "machine type", "vCPUs", "memory, GiB", "on demand", "spot")
		} else {
			writeHeader(b, "`-a`", "topology", "chips", "hosts", "machine type", "vCPUs of a host", "memory, GiB",
				"Google Cloud", "on demand", "spot")
		}
		for _, s := range f.shapes {
			writeShape(t, b, f, s)
		}
	}
}

func writeHeader(b *strings.Builder, columns ...string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

// about names what else is true of all shapes of a family.
func about(f *family) string {
	var sentences []string
	if names := f.shapes[0].names()[1:]; len(names) > 0 {
		sentences = append(sentences, "Also called `"+strings.Join(names, "`, `")+"`.")
	}
	noun := "chip"
	if f.kind == api.GPU {
		noun = "GPU"
	}
	sentences = append(sentences, fmt.Sprintf("A %s has %d GB of memory.", noun, f.shapes[0].memory))
	if standard := f.spell(f.standard.chips()); standard != f.name {
		sentences = append(sentences, fmt.Sprintf("`%s` alone means `%s`.", f.name, standard))
	}
	if f.shapes[0].arch == "arm64" {
		sentences = append(sentences, "Arm processors: an image of your own must be built for `linux/arm64`.")
	}
	if f.boxes != nil && f.boxes.cubes > 1 {
		sentences = append(sentences, fmt.Sprintf("Larger slices: every AxBxC of ascending multiples of 4, "+
			"up to %d chips, as in `%s-4x4x12`.", f.boxes.cubes*64, f.name))
	}
	if f.kind == api.TPU {
		sentences = append(sentences, aboutPathways(f))
	}
	var bases []string
	for _, s := range f.shapes {
		if basis := PriceBasis(s.accelerator(false)); basis != "" && !slices.Contains(bases, basis) {
			bases = append(bases, basis)
		}
	}
	if len(bases) == 1 {
		sentences = append(sentences, "Prices: "+bases[0]+".")
	} else if len(bases) > 1 {
		sentences = append(sentences, "Prices: "+strings.Join(bases, "; ")+" for several hosts.")
	}
	return strings.Join(sentences, " ") + "\n\n"
}

// aboutPathways says which shapes of a family the Pathways runtime takes.
func aboutPathways(f *family) string {
	var not []string
	for _, s := range f.shapes {
		if a := s.accelerator(false); PathwaysInstance(a) == "" {
			not = append(not, "`"+f.spell(a.Chips)+"`")
		}
	}
	switch len(not) {
	case 0:
		return "`--backend pathways` supports all of these shapes."
	case len(f.shapes):
		return "`--backend pathways` supports none of these shapes."
	}
	return "`--backend pathways` supports all of these shapes but " + strings.Join(not, ", ") + "."
}

func writeShape(t *testing.T, b *strings.Builder, f *family, s shape) {
	a := s.accelerator(false)
	cells := []string{"`" + f.spell(a.Chips) + "`"}
	if f.kind == api.GPU {
		cells = append(cells, fmt.Sprint(a.Chips))
	} else {
		if another, _ := f.withTopology(s.topology, false); another.hosts() != a.Hosts {
			cells[0] += " `--backend lws`"
			if PathwaysInstance(another.accelerator(false)) != "" {
				cells[0] += " or `pathways`"
			}
		}
		cells = append(cells, a.Topology, fmt.Sprint(a.Chips), fmt.Sprint(a.Hosts))
	}
	cells = append(cells, a.MachineType, spanText(s.vcpu), spanText(s.gib))
	if f.kind == api.TPU {
		cells = append(cells, googleName(a))
	}
	cells = append(cells, dollars(a), dollars(s.accelerator(true)))
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	read, err := Parse(f.spell(a.Chips), Options{})
	if err != nil || read.Chips != a.Chips || read.Topology != a.Topology {
		t.Errorf("%s is read as %+v, %v", f.spell(a.Chips), read, err)
	}
}

func spanText(s span) string {
	if s.least == s.most {
		return fmt.Sprint(s.least)
	}
	return fmt.Sprintf("%d–%d", s.least, s.most)
}

func dollars(a api.Accelerator) string {
	if a.PricePerHour == nil {
		return "–"
	}
	return fmt.Sprintf("$%.2f", *a.PricePerHour)
}

// writeShorthands lists what a request without a name means, by kind and number of chips.
func writeShorthands(b *strings.Builder) {
	b.WriteString("\n## Without a name\n\n")
	b.WriteString("`gpu` and `tpu` pick one for you. What they mean stays the same in later versions.\n\n")
	writeHeader(b, "`-a`", "means")
	var shorts []string
	for short := range builtin().shorthands {
		shorts = append(shorts, short)
	}
	chips := func(short string) (n int) {
		_, count, _ := strings.Cut(short, ":")
		_, _ = fmt.Sscan(count, &n)
		return n
	}
	slices.SortFunc(shorts, func(x, y string) int {
		return cmp.Or(strings.Compare(x[:3], y[:3]), cmp.Compare(chips(x), chips(y)))
	})
	for _, short := range shorts {
		fmt.Fprintf(b, "| `%s` | `%s` |\n", short, builtin().shorthands[short])
	}
}
