package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// warmArguments are those of a warm host. All others that its pod has are for the runner of each call.
func warmArguments(s api.Spec) ([]string, error) {
	keep := s.KeepWarm
	args := []string{"--warm-idle", seconds(keep.Idle), "--warm-limit", seconds(keep.Limit), "--warm-level", string(keep.Level), "--warm-id", s.ID}
	args = append(args, releaseArguments(s)...)
	if s.Warm.Inbox {
		args = append(args, "--warm-inbox", "true")
	}
	if s.Warm.First.ID == "" {
		return args, nil
	}
	first, err := json.Marshal(s.Warm.First)
	if err != nil {
		return nil, fmt.Errorf("writing the first call of the host: %w", err)
	}
	for len(first) > 0 {
		piece := firstRunes(first, maxArgument)
		args, first = append(args, "--warm-first", string(piece)), first[len(piece):]
	}
	return args, nil
}

// maxArgument is how many bytes of a call fit into an argument: Linux allows 128 KiB.
const maxArgument = 120 << 10

// firstRunes returns the first characters of a text that take at most so many bytes.
func firstRunes(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// WarmCall returns what a warm host gets of a call. Variables that are secrets are those of the host.
func WarmCall(s api.Spec) api.WarmCall {
	call := api.WarmCall{ID: s.ID, Argv: runnerArguments(s), Environ: map[string]string{}, Idle: s.KeepWarm.Idle.Seconds()}
	for _, e := range s.Env {
		call.Environ[e.Name] = e.Value
	}
	for _, f := range api.StoreFlags {
		if i := slices.IndexFunc(s.Env, func(e api.EnvVar) bool { return e.Name == f.Variable && e.Value != "" }); i >= 0 {
			call.Argv = append(call.Argv, f.Flag, s.Env[i].Value)
		}
	}
	return call
}

func warmAnnotations(s api.Spec) map[string]string {
	all := map[string]string{}
	if s.Warm == nil {
		return all
	}
	all[api.AnnotationWarmIdle], all[api.AnnotationWarmOwner] = s.KeepWarm.Idle.String(), s.Warm.Owner
	all[api.AnnotationWarmPlace], all[api.AnnotationWarmSecrets] = s.Warm.Parts, s.Warm.Secrets
	if s.Warm.Inbox {
		all[api.AnnotationWarmInbox] = "true"
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// hostTTL is for how many seconds a host that has ended stays, so that it can be seen why.
const hostTTL = 600

// warm turns the Job of a call into that of a warm host. The deadline is for one that hangs.
func (p *patch) warm(s api.Spec) {
	w, keep := s.Warm, s.KeepWarm
	for _, metadata := range []string{jobMetadata, podMetadata} {
		p.add(pointer(metadata+"/labels", api.LabelWarm), w.Key)
	}
	p.add("/spec/activeDeadlineSeconds", int64((keep.Limit + w.Longest + keep.Idle).Seconds()))
	p.add("/spec/ttlSecondsAfterFinished", hostTTL)
}
