package accelerator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// atMost is how many valid values a message offers at most.
const atMost = 4

// nameAndCount splits a text with a wrong separator, or with none, between a name and a
// count or topology.
const nameAndCount = `^(.+?)(?:[^0-9a-z]|x)?([0-9]+(?:x[0-9]+)*)$`

// explain says what is wrong with a request in none of the known forms.
func (c *catalogue) explain(r request) error {
	name, count := r.body, ""
	if parts := lazyregexp.Of(nameAndCount).FindStringSubmatch(r.body); parts != nil {
		name, count = parts[1], parts[2]
	}
	if name == "v2" || r.body == "v2" {
		return errors.New("GKE has no nodes with TPU v2; the nearest are v3-4 and v5e-4")
	}
	f := c.byName[r.body]
	if f == nil {
		f = c.byName[name]
	}
	if f != nil && !r.allows(f.kind) {
		return c.wrongKind(f, r)
	}
	if f != nil && count != "" {
		if err := c.wrongSeparator(f, count); err != nil {
			return err
		}
	}
	return c.unknown(r, name)
}

func (c *catalogue) wrongKind(f *family, r request) error {
	right := request{body: r.body}
	if _, err := c.lookup(right); err != nil {
		right.body = f.name
	}
	return fmt.Errorf("%s is a %s; write %s-%s", f.name, strings.ToUpper(string(f.kind)), f.kind, right.body)
}

// wrongSeparator returns the error for l4-4, v5e:4 and v5ex4, nil if another separator
// would not fix it.
func (c *catalogue) wrongSeparator(f *family, count string) error {
	right, what := request{body: f.name + "-" + count}, "the chips or the topology of a TPU"
	if f.kind == api.GPU {
		right, what = request{body: f.name + "x" + count}, "the number of GPUs"
	}
	if _, err := c.lookup(right); err != nil {
		return nil
	}
	return fmt.Errorf("for %s, write %s", what, right.body)
}

// wrongSuffix returns the error for l4:sopt and l4:preemptible, nil if the text does not end with a word after an
// accelerator.
func (c *catalogue) wrongSuffix(r request) error {
	i := strings.LastIndex(r.body, ":")
	word := r.body[i+1:]
	if i < 0 || word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	right := request{kind: r.kind, body: r.body[:i]}
	if _, err := c.resolve(right); err != nil && !right.isCPU() {
		return nil
	}
	name := right.body
	if r.kind != "" {
		name = string(r.kind) + "-" + name
	}
	return fmt.Errorf("%q is not valid after the colon; write %s%s for spot capacity, or %[2]s without it", word, name, spotSuffix)
}

func (c *catalogue) unknown(r request, name string) error {
	var names []string
	for n, f := range c.byName {
		if r.allows(f.kind) {
			names = append(names, n)
		}
	}
	what := "accelerator"
	if r.kind == "" {
		names = append(names, string(api.CPU))
	} else {
		what = strings.ToUpper(string(r.kind))
	}
	for _, word := range []string{r.body, name} {
		if near := human.DidYouMean(word, names); near != "" {
			return fmt.Errorf("there is no %s %q; %s", what, r.body, near)
		}
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, r.body, strings.Join(c.namesFor(r), ", "))
}

// namesFor lists the canonical names that fit the prefix of a request.
func (c *catalogue) namesFor(r request) []string {
	var names []string
	if r.kind == "" {
		names = append(names, string(api.CPU))
	}
	for _, f := range c.families {
		if r.allows(f.kind) {
			names = append(names, f.name)
		}
	}
	return names
}

// noBareCount returns the error for a number without a name that shorthands.txt does not
// have.
func (c *catalogue) noBareCount(r request, n int) error {
	var counts []int
	for text := range c.shorthands {
		kind, count, _ := strings.Cut(text, ":")
		if m, ok := number(count); ok && r.allows(api.AcceleratorKind(kind)) {
			counts = append(counts, m)
		}
	}
	prefix := ""
	if r.kind != "" {
		prefix = string(r.kind) + "-"
	}
	var near []string
	for _, m := range nearestNumbers(n, counts) {
		full, _ := c.bareCount(r, m)
		near = append(near, fmt.Sprintf("%s%d (%s)", prefix, m, full))
	}
	return fmt.Errorf("%s alone is not an accelerator; nearest: %s", r.body, strings.Join(near, ", "))
}

// noCount returns an error with the nearest counts of the family, and a hint if the user
// may have counted cores, as Cloud TPU does.
func (f *family) noCount(n int) error {
	var counts []int
	for _, s := range f.shapes {
		counts = append(counts, s.chips())
	}
	var near []string
	for _, m := range nearestNumbers(n, counts) {
		near = append(near, f.spell(m))
	}
	message := fmt.Sprintf("%s has no slice of that many chips", f.name)
	if f.kind == api.GPU {
		message = fmt.Sprintf("%s has no machine with that many GPUs", f.name)
	}
	message += "; nearest: " + strings.Join(near, ", ")
	if f.boxes != nil {
		if box := largeBox(n, f.boxes.cubes); box != nil {
			message += fmt.Sprintf(", or by its topology %s-%s", f.name, box)
		}
	}
	return errors.New(message + f.coresHint(n, counts))
}

func (f *family) coresHint(n int, counts []int) string {
	switch {
	case f.cores == 1:
		return ""
	case n%f.cores == 0 && slices.Contains(counts, n/f.cores):
		return fmt.Sprintf("; Cloud TPU's %s counts cores: here it is %s", f.spell(n), f.spell(n/f.cores))
	default:
		return "; numbers here are chips, not cores as in Cloud TPU's names"
	}
}

// noTopology returns an error with the same extents in the order that GKE uses, if it has
// such a topology, and the shapes with about as many chips.
func (f *family) noTopology(t topology, text string) error {
	ascending := slices.Sorted(slices.Values(t))
	var near []string
	if _, ok := f.withTopology(ascending, false); ok {
		near = append(near, topology(ascending).String())
	}
	byNearness := slices.Clone(f.shapes)
	slices.SortStableFunc(byNearness, func(a, b shape) int {
		return cmp.Compare(apart(a.chips(), t.chips()), apart(b.chips(), t.chips()))
	})
	for _, s := range byNearness {
		if known := s.topology.String(); len(near) < atMost && !slices.Contains(near, known) {
			near = append(near, known)
		}
	}
	message := fmt.Sprintf("%s has no topology %s; nearest: %s", f.name, text, strings.Join(near, ", "))
	if f.boxes != nil && t.chips() > cube {
		message += fmt.Sprintf("; above 4x4x4, all dimensions are multiples of 4 in ascending order, with at most %d chips in total", f.boxes.cubes*cube)
	}
	return errors.New(message)
}

// nearestNumbers lists the numbers nearest to n, in ascending order, each once.
func nearestNumbers(n int, numbers []int) []int {
	near := slices.Compact(slices.Sorted(slices.Values(numbers)))
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(apart(a, n), apart(b, n)) })
	near = near[:min(atMost, len(near))]
	slices.Sort(near)
	return near
}

// apart returns the distance of two counts as a ratio: 2 and 4 are as far apart as 4 and 8.
func apart(a, b int) float64 {
	return math.Abs(math.Log2(float64(max(a, 1))) - math.Log2(float64(max(b, 1))))
}
