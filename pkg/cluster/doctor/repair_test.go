package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRepairCluster(t *testing.T) {
	s := &server{answers: complete(t)}
	delete(s.answers, "GET "+ml+"/serviceaccounts/kinetic")
	delete(s.answers, "GET "+rolesPath+"/kinetic-release")
	s.answers["GET "+rolesPath+"/kinetic-cleanup"] = `{"metadata":{"resourceVersion":"7"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`
	s.answers["POST "+ml+"/serviceaccounts"], s.answers["POST "+rolesPath] = `{}`, `{}`
	results := Run(t.Context(), slowly(ClusterChecks(clusterOptions(s.start(t)))))
	if len(s.sent) > 0 {
		t.Errorf("checks change something: %q", s.sent)
	}
	var did []string
	for _, r := range Repair(t.Context(), results) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
		did = append(did, r.Did)
	}
	want := "created Role kinetic-release in namespace ml; created the service account kinetic in namespace ml"
	if got := strings.Join(did, "; "); got != want {
		t.Errorf("did %q, want %q", got, want)
	}
	for _, want := range []string{
		`POST ` + rolesPath + ` {"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"kinetic-release","labels":{"app.kubernetes.io/name":"kinetic"}},"rules":[{"verbs":["get","patch"],"apiGroups":["leaderworkerset.x-k8s.io"],"resources":["leaderworkersets"]},{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"]}]}`,
		`POST ` + ml + `/serviceaccounts {"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"kinetic","labels":{"app.kubernetes.io/name":"kinetic"}},"automountServiceAccountToken":false}`,
	} {
		sent := false
		for _, line := range s.sent {
			sent = sent || line == want
		}
		if !sent {
			t.Errorf("missing %s\namong %s", want, strings.Join(s.sent, "\n"))
		}
	}
	for _, line := range s.sent {
		if strings.HasPrefix(line, "PATCH ") {
			t.Errorf("gives rights to whom a Role is bound: %s", line)
		}
	}
}

// A Role that exists may be bound to someone: an administrator adds rights to it.
func TestOlderRoleIsLeftToAnAdministrator(t *testing.T) {
	for role, patch := range map[string]string{
		`{"metadata":{"name":"kinetic-release"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`: `[{"op":"add","path":"/rules/-","value":{"verbs":["get","patch"],"apiGroups":["leaderworkerset.x-k8s.io"],"resources":["leaderworkersets"]}},{"op":"add","path":"/rules/-","value":{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"]}}]`,
		`{"metadata":{"name":"kinetic-release"}}`: `[{"op":"add","path":"/rules","value":[{"verbs":["get","patch"],"apiGroups":["leaderworkerset.x-k8s.io"],"resources":["leaderworkersets"]},{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"]}]}]`,
	} {
		s := &server{answers: complete(t)}
		s.answers["GET "+rolesPath+"/kinetic-release"] = role
		results := Run(t.Context(), slowly(ClusterChecks(clusterOptions(s.start(t)))))
		at := slices.IndexFunc(results, func(r Result) bool { return r.Name == "Roles" })
		want := "kubectl patch role kinetic-release -n ml --type=json -p '" + patch + "'"
		if got := results[at]; got.State != Wrong || got.Detail != "kinetic-release lacks rights that this version needs" || got.Fix != want {
			t.Errorf("got %s %q, fix %s, want %s", got.State, got.Detail, got.Fix, want)
		}
		if did := Repair(t.Context(), results); len(did)+len(s.sent) > 0 {
			t.Errorf("did %v, sent %q", did, s.sent)
		}
	}
}

func TestIdentity(t *testing.T) {
	for text, want := range map[string]string{`{}`: "", `{"metadata":{"annotations":{"iam.gke.io/gcp-service-account":"jobs@acme"}}}`: "jobs@acme"} {
		s := &server{answers: map[string]string{"GET " + ml + "/serviceaccounts/kinetic": text}}
		if got, err := Identity(clusterOptions(s.start(t)))(t.Context()); got != want || err != nil {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	for need, answers := range map[NeedError]map[string]string{Namespace: {}, Account: {"GET " + ml: `{}`}} {
		s := &server{answers: answers}
		if _, err := Identity(clusterOptions(s.start(t)))(t.Context()); !errors.Is(err, need) {
			t.Errorf("got %v, want %v", err, need)
		}
	}
	s := &server{answers: map[string]string{"GET " + ml + "/serviceaccounts/kinetic": forbidden("get", "serviceaccounts")}}
	if _, err := Identity(clusterOptions(s.start(t)))(t.Context()); err == nil || err.Error() != "forbidden: you need the verb get on serviceaccounts" {
		t.Errorf("got %v", err)
	}
}

func TestRepairWithoutRights(t *testing.T) {
	s := &server{answers: complete(t)}
	delete(s.answers, "GET "+ml+"/serviceaccounts/kinetic")
	s.answers["POST "+ml+"/serviceaccounts"] = forbidden("create", "serviceaccounts")
	got := Repair(t.Context(), Run(t.Context(), slowly(ClusterChecks(clusterOptions(s.start(t))))))
	if len(got) != 1 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "creating serviceaccounts kinetic in namespace ml: forbidden to bob: you need the verb create on serviceaccounts there") {
		t.Errorf("got %v", got)
	}
}
