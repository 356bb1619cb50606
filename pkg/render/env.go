package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// podUID is how the runner learns which pod it is.
const podUID = "KINETIC_POD_UID"

// keyVariable is set by the component store-credentials, and read by the
// runner and Google's own libraries.
const keyVariable = "GOOGLE_APPLICATION_CREDENTIALS"

// builtInEnv lists the variables that base and component set, in their order.
var builtInEnv = []string{"KERAS_BACKEND", "JAX_PLATFORMS", podUID}

// environment adds the user's variables. A name that is set already gets the
// user's value in its old place.
func (p *patch) environment(s api.Spec) {
	at := container + "/env/"
	set := func(name string, entry map[string]any) {
		i := slices.Index(builtInEnv, name)
		if i < 0 {
			p.add(at+"-", entry)
			return
		}
		place := at + strconv.Itoa(i)
		p.test(place+"/name", name)
		p.replace(place, entry)
	}
	for _, e := range s.Env {
		set(e.Name, map[string]any{"name": e.Name, "value": literal(e.Value)})
	}
	for _, name := range s.SecretEnv {
		ref := map[string]any{"name": s.SecretName(), "key": name}
		set(name, map[string]any{"name": name, "valueFrom": map[string]any{"secretKeyRef": ref}})
	}
}

// literal protects a string from the expansion that Kubernetes does in
// arguments and variables: $(NAME) is replaced there, and $$ becomes $.
func literal(s string) string {
	if strings.Contains(s, "$(") || strings.Contains(s, "$$") {
		return strings.ReplaceAll(s, "$", "$$")
	}
	return s
}
