package render

import (
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// homeVariable is where programs keep their caches. The user of the component restricted has
// no home directory in most images, and / is not writable for it.
const homeVariable = "HOME"

// environment adds the user's variables. A name that is set already gets the
// user's value in its old place.
func (p *patch) environment(s api.Spec, l lists) {
	set := func(name string, entry map[string]any) {
		if _, found := l.find(envList, name); found {
			p.replace(p.entry(l, envList, name), entry)
			return
		}
		p.add(envList+"/-", entry)
		l.add(envList, "-", name)
	}
	for _, e := range s.Env {
		set(e.Name, map[string]any{"name": e.Name, "value": literal(e.Value)})
	}
	for _, name := range s.SecretEnv {
		ref := map[string]any{"name": s.SecretName(), "key": name}
		set(name, map[string]any{"name": name, "valueFrom": map[string]any{"secretKeyRef": ref}})
	}
	if s.Hosts > 1 {
		// A set that someone applies without the Secret runs, too: its runner warns.
		ref := map[string]any{"name": s.SecretName(), "key": api.EnvGroupKey, "optional": true}
		set(api.EnvGroupKey, map[string]any{"name": api.EnvGroupKey, "valueFrom": map[string]any{"secretKeyRef": ref}})
	}
	if _, found := l.find(envList, homeVariable); s.Restricted && !found {
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
