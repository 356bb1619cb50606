package profile

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

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// defaultNamespace is the namespace of a profile that names none.
const defaultNamespace = "default"

var namePattern = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// parse reads the text of a profiles file. Its errors begin with their position in the
// file, to be appended to the path. It ignores unknown fields: they may come from another
// version.
func parse(data []byte) (File, error) {
	var text struct {
		Current  *string `json:"current"`
		Profiles map[string]struct {
			Project   string  `json:"project"`
			Zone      string  `json:"zone"`
			Cluster   string  `json:"cluster"`
			Namespace *string `json:"namespace"`

			ImageRepo     string `json:"image_repo"`
			BaseImage     string `json:"base_image"`
			BaseImageRepo string `json:"base_image_repo"`
		} `json:"profiles"`
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return File{}, locate(data, err)
	}
	file := File{profiles: map[string]Profile{}}
	for _, name := range slices.Sorted(maps.Keys(text.Profiles)) {
		p, namespace := text.Profiles[name], defaultNamespace
		if p.Namespace != nil {
			namespace = *p.Namespace
		}
		profile := Profile{Name: name, Project: p.Project, Zone: p.Zone, Cluster: p.Cluster, Namespace: namespace,
			ImageRepo: p.ImageRepo, BaseImage: p.BaseImage, BaseImageRepo: p.BaseImageRepo}
		if err := profile.check(); err != nil {
			return File{}, err
		}
		file.profiles[name] = profile
	}
	if text.Current != nil {
		// A current profile that was deleted by hand is not an error.
		file.Current = file.profiles[*text.Current].Name
	}
	return file, nil
}

func (p Profile) check() error {
	if !namePattern().MatchString(p.Name) {
		return fmt.Errorf(": profile %q: expected at most 64 letters, digits, '-' and '_', starting with a letter or digit", p.Name)
	}
	for _, f := range []struct{ name, value string }{
		{"project", p.Project}, {"zone", p.Zone}, {"cluster", p.Cluster}, {"namespace", p.Namespace},
	} {
		if f.value == "" {
			return fmt.Errorf(": profile %q has no %s", p.Name, f.name)
		}
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
		what = err.Field
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
