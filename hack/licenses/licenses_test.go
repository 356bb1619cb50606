package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

const isc = `Copyright (c) 2026 Somebody

Permission to use, copy, modify, and/or distribute this software for any purpose with or
without fee is hereby granted, provided that the above copyright notice and this
permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO
THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO
EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL
DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN
AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN
CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`

// refused returns a license that is not allowed, from the library's own list.
func refused(t *testing.T) string {
	t.Helper()
	for _, l := range licensecheck.BuiltinLicenses() {
		if l.ID == "MS-PL" && l.LRE != "" {
			return l.LRE
		}
	}
	t.Fatal("the library does not know MS-PL")
	return ""
}

func moduleOf(t *testing.T, files map[string]string, packages ...string) module {
	t.Helper()
	m := module{path: "example.com/m", version: "v1.2.3", dir: t.TempDir()}
	for name, content := range files {
		file := filepath.Join(m.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range packages {
		m.packages = append(m.packages, filepath.Join(m.dir, filepath.FromSlash(p)))
	}
	return m
}

func TestTexts(t *testing.T) {
	tests := map[string]struct {
		files    map[string]string
		packages []string
		want     []string
	}{
		"at the root":                 {map[string]string{"LICENSE": isc, "a/b/c.go": ""}, []string{"a/b"}, []string{"LICENSE"}},
		"other names":                 {map[string]string{"COPYING": isc, "licence.md": isc}, []string{"."}, []string{"COPYING", "licence.md"}},
		"beside a package":            {map[string]string{"LICENSE": isc, "a/LICENSE-ISC": isc, "a/b/c.go": ""}, []string{"a/b"}, []string{"LICENSE", "a/LICENSE-ISC"}},
		"of packages that are linked": {map[string]string{"LICENSE": isc, "a/LICENSE": isc, "b/LICENSE": isc}, []string{"b"}, []string{"LICENSE", "b/LICENSE"}},
		"each once":                   {map[string]string{"LICENSE": isc, "a/b/c.go": ""}, []string{".", "a", "a/b"}, []string{"LICENSE"}},
		"notices":                     {map[string]string{"LICENSE": isc, "NOTICE.txt": "x", "PATENTS": "y"}, []string{"."}, []string{"LICENSE", "NOTICE.txt", "PATENTS"}},
		"not that of documentation":   {map[string]string{"LICENSE": isc, "LICENSE.docs": "CC-BY"}, []string{"."}, []string{"LICENSE"}},
		"no programs, no directories": {map[string]string{"LICENSE": isc, "license.go": "x", "licenses/a": "x"}, []string{"."}, []string{"LICENSE"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := moduleOf(t, tc.files, tc.packages...).texts()
			var got []string
			for _, f := range found {
				got = append(got, f.name)
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestTextsRejects(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"no license":        {map[string]string{"a/b.go": ""}, "example.com/m v1.2.3 has no license file in "},
		"only below":        {map[string]string{"a/LICENSE": isc}, "has no license file in "},
		"only a notice":     {map[string]string{"NOTICE": "x", "a/b.go": ""}, "has no license file in "},
		"not allowed":       {map[string]string{"LICENSE": refused(t), "a/b.go": ""}, "example.com/m v1.2.3, LICENSE: it has the license MS-PL, which is not in the list"},
		"one of two":        {map[string]string{"LICENSE": isc, "a/COPYING": refused(t)}, "a/COPYING: it has the license MS-PL"},
		"both in one file":  {map[string]string{"LICENSE": isc + refused(t), "a/b.go": ""}, "MS-PL"},
		"unknown text":      {map[string]string{"LICENSE": "Ask me.", "a/b.go": ""}, "only 0 % of it is the text of a known license"},
		"more text than it": {map[string]string{"LICENSE": isc + strings.Repeat("but not on Mondays ", 50), "a/b.go": ""}, "% of it is the text of a known license"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := moduleOf(t, tc.files, "a").texts(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestLinkedRejects(t *testing.T) {
	for want, platforms := range map[string][]string{"no platforms given": nil, `platform "linux": expected GOOS/GOARCH`: {"linux"}} {
		if _, err := linked("", platforms); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestNoticesHaveEachTextOnce(t *testing.T) {
	a, b := module{path: "example.com/a", version: "v1.0.0"}, module{path: "example.com/b", version: "v2.0.0"}
	got := string(notices([]text{
		{module: a, name: "NOTICE", content: "A's notice\n"},
		{module: a, name: "LICENSE", kinds: []string{"ISC"}, content: "the text"},
		{module: b, name: "LICENSE", kinds: []string{"ISC"}, content: "\nthe text\n"},
	}))
	want := `Kinetic for kubectl is under the Apache License 2.0: see LICENSE.
Its binaries contain the work of others, under the licenses below.

` + rule + `example.com/a v1.0.0, LICENSE (ISC)
example.com/b v2.0.0, LICENSE (ISC)
` + rule + `
the text

` + rule + `example.com/a v1.0.0, NOTICE
` + rule + `
A's notice
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
