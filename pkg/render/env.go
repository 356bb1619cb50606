package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// homeVariable is where programs keep their caches. The user of the component restricted has
// no home directory in most images, and / is not writable for it.
const homeVariable = "HOME"

// builtInEnv lists the variables that base and component set, in their order.
var builtInEnv = []string{"KERAS_BACKEND", "JAX_PLATFORMS", api.EnvPodUID}

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
	if s.Hosts > 1 {
		// A set that somebody applies without the Secret runs, too: its runner warns.
		ref := map[string]any{"name": s.SecretName(), "key": api.EnvGroupKey, "optional": true}
		set(api.EnvGroupKey, map[string]any{"name": api.EnvGroupKey, "valueFrom": map[string]any{"secretKeyRef": ref}})
	}
	if s.Restricted && !slices.ContainsFunc(s.Env, func(e api.EnvVar) bool { return e.Name == homeVariable }) {
		set(homeVariable, map[string]any{"name": homeVariable, "value": "/kinetic"})
	}
}

// storeArguments tell the runner what variables of the job tell Google's
// libraries. Kubernetes puts in the values of those that are secrets.
func storeArguments(s api.Spec) []string {
	var args []string
	for _, f := range api.StoreFlags {
		i := slices.IndexFunc(s.Env, func(e api.EnvVar) bool { return e.Name == f.Variable && e.Value != "" })
		switch {
		case i >= 0:
			args = append(args, f.Flag, literal(s.Env[i].Value))
		case slices.Contains(s.SecretEnv, f.Variable):
			args = append(args, f.Flag, "$("+f.Variable+")")
		}
	}
	return args
}

// literal protects a string from the expansion that Kubernetes does in
// arguments and variables: $(NAME) is replaced there, and $$ becomes $.
func literal(s string) string {
	if strings.Contains(s, "$(") || strings.Contains(s, "$$") {
		return strings.ReplaceAll(s, "$", "$$")
	}
	return s
}
