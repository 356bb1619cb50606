package deps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// option is an option of pip that a requirements file may have on a line of its own.
type option struct {
	long, short string
	value       bool
	effect      effect
}

type effect int

const (
	passOn effect = iota
	include
	constrain
	edit
	findLinks
	requireHashes
	ignore
)

var options = []option{
	{"--requirement", "-r", true, include},
	{"--constraint", "-c", true, constrain},
	{"--editable", "-e", true, edit},
	{"--find-links", "-f", true, findLinks},
	{"--index-url", "-i", true, passOn},
	{"--extra-index-url", "", true, passOn},
	{"--no-index", "", false, passOn},
	{"--pre", "", false, passOn},
	{"--prefer-binary", "", false, passOn},
	{"--no-binary", "", true, passOn},
	{"--only-binary", "", true, passOn},
	{"--trusted-host", "", true, passOn},
	{"--require-hashes", "", false, requireHashes},
	{"--use-feature", "", true, ignore},
}

// given is an option with its value.
type given struct {
	option
	value string
}

// parseOptions reads a line of options: --name VALUE, --name=VALUE, -nVALUE.
func parseOptions(line string) ([]given, error) {
	words, err := split(line)
	if err != nil {
		return nil, err
	}
	var all []given
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if !strings.HasPrefix(word, "-") {
			return nil, unknownOption(word)
		}
		name, value, hasValue := strings.Cut(word, "=")
		if !strings.HasPrefix(word, "--") && len(word) > 2 {
			name, value, hasValue = word[:2], strings.TrimPrefix(word[2:], "="), true
		}
		i := slices.IndexFunc(options, func(o option) bool { return name == o.long || name == o.short && name != "" })
		if i < 0 {
			return nil, unknownOption(name)
		}
		o := options[i]
		if o.value && !hasValue && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		if o.value && value == "" {
			return nil, fmt.Errorf("%s needs a value", name)
		}
		if !o.value && hasValue {
			return nil, fmt.Errorf("%s takes no value", name)
		}
		all = append(all, given{o, value})
	}
	return all, nil
}

// split returns the words of a line. Quotes keep blanks in a word.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside, quote := false, rune(0)
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			inside, quote = true, c
		case c == ' ' || c == '\t':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			inside = true
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a closing %c is missing", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

func unknownOption(name string) error {
	var known []string
	for _, o := range options {
		known = append(known, o.long)
	}
	err := fmt.Errorf("%s is not an option of requirements files", name)
	if hint := human.DidYouMean(name, known); hint != "" {
		err = fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// splitOptions returns a requirement without the options behind it, and its hashes.
func splitOptions(text string) (requirement string, hashes []string, err error) {
	requirement, rest, found := cutOptions(text)
	for found {
		var word string
		word, rest, found = cutOptions(rest)
		name, value := word, ""
		if i := strings.IndexAny(word, "= "); i >= 0 {
			name, value = word[:i], strings.TrimSpace(word[i+1:])
		}
		switch name {
		case "--hash":
			if value == "" {
				return "", nil, fmt.Errorf("--hash needs a value such as sha256:…")
			}
			hashes = append(hashes, value)
		case "--config-settings", "--config-setting", "--global-option":
			return "", nil, fmt.Errorf("%s is for building packages, which is not supported: name a version that has a wheel", name)
		default:
			return "", nil, fmt.Errorf("%s can't follow a requirement: only --hash can", name)
		}
	}
	return requirement, hashes, nil
}

// cutOptions cuts a text before its next option.
func cutOptions(text string) (before, after string, found bool) {
	before, after, found = strings.Cut(strings.ReplaceAll(text, "\t", " "), " --")
	if found {
		after = "--" + after
	}
	return strings.TrimSpace(before), after, found
}
