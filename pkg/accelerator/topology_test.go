package accelerator

import (
	"testing"
)

func TestIsLargeBox(t *testing.T) {
	tests := map[string]struct {
		text  string
		cubes int
		want  bool
	}{
		"one cube":               {"4x4x4", 64, true},
		"ascending":              {"4x4x12", 140, true},
		"at the limit of v4":     {"16x16x16", 64, true},
		"at the limit of v5p":    {"4x4x560", 140, true},
		"one cube above":         {"4x4x564", 140, false},
		"at the limit of tpu7x":  {"4x4x576", 144, true},
		"descending":             {"12x4x4", 140, false},
		"no multiple of 4":       {"4x4x6", 140, false},
		"below a cube":           {"2x4x8", 140, false},
		"two extents":            {"8x8", 140, false},
		"four extents":           {"4x4x4x4", 140, false},
		"nothing":                {"0x0x0", 140, false},
		"more than can be added": {"99999x99999x99999", 144, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dims, ok := parseTopology(tt.text)
			if !ok {
				t.Fatalf("%q is not read", tt.text)
			}
			if got := dims.isLargeBox(tt.cubes); got != tt.want {
				t.Errorf("%s of at most %d cubes: %v, want %v", tt.text, tt.cubes, got, tt.want)
			}
		})
	}
}

func TestChipsDoNotOverflow(t *testing.T) {
	dims, ok := parseTopology("99999x99999x99999x99999x99999x99999")
	if !ok {
		t.Fatal("not read")
	}
	if got := dims.chips(); got != tooMany {
		t.Errorf("%d chips, want %d", got, tooMany)
	}
}

func TestLargeBox(t *testing.T) {
	tests := map[string]struct {
		chips, cubes int
		want         string
	}{
		"three cubes":             {192, 140, "4x4x12"},
		"twelve cubes, compactly": {768, 140, "8x8x12"},
		"96 cubes":                {6144, 140, "16x16x24"},
		"all cubes":               {8960, 140, "16x20x28"},
		"too many":                {9024, 140, ""},
		"half a cube":             {96, 140, ""},
		"nothing":                 {0, 140, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := largeBox(tt.chips, tt.cubes)
			if got.String() != tt.want {
				t.Errorf("%d chips: %s, want %s", tt.chips, got, tt.want)
			}
			if got != nil && (!got.isLargeBox(tt.cubes) || got.chips() != tt.chips) {
				t.Errorf("%s is no box of %d chips", got, tt.chips)
			}
		})
	}
}
