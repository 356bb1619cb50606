package main

import "testing"

func TestVersionsOfWheels(t *testing.T) {
	for version, want := range map[string]string{
		"0.1.0":                         "0.1.0",
		"10.20.30":                      "10.20.30",
		"0.1.0-rc.1":                    "0.1.0rc1",
		"0.1.0-beta2":                   "0.1.0b2",
		"0.0.1-snapshot-92daa185":       "0.0.1.dev0+92daa185",
		"0.0.1-snapshot-92daa185-dirty": "0.0.1.dev0+92daa185.dirty",
	} {
		if got, err := pythonVersion(version); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", version, got, err, want)
		}
	}
	for _, version := range []string{"", "1", "v0.1.0", "0.1.0-nightly", "0.1.0+meta"} {
		if got, err := pythonVersion(version); err == nil {
			t.Errorf("%q became %q, want an error", version, got)
		}
	}
}
