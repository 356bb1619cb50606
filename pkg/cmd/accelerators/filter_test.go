package accelerators

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
)

// filtered lists what some words leave.
func filtered(t *testing.T, words ...string) []string {
	t.Helper()
	f, err := newFilter(words)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, known := range accelerator.Offers() {
		if o := newOffer(known, price.Table{}, "us-central1", f.spot); len(f.without(-1, []offer{o})) == 1 {
			all = append(all, o.text())
		}
	}
	return all
}

func TestFilters(t *testing.T) {
	tests := map[string][]string{
		"h100":               {"h100", "h100x2", "h100x4", "h100x8"},
		"nvidia-h100-80gb":   {"h100", "h100x2", "h100x4", "h100x8"},
		"H100 >=4":           {"h100x4", "h100x8"},
		"h100 4+":            {"h100x4", "h100x8"},
		"h100 >2":            {"h100x4", "h100x8"},
		"h100 <=2":           {"h100", "h100x2"},
		"h100 <2":            {"h100"},
		"h100 2":             {"h100x2"},
		"h100 =2gpus":        {"h100x2"},
		"h100 spot <=9/h":    {"h100:spot", "h100x2:spot"},
		"h100 <=$20/h":       {"h100"},
		"l4 <=$2":            {"l4", "l4x2"},
		"v100 <=$2":          nil, // not two chips
		"v100 $2":            nil,
		"v100 $2.86":         {"v100"},
		"h100 $44+":          {"h100x4", "h100x8"},
		"tpu7x <=$100":       nil, // without a price
		"l4 t4 1":            {"l4", "t4"},
		"gpu 16+":            {"a100x16"},
		"gpu >=186gb":        {"gb200x4", "gb300x4"},
		"v5litepod 1host 4+": {"v5e-4", "v5e-8"},
		"v6e 8":              {"v6e-8", "v6e-8 --backend lws"},
		"v6e-8 l4x2:spot":    {"l4x2:spot", "v6e-8:spot", "v6e-8:spot --backend lws"},
		"tpu7x <=100/h":      nil, // without a price
		"tpu gpu 1 >=95gb":   {"rtx-pro-6000", "tpu7x-1"},
	}
	for words, want := range tests {
		t.Run(words, func(t *testing.T) {
			if diff := cmp.Diff(want, filtered(t, strings.Fields(words)...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := filtered(t); len(got) != len(accelerator.Offers()) {
		t.Errorf("%d of %d without a filter", len(got), len(accelerator.Offers()))
	}
}

func TestUnknownFilters(t *testing.T) {
	for word, want := range map[string]string{
		"tpuu":        `filter "tpuu": did you mean "tpu"`,
		"spott":       `filter "spott": did you mean "spot"?`,
		"cheap":       `filter "cheap": expected gpu, tpu, spot, a name`,
		">=4x":        `filter ">=4x": expected`,
		">=4+":        `filter ">=4+": expected`,
		"$80gb":       `filter "$80gb": expected`,
		"$2gpus":      `filter "$2gpus": expected`,
		"cpu":         `filter "cpu": did you mean "gpu"`,
		"v6e-9":       `filter "v6e-9": v6e has no slice of that many chips; nearest: v6e-4, v6e-8, v6e-16, v6e-32`,
		"v6e-3x3":     `filter "v6e-3x3": v6e has no topology 3x3; nearest: `,
		"v5litepod-9": `filter "v5litepod-9": v5e has no slice of that many chips; nearest: `,
		"l4x3":        `filter "l4x3": l4 has no machine with that many GPUs; nearest: l4, l4x2, l4x4, l4x8`,
		"l4:3":        `filter "l4:3": l4 has no machine with that many GPUs; nearest: `,
		"":            `filter "": expected`,
	} {
		if _, err := newFilter([]string{word}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", word, err, want)
		}
	}
}

// A word that leaves nothing is named, with what is nearest.
func TestUselessFilters(t *testing.T) {
	for words, want := range map[string][]string{
		"":                nil,
		"h100 l4 4+":      nil,
		"gpu spot":        nil,
		"h100 l4 16+":     {`filter "16+": 8 accelerators fit without it; the nearest is l4x8 with 8 chips`, `filter "h100": no accelerator matches this and the other filters`, `filter "l4": no accelerator matches this and the other filters`},
		"l4 v6e >=16":     {`filter "l4": no accelerator matches this and the other filters`},
		">=1000gb":        {`filter ">=1000gb": no accelerator has that; the nearest is gb300x4 with 279 GB a chip`},
		"7":               {`filter "7": no accelerator has that; the nearest is l4x8 with 8 chips`},
		"tpu h100":        {`filter "tpu": 4 accelerators fit without it`, `filter "h100": `},
		"H100 <=1/h":      {`filter "<=1/h": 4 accelerators fit without it; the nearest is h100 with $11.06 an hour`, `filter "H100": `},
		"b200 <=1/h":      {`filter "<=1/h": 1 accelerator fits without it, and none has a known price`, `filter "b200": `},
		"tpu 1host 33+":   {`filter "1host": `, `filter "33+": `},
		"h200 >=30 <=1/h": {"use fewer filters"},
	} {
		t.Run(words, func(t *testing.T) {
			f, err := newFilter(strings.Fields(words))
			if err != nil {
				t.Fatal(err)
			}
			var all []offer
			for _, known := range accelerator.Offers() {
				all = append(all, newOffer(known, price.Table{}, "us-central1", f.spot))
			}
			got := f.useless(all, f.without(-1, all))
			same := slices.EqualFunc(got, want, func(g, w string) bool { return g == w || strings.HasSuffix(w, ": ") && strings.HasPrefix(g, w) })
			if !same {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
