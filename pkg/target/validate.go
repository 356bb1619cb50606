package target

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kinetic/kinetic/pkg/pattern"
)

// What Google Cloud allows. This is slightly more lenient than its rules, whose details
// change: what matters here is that no value can be mistaken for another. Old projects
// have a domain in front: example.com:project.
var (
	projectPattern = pattern.Lazy(`^([a-z0-9.-]+:)?[a-z]([a-z0-9-]*[a-z0-9])?$`)
	zonePattern    = pattern.Lazy(`^[a-z]+(-[a-z]+)*-[a-z]+[0-9]+(-[a-z0-9]+)?$`)
	clusterPattern = pattern.Lazy(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)
)

// checkPlace rejects values that no cluster could have, before they become part of names.
func checkPlace(p place) error {
	for _, c := range []struct {
		setting
		pattern func() *regexp.Regexp
		want    string
	}{
		{p.project, projectPattern, "a project id, as in my-project-123, not its name or number"},
		{p.zone, zonePattern, "a zone or region, as in us-central1-a"},
		{p.cluster, clusterPattern, "at most 40 lower-case letters, digits and '-', with a letter first"},
	} {
		if c.value != "" && !c.pattern().MatchString(c.value) {
			return fmt.Errorf("%s %q: expected %s", c.from, c.value, c.want)
		}
	}
	return nil
}

func checkNamespace(namespace setting) error {
	if why := validation.IsDNS1123Label(namespace.value); len(why) > 0 {
		return fmt.Errorf("%s %q: not a namespace: %s", namespace.from, namespace.value, strings.Join(why, "; "))
	}
	return nil
}
