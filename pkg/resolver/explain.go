package resolver

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

	"github.com/kubectl-kinetic/kinetic/pkg/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/index"
	"github.com/kubectl-kinetic/kinetic/pkg/lock"
	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
	"github.com/kubectl-kinetic/kinetic/pkg/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/subprocess"
)

// What the tools say when no version of a package has a wheel that fits.
var (
	pipMissing = pattern.Lazy(`(?m)^ERROR: No matching distribution found for (.+?)(?: \(from .*)?$`)
	uvMissing  = pattern.Lazy("Wheels are required for `([^`]+)`|([A-Za-z0-9][\\w.-]*?)(?:[=<>!~]=?[^\\s]+)? ha(?:s|ve) no (?:\\S+ )?wheels")
	uvAbsent   = pattern.Lazy(`([A-Za-z0-9][\w.-]*) was not found in|there (?:is|are) no versions? of ([A-Za-z0-9][\w.-]*)`)
	conflict   = pattern.Lazy(`ResolutionImpossible|conflicting dependencies|No solution found|requirements are unsatisfiable`)
	// tooOld is what uv says of options that it does not have.
	tooOld = pattern.Lazy(`unexpected argument|invalid value`)
	// collecting is what pip was doing.
	collecting = pattern.Lazy(`(?m)^\s*(?:Collecting|Processing) (\S+)`)
)

// explain returns why a tool failed.
func (j *job) explain(ctx context.Context, output string, failed error) error {
	by, down := j.tool.way(), unreachable().MatchString(output)
	if strings.Contains(output, refused) {
		p := lock.Package{Name: "a package", Why: lock.ErrNoWheel}
		if all := collecting().FindAllStringSubmatch(output, -1); len(all) > 0 {
			p.Source = all[len(all)-1][1]
		}
		return &NeedsBuildError{Packages: []lock.Package{p}}
	}
	if r, text := missing(output); text != "" {
		if err := j.why(ctx, r, down); err != nil {
			return err
		}
		if !down {
			return j.absent(r.Name, text, important(output))
		}
	}
	said := important(output)
	lines := j.named(said)
	if down {
		return &FailedError{By: by, Output: said, err: failed}
	}
	if conflict().MatchString(said) && !uvAbsent().MatchString(joined(said)) {
		return &ConflictError{By: by, Lines: lines, Output: said}
	}
	if by == UV && tooOld().MatchString(said) {
		failed = fmt.Errorf("%w: this uv may be older than 0.6.15, which is needed: update it", failed)
	}
	return &FailedError{By: by, Lines: lines, Output: said, err: failed}
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
	if m := pipMissing().FindStringSubmatch(output); m != nil {
		text = m[1]
	}
	for _, form := range []*regexp.Regexp{uvMissing(), uvAbsent()} {
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

// unreachable is what a tool says of a server that it could not ask. pip continues without it, and finds nothing.
var unreachable = pattern.Lazy(`(?m)^WARNING: (?:Retrying|Could not fetch|Skipping page|.* is not a trusted or secure host).*$|^Could not fetch URL.*$|^error: Request failed after.*$`)

// retrying is what pip says before it asks a server again.
var retrying = pattern.Lazy(`^WARNING: Retrying \(Retry\(total=(\d+)`)

// line tells the user that a server does not answer.
func (j *job) line(line string) {
	m := retrying().FindStringSubmatch(line)
	if m == nil || j.Show == nil {
		return
	}
	host := "an index"
	if bases := j.sources.Bases(); len(bases) == 1 && len(j.sources.Links) == 0 {
		host = index.Shown(bases[0])
	}
	left, _ := strconv.Atoi(m[1])
	j.Show(fmt.Sprintf("%s does not answer %s, tries left: %d", host, j.tool.way(), left+1))
}

// important returns the lines from the first error on.
func important(output string) string {
	if i := strings.Index("\n"+output, "\nERROR:"); i >= 0 {
		output = strings.Join(append(unreachable().FindAllString(output[:i], 1), output[i:]), "\n")
	}
	if before, _, found := strings.Cut(output, "\nTo fix this you could try to:"); found {
		output = before // advice about the package set, which our own sentence has
	}
	return subprocess.LastLines(output, mostLines)
}

// fileLine is how pip names a line of a file.
var fileLine = pattern.Lazy(`-r \S+ \(line (\d+)\)`)

// clean returns a tool's output without credentials, and with the places of requirements instead
// of the lines of our own file.
func (j *job) clean(output string) string {
	for _, p := range j.sources.All() {
		const shortest = 4 // of what is replaced: shorter ones would hide words
		if password := p.Password(); len(password) >= shortest {
			output = strings.ReplaceAll(output, password, "***")
		}
	}
	lines := j.wish.lines() // with which our file begins
	output = fileLine().ReplaceAllStringFunc(output, func(found string) string {
		n, err := strconv.Atoi(fileLine().FindStringSubmatch(found)[1])
		if err != nil || n < 1 || n > len(lines) {
			return found
		}
		return lines[n-1].Place()
	})
	return deps.Hidden(strings.ReplaceAll(output, j.dir+string(os.PathSeparator), ""))
}

// word matches the names of packages in a text.
var word = pattern.Lazy(`[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`)

// named returns the requirements and constraints of packages that a text names.
func (j *job) named(text string) []deps.Line {
	names := map[string]bool{}
	for _, name := range word().FindAllString(text, -1) {
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
// is a source archive, a *wheel.NoFitError if all wheels are for other targets, what is wrong with
// an index, or nil if the reason is another one. down means that the tool could not ask a server.
func (j *job) why(ctx context.Context, r requirement.Requirement, down bool) error {
	lines := j.named(r.Name)
	for _, l := range lines {
		if own, err := requirement.Parse(l.Text); err == nil {
			r.Specifiers = append(r.Specifiers, own.Specifiers...)
		}
	}
	p, err := index.Client{HTTP: j.HTTP}.Explain(ctx, j.sources, r, j.wish.Target)
	switch {
	case p.Why == nil && err != nil && down:
		return fmt.Errorf("%w; %s has tried for %s", err, j.tool.way(), j.took.Round(time.Second))
	case p.Why == nil:
		return err
	case p.Source != "":
		return &NeedsBuildError{Packages: []lock.Package{p}}
	case len(lines) > 0:
		return fmt.Errorf("%s: %w", lines[0].Place(), p.Why)
	}
	return p.Why
}
