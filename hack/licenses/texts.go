package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// text is a file that has to be shipped.
type text struct {
	module  module
	name    string   // relative to the module
	kinds   []string // SPDX identifiers, sorted; none for a notice
	content string
}

// allowed are the licenses that a binary under Apache-2.0 may contain, if it is shipped
// with their texts.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

// enough is the share of a license file, in per cent of its words, that has to be known
// text. Some begin with words about which files they are for.
const enough = 75

var (
	licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)
	noticeName  = regexp.MustCompile(`(?i)^(notice|patents|copyright)([.-].*)?$`)
	programName = regexp.MustCompile(`(?i)\.(go|py|sh|json|ya?ml)$`)
	// docsName matches the license of a module's documentation, which is not shipped.
	docsName = regexp.MustCompile(`(?i)\.docs$`)
)

// texts returns the licenses and notices of what is linked of a module: those in the
// directories of its packages, and in the directories above them. It is an error if one
// is of an unknown kind, or if a package has none.
func (m module) texts() ([]text, error) {
	var texts []text
	var problems []error
	seen := map[string]bool{}
	for _, dir := range m.packages {
		for {
			if !seen[dir] {
				seen[dir] = true
				found, err := m.textsIn(dir)
				texts, problems = append(texts, found...), append(problems, err)
			}
			if dir == m.dir {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	atRoot := func(t text) bool { return !strings.Contains(t.name, "/") && t.kinds != nil }
	if errors.Join(problems...) == nil && !slices.ContainsFunc(texts, atRoot) {
		problems = append(problems, fmt.Errorf("%s %s has no license file in %s", m.path, m.version, m.dir))
	}
	slices.SortFunc(texts, func(a, b text) int { return strings.Compare(a.name, b.name) })
	return texts, errors.Join(problems...)
}

// textsIn returns the licenses and notices in one directory.
func (m module) textsIn(dir string) ([]text, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []text
	var problems []error
	for _, entry := range entries {
		isLicense := licenseName.MatchString(entry.Name())
		if entry.IsDir() || programName.MatchString(entry.Name()) || docsName.MatchString(entry.Name()) || !isLicense && !noticeName.MatchString(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(m.dir, path)
		if err != nil {
			return nil, err
		}
		t := text{module: m, name: filepath.ToSlash(rel), content: strings.ReplaceAll(string(content), "\r\n", "\n")}
		if isLicense {
			if t.kinds, err = classify(content); err != nil {
				problems = append(problems, fmt.Errorf("%s %s, %s: %w", m.path, m.version, t.name, err))
			}
		}
		texts = append(texts, t)
	}
	return texts, errors.Join(problems...)
}

// classify returns the licenses that a text consists of. It is an error if there is one
// that is not allowed, or too much other text.
func classify(content []byte) ([]string, error) {
	coverage := licensecheck.Scan(content)
	var ids []string
	for _, match := range coverage.Match {
		if match.IsURL {
			continue
		}
		if !slices.Contains(allowed, match.ID) {
			return nil, fmt.Errorf("it has the license %s, which is not in the list of hack/licenses/texts.go: %s", match.ID, strings.Join(allowed, ", "))
		}
		ids = append(ids, match.ID)
	}
	if len(ids) == 0 || coverage.Percent < enough {
		return nil, fmt.Errorf("only %.0f %% of it is the text of a known license: read it", coverage.Percent)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// kinds returns the licenses of texts, sorted.
func kinds(texts []text) []string {
	var ids []string
	for _, t := range texts {
		ids = append(ids, t.kinds...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
