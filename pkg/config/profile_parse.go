package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

const namePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`

// field is a field of a profile in the file.
type field struct {
	name string
	of   func(*Profile) *string
	// required means that a profile without it is an error.
	required bool
}

// fields lists the fields in the order in which mistakes are reported.
func fields() []field {
	return []field{
		{"project", func(p *Profile) *string { return &p.Project }, true},
		{"zone", func(p *Profile) *string { return &p.Zone }, true},
		{"cluster", func(p *Profile) *string { return &p.Cluster }, true},
		{"namespace", func(p *Profile) *string { return &p.Namespace }, true},
		{"context", func(p *Profile) *string { return &p.Context }, false},
		{"store", func(p *Profile) *string { return &p.Store }, false},
		{"image_repo", func(p *Profile) *string { return &p.ImageRepo }, false},
		{"base_image", func(p *Profile) *string { return &p.BaseImage }, false},
		{"base_image_repo", func(p *Profile) *string { return &p.BaseImageRepo }, false},
		{"cpu", func(p *Profile) *string { return &p.CPU }, false},
		{"memory", func(p *Profile) *string { return &p.Memory }, false},
		{"pathways_images", func(p *Profile) *string { return &p.PathwaysImages }, false},
		{"keep_warm", func(p *Profile) *string { return &p.KeepWarm }, false},
		{"cache_size", func(p *Profile) *string { return &p.CacheSize }, false},
		{"cache_scope", func(p *Profile) *string { return &p.CacheScope }, false},
	}
}

// parse reads the text of a profiles file. Its errors begin with their position in the
// file, to be appended to the path. It ignores unknown fields: they may come from another
// version.
func parse(data []byte) (ProfileFile, error) {
	var text struct {
		Current  *string `json:"current"`
		Profiles map[string]struct {
			Namespace *string `json:"namespace"` // in place of the profile's
			Profile
		} `json:"profiles"`
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return ProfileFile{}, locate(data, err)
	}
	file := ProfileFile{profiles: map[string]Profile{}}
	for _, name := range slices.Sorted(maps.Keys(text.Profiles)) {
		profile := text.Profiles[name].Profile
		profile.Name, profile.Namespace = name, defaultNamespace
		if given := text.Profiles[name].Namespace; given != nil {
			profile.Namespace = *given
		}
		profile.dropUnknown()
		if err := profile.check(); err != nil {
			return ProfileFile{}, fmt.Errorf(": %w", err)
		}
		file.profiles[name] = profile
	}
	if text.Current != nil {
		// A current profile that was deleted by hand is not an error.
		file.Current = file.profiles[*text.Current].Name
	}
	return file, nil
}

// unknown is what a profile of a cluster outside GKE has in place of a project, a zone and a cluster, which
// keras-kinetic requires in every profile.
const unknown = "none"

// dropUnknown removes the words in place of values.
func (p *Profile) dropUnknown() {
	for _, f := range fields() {
		if value := f.of(p); p.Context != "" && *value == unknown {
			*value = ""
		}
	}
}

func (p Profile) check() error {
	if err := CheckProfileName(p.Name); err != nil {
		return err
	}
	for _, f := range fields() {
		if elsewhere := p.Context != "" && f.name != "namespace"; f.required && !elsewhere && *f.of(&p) == "" {
			return fmt.Errorf("profile %q has no %s", p.Name, f.name)
		}
	}
	return nil
}

// CheckProfileName returns an error for what can't be the name of a profile.
func CheckProfileName(name string) error {
	if !lazyregexp.Of(namePattern).MatchString(name) {
		return fmt.Errorf("profile %q: expected at most 64 letters, digits, '-' and '_', starting with a letter or digit", name)
	}
	return nil
}

// locate adds line and column, counted from 1, to an error of encoding/json.
func locate(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset, why := int64(0), err
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset, why = kind.Offset, wrongKind(kind)
	}
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf(":%d:%d: %w", line, column, why)
}

func wrongKind(err *json.UnmarshalTypeError) error {
	want := "an object"
	if err.Type.Kind() == reflect.String {
		want = "a text"
	}
	what := "the file"
	if err.Field != "" {
		what = strings.NewReplacer("Profile.", "", "Defaults.", "").Replace(err.Field) // as the file has it
	}
	return fmt.Errorf("%s is of type %s, expected %s", what, err.Value, want)
}

func quoted(words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, strconv.Quote(w))
	}
	return strings.Join(list, ", ")
}
