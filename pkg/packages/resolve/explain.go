package resolve

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// What the tools say. Two things decide who installs the packages, and are read: that a package has no wheel that
// fits, and that requirements conflict. Of all else, the tool's last lines are shown.
const (
	pipMissing = `(?m)^ERROR: No matching distribution found for (.+?)(?: \(from .*)?$`
	uvMissing  = "Wheels are required for `([^`]+)`|([A-Za-z0-9][\\w.-]*?)(?:[=<>!~]=?[^\\s]+)? ha(?:s|ve) no (?:\\S+ )?wheels"
	uvAbsent   = `([A-Za-z0-9][\w.-]*) was not found in|there (?:is|are) no versions? of ([A-Za-z0-9][\w.-]*)`
	conflict   = `ResolutionImpossible|conflicting dependencies|No solution found|requirements are unsatisfiable`
	// collecting is what pip was doing.
	collecting = `(?m)^\s*(?:Collecting|Processing) (\S+)`
)

func (j *job) explain(ctx context.Context, output string, failed error) error {
	by, said := j.tool.way(), important(output)
	if strings.Contains(output, refused) {
		p := deps.Package{Name: "a package", Why: deps.ErrNoWheel}
		if all := lazyregexp.Of(collecting).FindAllStringSubmatch(output, -1); len(all) > 0 {
			p.Source = all[len(all)-1][1]
		}
		return &NeedsBuildError{Packages: []deps.Package{p}}
	}
	if r, text := missing(output); text != "" {
		there, err := j.why(ctx, r)
		if err == nil && !there {
			err = j.absent(r.Name, text, said)
		}
		if err == nil { // the tool could not read the index
			err = &FailedError{By: by, Output: said, err: failed}
		}
		return err
	}
	if lazyregexp.Of(conflict).MatchString(said) {
		return &ConflictError{By: by, Lines: j.named(said), Output: said}
	}
	return &FailedError{By: by, Output: said, err: failed}
}

// absent returns the error about a requirement, the text, that no index has.
func (j *job) absent(name, text, said string) error {
	at := j.wish.Source
	if lines := append(j.named(name), j.named(said)...); len(lines) > 0 {
		at = lines[0].Place()
	}
	return &MistakeError{fmt.Errorf("%s: no index has %s for Python %s: correct its name or version, or name an index that has it; %s says:\n%s",
		at, text, j.wish.Target.Python, j.tool.way(), said)}
}

// missing returns the requirement that no wheel fits, as the tool says, and its text, "" for none.
func missing(output string) (r requirement.Requirement, text string) {
	if m := lazyregexp.Of(pipMissing).FindStringSubmatch(output); m != nil {
		text = m[1]
	}
	for _, form := range []*regexp.Regexp{lazyregexp.Of(uvMissing), lazyregexp.Of(uvAbsent)} {
		if m := form.FindStringSubmatch(joined(output)); m != nil && text == "" {
			text = cmp.Or(m[1], m[2])
		}
	}
	r, err := requirement.Parse(text)
	if err != nil {
		return r, ""
	}
	return r, text
}

// joined returns a message of uv on one line, without what it draws.
func joined(output string) string {
	return strings.Join(strings.FieldsFunc(output, func(r rune) bool { return strings.ContainsRune(" \t\r\n×│╰─▶├", r) }), " ")
}

// mostLines is how many lines of a tool's output are shown.
const mostLines = 12

// line tells the user that pip asks a server again: it does so for a minute.
func (j *job) line(line string) {
	if !strings.HasPrefix(line, "WARNING: Retrying ") || j.Show == nil {
		return
	}
	host := "an index"
	if bases := j.sources.Bases(); len(bases) == 1 && len(j.sources.Links) == 0 {
		host = j.sources.Hide(Shown(bases[0]))
	}
	j.Show(fmt.Sprintf("%s does not answer; %s is retrying", host, j.tool.way()))
}

// important returns pip's lines from the first error on, after its first warning, or the last lines.
func important(output string) string {
	if i := strings.Index("\n"+output, "\nERROR:"); i >= 0 {
		before := output[:i]
		output = output[i:]
		for line := range strings.Lines(before) {
			if strings.HasPrefix(line, "WARNING:") {
				output = line + output
				break
			}
		}
	}
	if before, _, found := strings.Cut(output, "\nTo fix this you could try to:"); found {
		output = before // advice about the package set, which our own sentence has
	}
	return platform.LastLines(output, mostLines)
}

// fileLine is how pip names a line of a file.
const fileLine = `-r \S+ \(line (\d+)\)`

// clean returns a tool's output without credentials, and with the places of requirements instead
// of the lines of our own file.
func (j *job) clean(output string) string {
	lines := j.wish.lines() // with which our file begins
	output = lazyregexp.Of(fileLine).ReplaceAllStringFunc(output, func(found string) string {
		n, err := strconv.Atoi(lazyregexp.Of(fileLine).FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(lines) {
			return found
		}
		return lines[n-1].Place()
	})
	return j.sources.Hide(strings.ReplaceAll(output, j.dir+string(os.PathSeparator), ""))
}

// word matches the names of packages in a text.
const word = `[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`

// named returns the requirements and constraints of packages that a text names.
func (j *job) named(text string) []deps.Line {
	names := map[string]bool{}
	for _, name := range lazyregexp.Of(word).FindAllString(text, -1) {
		names[requirement.Normalize(name)] = true
	}
	var lines []deps.Line
	for _, l := range slices.Concat(j.wish.lines(), j.wish.Constraints) {
		if name := l.Name(); name != "" && names[requirement.Normalize(name)] {
			lines = append(lines, l)
		}
	}
	return lines
}

// why asks the indexes why no wheel of a requirement fits: it returns a *NeedsBuildError if there
// is a source archive, a *wheel.NoFitError if all wheels are for other targets, or what is wrong with
// an index. there reports whether an index has a wheel that fits.
func (j *job) why(ctx context.Context, r requirement.Requirement) (there bool, err error) {
	lines := j.named(r.Name)
	for _, l := range lines {
		if own, err := requirement.Parse(l.Text); err == nil {
			r.Specifiers = append(r.Specifiers, own.Specifiers...)
		}
	}
	p, err := Explain(ctx, j.HTTP, j.sources, r, j.wish.Target)
	err = j.sources.HideIn(err)
	switch {
	case p.Why == nil && err != nil:
		return false, fmt.Errorf("%w; %s has tried for %s", err, j.tool.way(), j.took.Round(time.Second))
	case p.Why == nil:
		return p.Version != "", nil
	case p.Source != "":
		return false, &NeedsBuildError{Packages: []deps.Package{p}}
	case len(lines) > 0:
		return false, fmt.Errorf("%s: %w", lines[0].Place(), p.Why)
	}
	return false, p.Why
}
