package accelerator

import (
	"strings"
	"testing"
)

func TestNewCatalogueRejects(t *testing.T) {
	const good = "v6e tpu - tpu-v6e-slice ct6e-standard-4t amd64 4 1 - 180 720 32 - 2.70 0.57 us-central1 2026 2x2*,4x4\n"
	change := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the line", old)
		}
		return "# a comment\n\n" + strings.Replace(good, old, with, 1)
	}
	tests := map[string]struct{ machines, shorthands, want string }{
		"a missing column":        {change(" amd64", ""), "", "catalogue.txt: line 3 has 17 columns, not 18"},
		"an unknown kind":         {change(" tpu ", " npu "), "", `catalogue.txt: line 3: kind is "npu", neither gpu nor tpu`},
		"chips that are no count": {change(" 4 1 ", " four 1 "), "", `catalogue.txt: line 3: "four" is not a number`},
		"no chips":                {change(" 4 1 ", " - 1 "), "", "catalogue.txt: line 3: a host of v6e has no chips or no cores"},
		"no cores":                {change(" 4 1 ", " 4 0 "), "", "catalogue.txt: line 3: a host of v6e has no chips or no cores"},
		"no processors":           {change(" 180 ", " - "), "", "catalogue.txt: line 3: a host of v6e has no processors or no memory"},
		"memory that is none":     {change(" 720 ", " much "), "", `catalogue.txt: line 3: "much" is neither a number nor a range such as 1-4`},
		"a span of less":          {change(" 720 ", " 720-64 "), "", `catalogue.txt: line 3: "720-64" is neither a number nor a range such as 1-4`},
		"a chip without memory":   {change(" 32 ", " - "), "", "catalogue.txt: line 3: a chip of v6e has no memory"},
		"a GPU's network":         {change(" 32 - ", " 32 rdma "), "", `catalogue.txt: line 3: tpu has no network "rdma"`},
		"a price that is none":    {change("2.70", "cheap"), "", `catalogue.txt: line 3: "cheap" is not a price`},
		"a price below nothing":   {change("0.57", "-0.57"), "", `catalogue.txt: line 3: "-0.57" is not a price`},
		"a price that is NaN":     {change("0.57", "nan"), "", `catalogue.txt: line 3: "nan" is not a price`},
		"a price without region":  {change("us-central1", "-"), "", "catalogue.txt: line 3: a price of v6e has no region or no date"},
		"a price without date":    {change(" 2026 ", " - "), "", "catalogue.txt: line 3: a price of v6e has no region or no date"},
		"no shape":                {change("2x2*,4x4", "-"), "", "catalogue.txt: line 3: v6e has no shape"},
		"a broken shape":          {change("4x4", "4x"), "", `catalogue.txt: line 3: "4x" is not a topology`},
		"a flat shape":            {change("4x4", "0x4"), "", "catalogue.txt: line 3: 0x4 can't be divided into hosts of 4 chips"},
		"half a host":             {change("4x4", "2x3"), "", "catalogue.txt: line 3: 2x3 can't be divided into hosts of 4 chips"},
		"a GPU on two hosts":      {change(" tpu ", " gpu "), "", "catalogue.txt: line 3: 4x4 can't be divided into hosts of 4 chips"},
		"no standard shape":       {change("*", ""), "", "catalogue.txt: no shape of v6e is marked with *"},
		"two standard shapes":     {good + good, "", "catalogue.txt: two shapes of v6e are marked with *"},
		"an alias of two":         {good + strings.Replace(good, "v6e tpu -", "v7e tpu v6e", 1), "", "catalogue.txt: v6e is both v6e and v7e"},
		"half a shorthand":        {good, "tpu\n", "shorthands.txt: line 1 has 1 columns, not 2"},
		"a shorthand twice":       {good, "tpu v6e\ntpu v6e\n", "shorthands.txt: line 2: tpu is listed twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newCatalogue(tt.machines, tt.shorthands)
			if err == nil {
				t.Fatal("no error")
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := newCatalogue(good, "tpu v6e\n"); err != nil {
		t.Errorf("the line that the others are made of: %v", err)
	}
}

// TestOneLineIsEnough adds an accelerator the way that catalogue.txt promises.
func TestOneLineIsEnough(t *testing.T) {
	line := "x900 gpu x900-96gb nvidia-x900 a9-highgpu-8g amd64 8 1 - 96 680 96 rdma - - - - 8*\n"
	c, err := newCatalogue(catalogueText+line, shorthandsText)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"x900", "x900x8", "gpu-x900-96gb", "nvidia-x900:spot"} {
		r, err := readRequest(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.resolve(r)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s.name != "x900" || s.chips() != 8 {
			t.Errorf("%s is %s with %d chips", text, s.name, s.chips())
		}
	}
}
