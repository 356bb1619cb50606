package render

import (
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// homeVariable tells programs where to keep their caches. The component restricted sets a
// user that has no home directory in most images, and can't write to /.
const homeVariable = "HOME"

// environment adds the user's variables. A variable that is set already keeps its place
// and gets the user's value.
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
	for i, d := range s.Volumes() {
		set(api.VolumeVariable(i), map[string]any{"name": api.VolumeVariable(i), "value": literal(d.Mount)})
	}
	if s.Hosts > 1 {
		// Pods that someone applies without the Secret run, too: their runner warns.
		ref := map[string]any{"name": s.SecretName(), "key": api.Contract.Names.GroupKey, "optional": true}
		set(api.Contract.Names.GroupKey, map[string]any{"name": api.Contract.Names.GroupKey, "valueFrom": map[string]any{"secretKeyRef": ref}})
	}
	if s.Warm != nil {
		ref := map[string]any{"name": s.SecretName(), "key": api.EnvWarmKey}
		set(api.EnvWarmKey, map[string]any{"name": api.EnvWarmKey, "valueFrom": map[string]any{"secretKeyRef": ref}})
	}
	if _, found := l.find(envList, homeVariable); s.Restricted && !found {
		set(homeVariable, map[string]any{"name": homeVariable, "value": "/kinetic"})
	}
}

// storeArguments passes on to the runner the variables of the job that configure Google's
// libraries. Kubernetes fills in the values of those that are secrets.
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

// literal protects a string from Kubernetes' expansion in arguments and variables, which
// replaces $(NAME), and $$ by $.
func literal(s string) string {
	if strings.Contains(s, "$(") || strings.Contains(s, "$$") {
		return strings.ReplaceAll(s, "$", "$$")
	}
	return s
}
