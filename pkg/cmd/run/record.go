package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// typed returns the flags for the job's handle, --NAME=VALUE, from which --like makes the same request again: those that were
// typed, and what variables and the profile said in place of others. Values that may be secret are left out.
func (f *flags) typed(r api.Request) []string {
	var words []string
	recorded := map[string]bool{}
	add := func(name, value string) {
		words = append(words, "--"+name+"="+value)
		recorded[name] = true
	}
	// notRepeated are flags that the job's handle doesn't keep: what to call stands elsewhere in its records, and an ID has one job.
	notRepeated := []string{"arg", "module", "command", "payload", "map", "map-resume", "resume-from", "job-id", "like",
		"container-image", "env", "capture-env", "secret-env"}
	for _, fs := range f.own[:len(f.own)-1] { // the last says what this command prints
		fs.VisitAll(func(flag *pflag.Flag) {
			if !flag.Changed || slices.Contains(notRepeated, flag.Name) {
				return
			}
			if list, ok := flag.Value.(pflag.SliceValue); ok {
				for _, value := range list.GetSlice() {
					add(flag.Name, value)
				}
				return
			}
			add(flag.Name, cmp.Or(flag.Value.String(), "0")) // a number's zero prints nothing
		})
	}
	for _, d := range []struct{ flag, value string }{
		{"image", r.Image}, {"base-image", r.Images.BaseImage}, {"base-image-repo", r.Images.BaseImageRepo}, {"image-repo", r.Images.ImageRepo},
		{"cpu", r.CPU}, {"memory", r.Memory}, {"store-credentials", r.StoreCredentials}, {"pathways-images", r.Pathways.Images},
		{"output-dir", r.OutputDir}, {"overlay", r.OverlayDir},
	} {
		if d.value != "" && !recorded[d.flag] {
			add(d.flag, d.value)
		}
	}
	for _, e := range r.Env {
		if submit.MayBeSecret(e.Name, e.Value) {
			words = append(words, "--env="+e.Name)
		} else {
			add("env", e.Name+"="+e.Value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Secrets)) {
		add("secret-env", name)
	}
	return words
}

// restore sets the flags that were not typed to what they were for an earlier job.
func (f *flags) restore(c *cobra.Command, e *earlier) error {
	given := typedFlags(c)
	for _, word := range e.Handle.CommandLine.Flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if given(name, value) {
			continue
		}
		if c.Flags().Lookup(name) == nil {
			return fmt.Errorf("--like %s: %s submitted that job with --%s, which this version doesn't have: upgrade kubectl kinetic", e.ID(), author(e.Handle), name)
		}
		if name == "secret-env" || name == "env" && !strings.Contains(value, "=") {
			e.unrecorded = append(e.unrecorded, value)
		}
		if err := c.Flags().Set(name, value); err != nil {
			return fmt.Errorf("--like %s: %s: %w", e.ID(), word, err)
		}
	}
	f.request.Known = maps.Clone(e.call.KWArgs)
	maps.DeleteFunc(f.request.Known, func(name string, _ json.RawMessage) bool { return given("arg", name) })
	return nil
}

// typedFlags returns a function that reports whether a flag, or one that stands for it, was typed.
func typedFlags(c *cobra.Command) func(name, value string) bool {
	given := map[string]bool{}
	var patterns []string
	c.Flags().Visit(func(flag *pflag.Flag) {
		values := []string{""}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if flag.Name == "capture-env" {
			patterns = values
		}
		for _, value := range values {
			given[subject(flag.Name, value)] = true
		}
	})
	return func(name, value string) bool {
		variable, isVariable := strings.CutPrefix(subject(name, value), "env ")
		captured := isVariable && slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, _ := path.Match(pattern, variable)
			return ok
		})
		return captured || given[subject(name, value)]
	}
}

// subject names what a flag decides, which can be decided once.
func subject(flag, value string) string {
	first := flag
	// alternatives are flags of which one that is typed replaces all.
	alternatives := [][]string{
		{"local", "backend"}, {"image", "container-image"}, {"base-image", "base-image-repo"}, {"spot", "reservation", "flex-start", "compute-class"},
		{"env", "secret-env"}, {"arg", "data"}, {"no-cache", "cache-size"},
	}
	for _, group := range alternatives {
		if slices.Contains(group, flag) {
			first = group[0]
		}
	}
	// byName are flags with NAME=VALUE, of which one that is typed replaces that with the same NAME.
	byName := []string{"arg", "data", "volume", "env", "secret-env", "label", "annotation", "xla-flag"}
	if !slices.Contains(byName, flag) {
		return first
	}
	name, _, _ := strings.Cut(value, "=")
	return first + " " + name
}
