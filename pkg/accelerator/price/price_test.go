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
		if usd, basis, known := (Table{}).Of(item, "europe-west4", false); !known || usd <= 0 || basis == "" {
			t.Errorf("%s: %v, %q, %v", item, usd, basis, known)
		}
	}
	if _, _, known := (Table{}).Of("nothing", "us-central1", false); known {
		t.Error("nothing has a price")
	}
	own, _ := table(t, "cluster-hour 0 - * 2026\n")
	if usd, basis, known := own.Of(ClusterHour, "us-central1", false); !known || usd != 0 {
		t.Errorf("a free cluster: %v, %q, %v", usd, basis, known)
	}
}

func TestRejects(t *testing.T) {
	for text, want := range map[string]string{
		"v6e 1 - us-central1\n":                   "prices.txt:1: it has 4 columns: expected 5: item, usd, spot, region, as-of; see docs/cost.md for the format",
		"# x\n\nV6e 1 - * 2026\n":                 `:3: "V6e" is not an item`,
		"v6e cheap - * 2026\n":                    `:1: "cheap" is not a price: expected dollars such as 2.70, or - for none`,
		"v6e -1 - * 2026\n":                       `"-1" is not a price`,
		"v6e nan - * 2026\n":                      `"nan" is not a price`,
		"v6e 1e9 - * 2026\n":                      `"1e9" is not a price`,
		"v6e 1 $2 * 2026\n":                       `"$2" is not a price`,
		"v6ee 1 - * 2026\n":                       `:1: "v6ee" is not an item: expected a TPU such as v6e (the price of a chip), a machine type such as g2-standard-4, or cluster-hour, nat-hour`,
		"cluster-hours 1 - * 2026\n":              `:1: "cluster-hours" is not an item`,
		"coffee 1 - * 2026\n":                     `:1: "coffee" is not an item`,
		"v6e-8 1 - * 2026\n":                      `:1: "v6e-8" is not an item`,
		"l4 1 - * 2026\n":                         `:1: "l4" is not an item`,
		"v6e 1 - us-central1-a 2026\n":            `"us-central1-a" is not a region`,
		"v5e 1 - * 2026\nv6e - ? * 2026\nx y z\n": `:2: "?" is not a price`, // the first mistake
	} {
		path := filepath.Join(t.TempDir(), "prices.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		prices, err := Read(func(string) string { return path })
		if usd, _, _ := prices.Accelerator(shape(t, "v6e-8"), ""); usd != 21.6 {
			t.Errorf("%q: v6e-8 costs %v, which is not the built-in price", text, usd)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "KINETIC_PRICES: "+path+":") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	// Machine types that the catalogue lacks are no mistakes.
	table(t, "n2-standard-96 1 - * 2026\ne2-medium 1 - * 2026\na9-highgpu-8g 1 - * 2026\nn2-custom-4-8192 1 - * 2026\n")
	if _, err := Read(func(string) string { return "/nowhere/prices" }); err == nil || err.Error() != "KINETIC_PRICES: reading the prices: open /nowhere/prices: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("v6e 1 - * 2026\n")
	f.Add("\ufeff# x\r\ncluster-hour 0.1 0.2 us-central1 2026-08-01\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines, _ := parse(text)
		for k, l := range lines {
			if k.item == "" || k.region == "" {
				t.Errorf("%+v: %+v", k, l)
			}
		}
	})
}
