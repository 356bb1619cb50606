package deps

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// scriptTable is the metadata in a script (PEP 723).
type scriptTable struct {
	Dependencies   []string
	RequiresPython string `toml:"requires-python"`
	Tool           struct{ UV uvTable }
}

// script reads the metadata of a script. Without any the kind is None.
func (r *reader) script(path string) error {
	name := r.name(path)
	text, err := readText(path, name)
	if err != nil {
		return err
	}
	block, first, err := scriptBlock(string(text), name)
	if err != nil {
		return err
	}
	if first == 0 {
		r.wanted.Kind = None
		if n := beginOf(string(text)); n > 0 { // PEP 723 ignores it
			r.warn(fmt.Sprintf("%s: the metadata is ignored, because it has no end: a line \"# ///\" after lines that begin with \"# \"", place(name, n)))
		}
		return nil
	}
	if err := r.unused(name + " has none: only pyproject.toml and lock files do"); err != nil {
		return err
	}
	var s scriptTable
	if err := Decode([]byte(strings.Repeat("\n", first)+block), name, &s); err != nil {
		return err
	}
	r.wanted.RequiresPython = s.RequiresPython
	t := table{reader: r, name: name, dir: filepath.Dir(path), text: text}
	t.origins = []origins{{uvSources, s.Tool.UV.Sources, true}}
	if err := t.add(s.Dependencies); err != nil {
		return err
	}
	c := uvConfig{s.Tool.UV, t.dir, name}
	r.settings(c)
	if lock := path + ".lock"; len(s.Dependencies) > 0 && r.File == "" && platform.IsFile(lock) {
		r.warnUnread(r.name(lock), r.because(), fmt.Sprintf("for its versions, run uv export --script %s -o FILE, and add --requirements FILE", name))
	}
	return r.limits(c)
}

// scriptForm is the form of the metadata: comments between two marks. The last mark in a row of
// comments ends it.
const scriptForm = `(?m)^# /// script$\n((?:^#(?:| .*)$\n)*)^# ///$`

// beginOf returns the number of the line with which metadata begins, 0 if there is none.
func beginOf(text string) int {
	return slices.Index(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "# /// script") + 1
}

// scriptBlock returns the metadata of a script and the number of the line before it, 0 if there
// is none.
func scriptBlock(text, name string) (block string, number int, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	found := lazyregexp.Of(scriptForm).FindAllStringSubmatchIndex(text, 2)
	switch len(found) {
	case 0:
		return "", 0, nil
	case 2:
		return "", 0, fmt.Errorf("%s: the script has metadata twice", place(name, 1+strings.Count(text[:found[1][0]], "\n")))
	}
	at := found[0]
	var content strings.Builder
	for line := range strings.Lines(text[at[2]:at[3]]) {
		content.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
	}
	return content.String(), 1 + strings.Count(text[:at[0]], "\n"), nil
}
