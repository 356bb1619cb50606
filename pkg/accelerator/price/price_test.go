package price

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// table reads a file of the user's.
func table(t *testing.T, text string) (Table, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := Read(func(string) string { return path })
	if err != nil {
		t.Fatal(err)
	}
	return prices, path
}

func shape(t *testing.T, text string) api.Accelerator {
	t.Helper()
	a, err := accelerator.Parse(text, accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAccelerator(t *testing.T) {
	own, path := table(t, "# ours\nv6e 1.50 - us-central1 2026-09\na3-highgpu-8g 50 20 * 2026-10-01\ntpu7x 9 - * 2027\n")
	tests := map[string]struct {
		table       Table
		accelerator string
		region      string
		usd         float64
		basis       string
	}{
		"the catalogue":             {Table{}, "v6e-8", "", 21.6, "us-central1, 2026"},
		"the catalogue's region":    {Table{}, "v6e-8", "us-central1", 21.6, "us-central1, 2026"},
		"another region":            {Table{}, "v6e-8", "europe-west4", 23.76, "europe-west4, 2026"},
		"spot there":                {Table{}, "v6e-8:spot", "asia-southeast1", 3.2, "asia-southeast1, 2026"},
		"a region without prices":   {Table{}, "v6e-8", "me-west1", 21.6, "us-central1, 2026"},
		"several hosts":             {Table{}, "v6e-16", "us-east5", 43.2, "us-east5, 2026"},
		"a GPU":                     {Table{}, "l4x2:spot", "us-central1", 0.79, "us-central1, 2025-03"},
		"the user's":                {own, "v6e-8", "us-central1", 12, "us-central1, 2026-09, " + path},
		"the user has none of spot": {own, "v6e-8:spot", "us-central1", 4.56, "us-central1, 2026"},
		"the user's, everywhere":    {own, "h100x8:spot", "us-west1", 20, "2026-10-01, " + path},
		"only the user's":           {own, "tpu7x-4", "", 36, "2027, " + path},
		"none":                      {Table{}, "tpu7x-4", "us-central1", 0, ""},
		"cpu":                       {own, "cpu", "us-central1", 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			usd, basis, known := tt.table.Accelerator(shape(t, tt.accelerator), tt.region)
			if known != (tt.basis != "") || usd != tt.usd || basis != tt.basis {
				t.Errorf("got %v, %q, %v", usd, basis, known)
			}
		})
	}
}

func TestOf(t *testing.T) {
	for _, item := range []string{ClusterHour, NATHour, AddressHour, DiskGBMonth, BucketGBMonth, "e2-standard-4"} {
		if usd, basis, known := (Table{}).Of(item, "europe-west4"); !known || usd <= 0 || basis == "" {
			t.Errorf("%s: %v, %q, %v", item, usd, basis, known)
		}
	}
	if _, _, known := (Table{}).Of("nothing", "us-central1"); known {
		t.Error("nothing has a price")
	}
	own, _ := table(t, "cluster-hour 0 - * 2026\n")
	if usd, basis, known := own.Of(ClusterHour, "us-central1"); !known || usd != 0 {
		t.Errorf("a free cluster: %v, %q, %v", usd, basis, known)
	}
}

func TestRejects(t *testing.T) {
	for text, want := range map[string]string{
		"v6e 1 - us-central1\n":                          "prices.txt:1: it has 4 columns, not 5: item, usd, spot, region, as-of",
		"# x\n\nV6e 1 - * 2026\n":                        `:3: "V6e" is not an item`,
		"v6e cheap - * 2026\n":                           `:1: "cheap" is not a price: expected dollars such as 2.70, or - for none`,
		"v6e -1 - * 2026\n":                              `"-1" is not a price`,
		"v6e nan - * 2026\n":                             `"nan" is not a price`,
		"v6e 1e9 - * 2026\n":                             `"1e9" is not a price`,
		"v6e 1 $2 * 2026\n":                              `"$2" is not a price`,
		"v6e - - * 2026\n":                               "v6e has no price",
		"v6ee 1 - * 2026\n":                              `:1: "v6ee" is not an item: did you mean "v6e"?`,
		"cluster-hours 1 - * 2026\n":                     `:1: "cluster-hours" is not an item: did you mean "cluster-hour"`,
		"coffee 1 - * 2026\n":                            `:1: "coffee" is not an item: expected a TPU such as v6e, a machine type`,
		"v6e-8 1 - * 2026\n":                             `:1: "v6e-8" is not an item: the price of a TPU is that of a chip: write v6e`,
		"l4 1 - * 2026\n":                                `:1: "l4" is not an item: the price of a GPU is that of its machine: write g2-standard-4`,
		"ct6e-standard-8t 1 - * 2026\n":                  `:1: "ct6e-standard-8t" is a machine with TPUs, whose price is that of a chip: write v6e`,
		"v6e 1 - * 2026-13\n":                            `"2026-13" is not a date`,
		"v6e 1 - us-central1-a 2026\n":                   `"us-central1-a" is not a region`,
		"v6e 1 - * August\n":                             `"August" is not a date`,
		"v6e 1 - * 2026\nv5e 1 - * 2026\nv6e 2 - * 2026": ":3: v6e in * is listed twice",
	} {
		path := filepath.Join(t.TempDir(), "prices.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(func(string) string { return path })
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "KINETIC_PRICES: "+path+":") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	// Machine types that the catalogue lacks are no mistakes.
	table(t, "n2-standard-96 1 - * 2026\ne2-medium 1 - * 2026\na9-highgpu-8g 1 - * 2026\nn2-custom-4-8192 1 - * 2026\n")
	if _, err := Read(func(string) string { return "/nowhere/prices" }); err == nil || err.Error() != "KINETIC_PRICES=/nowhere/prices: reading the prices: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

// Other commands use the lines that are right.
func TestLenient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.txt")
	if err := os.WriteFile(path, []byte("v6ee 1 - * 2026\nv6e 1 - * 2026\nv5e free - * 2026\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, mistakes := Lenient(func(string) string { return path })
	if usd, _, _ := own.Accelerator(shape(t, "v6e-8"), ""); usd != 8 || len(mistakes) != 2 {
		t.Fatalf("got %v, %v", usd, mistakes)
	}
	for i, mistake := range mistakes {
		if last := i == len(mistakes)-1; strings.HasSuffix(mistake.Error(), "; see docs/cost.md for the format") != last {
			t.Errorf("the page is not named once, and last: %v", mistake)
		}
	}
	_, err := Read(func(string) string { return path })
	if err == nil || !strings.Contains(err.Error(), path+":1: ") || !strings.Contains(err.Error(), path+":3: ") {
		t.Errorf("got %v", err)
	}
}

func TestManyMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(path, []byte(strings.Repeat("}\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, mistakes := Lenient(func(string) string { return path }); len(mistakes) != 6 || !strings.HasSuffix(mistakes[5].Error(), ": 95 more mistakes; see docs/cost.md for the format") {
		t.Errorf("got %v", mistakes)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("v6e 1 - * 2026\n")
	f.Add("\ufeff# x\r\ncluster-hour 0.1 0.2 us-central1 2026-08-01\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines, _ := parse(text)
		for k, l := range lines {
			if k.item == "" || k.region == "" || l.usd == nil && l.spot == nil {
				t.Errorf("%+v: %+v", k, l)
			}
		}
	})
}
