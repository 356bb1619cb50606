package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// check rejects strings that a manifest can't hold. Whoever makes a Spec checks that it
// makes sense.
func check(s api.Spec) error {
	for _, text := range []struct{ name, value string }{{"name", s.Name}, {"call", s.CallText}, {"output directory", s.OutputDir}} {
		if err := checkText(text.value); err != nil {
			return fmt.Errorf("%s of job %s: %w", text.name, s.ID, err)
		}
	}
	for _, e := range s.Env {
		if err := checkText(e.Value); err != nil {
			return fmt.Errorf("value of env %s: %w", e.Name, err)
		}
	}
	return checkAnnotations(s.Annotations)
}

// checkText rejects strings that kustomize can't write to a manifest or would change.
// They were found by fuzzing. Its errors don't repeat the text, which may be a secret.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("not UTF-8, which a manifest must be")
	}
	if strings.HasPrefix(text, "\t") && strings.Contains(text, "\n") {
		return errors.New("a multi-line text in a manifest can't begin with a tab")
	}
	for _, r := range text {
		if r == 0 || (r >= 0x7f && r < 0xa0) || r == 0xfffe || r == 0xffff {
			return fmt.Errorf("it contains the control character %U, which a manifest can't contain", r)
		}
	}
	return nil
}

func checkAnnotations(annotations map[string]string) error {
	// kustomizePrefixes are the prefixes of annotations that kustomize reads. One of them
	// drops the object from the output.
	kustomizePrefixes := []string{"config.kubernetes.io/", "internal.config.kubernetes.io/", "kustomize.config.k8s.io/", "config.k8s.io/"}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if err := checkText(annotations[key]); err != nil {
			return fmt.Errorf("value of annotation %s: %w", key, err)
		}
		for _, prefix := range kustomizePrefixes {
			if strings.HasPrefix(key, prefix) {
				return fmt.Errorf("annotation %s: kustomize reserves %s*: choose another key", key, prefix)
			}
		}
		if strings.Trim(key, "0123456789") == "" {
			return fmt.Errorf("annotation %s: kustomize takes a number for a list index: choose another key", key)
		}
	}
	return nil
}
