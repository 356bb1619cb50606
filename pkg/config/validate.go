package config

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// What Google Cloud allows. This is slightly more lenient than its rules, whose details
// change: what matters here is that no value can be mistaken for another. Old projects
// have a domain in front: example.com:project.
const (
	projectPattern = `^([a-z0-9.-]+:)?[a-z]([a-z0-9-]*[a-z0-9])?$`
	zonePattern    = `^[a-z]+(-[a-z]+)*-[a-z]+[0-9]+(-[a-z0-9]+)?$`
	clusterPattern = `^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`
)

// InvalidError is the error for a value that is not allowed.
type InvalidError struct {
	// From is the origin of the value, such as a flag.
	From string
	// Reason names the value and says what is wrong with it.
	Reason error
}

func (e *InvalidError) Error() string { return e.From + " " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *InvalidError) Unwrap() error { return e.Reason }

// checkPlace rejects values that no cluster could have, before they become part of names.
func checkPlace(p place) error {
	for _, c := range []struct {
		setting
		pattern string
		want    string
	}{
		{p.project, projectPattern, "a project id, as in my-project-123, not its name or number"},
		{p.zone, zonePattern, "a zone or region, as in us-central1-a"},
		{p.cluster, clusterPattern, "at most 40 lower-case letters, digits and '-', with a letter first"},
	} {
		if c.value != "" && !lazyregexp.Of(c.pattern).MatchString(c.value) {
			return &InvalidError{c.from, fmt.Errorf("%q: expected %s", c.value, c.want)}
		}
	}
	return nil
}

func checkNamespace(namespace setting) error {
	if len(validation.IsDNS1123Label(namespace.value)) > 0 {
		return &InvalidError{namespace.from, fmt.Errorf("%q: not a namespace: expected at most %d lower-case letters, digits and '-', with a letter or digit first and last",
			namespace.value, validation.DNS1123LabelMaxLength)}
	}
	return nil
}
