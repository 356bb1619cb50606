package submit

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// warmKeyDigits are enough of a hash for a label, which may have 63 characters.
const warmKeyDigits = 40

// maxPairs is the longest text that is shown of labels.
const maxPairs = 100

// chooseWarm returns what the user said about warm hosts, if the job can run on one.
func chooseWarm(r api.Request, s api.Spec) (api.KeepWarm, error) {
	w := r.KeepWarm
	w.Limit = cmp.Or(w.Limit, api.DefaultWarmLimit)
	switch what := refusesWarm(r, s); {
	case w.Idle == 0 && (w.Only || w.Fresh || w.Wait || r.KeepWarm.Limit > 0):
		return w, errors.New("--warm-only, --fresh, --warm-wait and --warm-limit need --keep-warm DURATION")
	case w.Idle == 0:
		return api.KeepWarm{}, nil
	case w.Fresh && w.Only:
		return w, errors.New("--fresh and --warm-only exclude each other: omit one")
	case w.Fresh && w.Wait:
		return w, errors.New("--fresh and --warm-wait exclude each other: omit one")
	case what == "":
		return w, nil
	case w.ByDefault && !w.Only:
		return api.KeepWarm{}, nil
	default:
		return w, fmt.Errorf("--keep-warm cannot be combined with %s", what)
	}
}

// refusesWarm says why a warm host can't run a job, "" if it can.
func refusesWarm(r api.Request, s api.Spec) string {
	switch {
	case s.Backend == api.BackendLocal:
		return "--local: this machine is always warm"
	case r.Map != "":
		return "--map: a pod of a map takes several inputs by itself with --chunk"
	case s.Pathways != nil:
		return "--backend pathways: the runtime ends with its call"
	case r.Debug:
		return "--debug"
	case r.Processes != "":
		return "--processes-per-host: a warm host runs one process"
	case r.OutputMount:
		return "--output-mount: the host would have the outputs of its first call only"
	case r.MaxCost > 0:
		return "--max-cost, which does not count the time between calls: limit the host with --warm-limit"
	case r.Retries > 0 || r.RetryOn == api.RetryOnError:
		return "--retries: a call that fails on a warm host is not repeated"
	}
	return ""
}

// warmDoubts warns that a default of warm hosts has no effect.
func warmDoubts(r api.Request, s api.Spec) []string {
	if r.KeepWarm.Idle == 0 || s.KeepWarm.Idle > 0 || r.Map != "" || s.Backend == api.BackendLocal {
		return nil
	}
	return []string{"the job uses no warm host, which cannot be combined with " + refusesWarm(r, s)}
}

// KeepsWarm reports whether the plan's call is for a warm host.
func (p Planned) KeepsWarm() bool { return p.Spec.KeepWarm.Idle > 0 }

// editedSince returns the time since which files count as edited: for a warm host, which gets many versions of them.
func (p Planned) editedSince(m Machine) time.Time {
	if p.KeepsWarm() {
		return m.EditedSince
	}
	return time.Time{}
}

// WarmPlace is where the calls of a job can run: what their pods have in common.
type WarmPlace struct {
	// Key identifies the place among those of a namespace.
	Key string
	// Parts are its parts, for people, in the order in which they matter.
	Parts []WarmPart
}

// WarmPart is a part of a place: its name, such as "the image", and its value or a hash of it.
type WarmPart struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// manifestPart is the part for all else in the manifest. Its value is a hash.
const manifestPart = "the manifest"

// Differences says what distinguishes a place from that of a host, whose annotation has its parts; nil if nothing that is known.
func (p WarmPlace) Differences(annotation string) (differences []string) {
	var theirs []WarmPart
	if json.Unmarshal([]byte(annotation), &theirs) != nil {
		return nil
	}
	for _, part := range p.Parts {
		if slices.Contains(theirs, part) {
			continue
		}
		i := slices.IndexFunc(theirs, func(other WarmPart) bool { return other.Name == part.Name })
		if i < 0 || part.Name == manifestPart {
			differences = append(differences, part.Name+" differs")
			continue
		}
		differences = append(differences, fmt.Sprintf("%s differs (%s there)", part.Name, cmp.Or(theirs[i].Value, "none")))
	}
	return differences
}

// WarmPlace returns the place of the plan's call, for calls of this person.
func (p Planned) WarmPlace(owner string) (WarmPlace, error) {
	neutral := p.warmSpec(api.Warm{Owner: owner})
	neutral.ID, neutral.KeepWarm.Idle, neutral.KeepWarm.Limit = api.WarmName+"-place", 0, 0
	manifest, err := render.Place(neutral, p.Overlay)
	if err != nil {
		return WarmPlace{}, err
	}
	s := p.Spec
	place := WarmPlace{Parts: []WarmPart{
		{"the accelerator", joined(s.AcceleratorText, string(s.Capacity.Kind))},
		{"the number of hosts", strconv.Itoa(s.Hosts)},
		{"the image", p.Started().Image},
		{"what the pod requests", joined(s.CPU, s.Memory)},
		{"the disk", joined(s.Disk, s.DiskClass)},
		{"--max-runtime", shortDuration(s.MaxRuntime)},
		{"the priority class", s.PriorityClass},
		{"a label", pairs(s.Labels)},
		{"an annotation", pairs(s.Annotations)},
		{"the set of secrets", joined(s.SecretEnv...)},
		{"the level", string(p.Spec.KeepWarm.Level)},
		{"kubectl kinetic", s.ClientVersion},
		{manifestPart, manifest[:warmKeyDigits]},
	}}
	text, err := json.Marshal(place.Parts)
	place.Key = sha256Hex(append(text, owner...))[:warmKeyDigits]
	return place, err
}

// shortDuration writes a duration without its last zeros: 24h, not 24h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// joined joins the words that are not empty.
func joined(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// pairs writes labels for people; a hash, if they are too long to be read.
func pairs(of map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		words = append(words, name+"="+of[name])
	}
	text := joined(words...)
	if len(text) > maxPairs {
		return sha256Hex([]byte(text))[:warmKeyDigits]
	}
	return text
}

// WarmHost returns the host that begins with the plan's call, at that call's place. With inbox it takes calls through the store, too.
func (p Planned) WarmHost(place WarmPlace, owner string, key []byte, inbox bool) (api.Spec, error) {
	text, err := json.Marshal(place.Parts)
	if err != nil {
		return api.Spec{}, err
	}
	host := p.warmSpec(api.Warm{Owner: owner, Key: place.Key, Parts: string(text), Secrets: p.WarmSecrets(key), Inbox: inbox, First: p.WarmCall()})
	host.ID = p.Spec.Host
	return host, nil
}

// warmSpec returns the Spec of a host without its ID: that of the call without what belongs to the call alone.
func (p Planned) warmSpec(w api.Warm) api.Spec {
	w.Longest = p.Spec.MaxRuntime
	s := p.Started()
	s.Warm, s.Host = &w, ""
	s.Name, s.CallText, s.Env, s.Retries = api.WarmName, "", nil, 0
	s.Cache = nil
	s.EnvironmentSHA256 = "" // the host installs the packages of each call
	s.CallSHA256, s.BundleSHA256, s.Payload, s.MaxRuntime, s.OutputDir, s.ResumeFrom = "", "", nil, 0, "", ""
	s.Created = time.Time{}
	return s
}

// WarmCall returns what a warm host gets of the plan's call.
func (p Planned) WarmCall() api.WarmCall {
	call := render.WarmCall(p.Spec)
	call.Wait = p.Spec.KeepWarm.Wait
	return call
}

// WarmRecord returns what the store has of the plan's call, with which a pod that replaces a lost one runs the call again. It is zero if
// a variable may be a secret.
func (p Planned) WarmRecord() api.WarmCall {
	if slices.ContainsFunc(p.Spec.Env, func(e api.EnvVar) bool { return MayBeSecret(e.Name, e.Value) }) {
		return api.WarmCall{}
	}
	return render.WarmCall(p.Spec)
}

// WarmSecrets returns a hash of the values of the job's secrets, by the key of a host; "" without secrets.
func (p Planned) WarmSecrets(key []byte) string {
	if len(p.Secrets) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		fmt.Fprintf(mac, "%q=%q\n", name, p.Secrets[name])
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// WarmID returns the ID of a new warm host.
func (p Planned) WarmID(id Identity) string {
	if id.Hex == "" {
		id.Hex = p.Spec.ID[max(0, len(p.Spec.ID)-hexDigits):]
	}
	return newID(p.Spec.Accelerator, api.WarmName, id, maxID)
}
