package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// If creating Roles is forbidden, the user gets one warning that says why, and the job starts.
// A failure with an overlay's own Role, or for another reason, is an error.
func TestStartWithoutRightsOnRoles(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		reason metav1.StatusReason
		says   string
		more   []*unstructured.Unstructured
		told   []string // parts of one line
		fails  string
	}{
		"no right":             {http.StatusForbidden, metav1.StatusReasonForbidden, noRight, nil, []string{"no permission to create the Role that lets", "releases the hosts"}, ""},
		"a quota is full":      {http.StatusForbidden, metav1.StatusReasonForbidden, fullQuota, nil, []string{"the cluster refuses the Role that lets", "releases the hosts: creating roles.rbac.authorization.k8s.io", fullQuota}, ""},
		"invalid":              {http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "invalid", nil, nil, "roles"},
		"one of the overlay's": {http.StatusForbidden, metav1.StatusReasonForbidden, noRight, []*unstructured.Unstructured{object("rbac.authorization.k8s.io/v1", "Role", "mine", nil)}, nil, "roles.rbac.authorization.k8s.io mine"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, told := startSet(t, c.more...)
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, rbacPath) {
					return false
				}
				failWith(w, c.code, c.reason, c.says)
				return true
			}
			err := w.Start(t.Context(), a1, nil)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || s.at(setPath) != nil {
					t.Errorf("got %v, want %q in it and no set", err, c.fails)
				}
				return
			}
			if err != nil || s.at(setPath) == nil {
				t.Errorf("got %v and objects %v", err, s.all())
			}
			line := strings.Join(*told, "")
			if len(*told) != 1 || slices.ContainsFunc(c.told, func(part string) bool { return !strings.Contains(line, part) }) || !strings.Contains(line, "kinetic-release") {
				t.Errorf("told %q, want a line with %q", *told, c.told)
			}
		})
	}
}

// Without permission to create the NetworkPolicy of the Pathways runtime, nothing is left, and the error says how to do without.
func TestStartWithoutRightsOnPolicies(t *testing.T) {
	policy := object("networking.k8s.io/v1", "NetworkPolicy", setName, nil)
	policy.SetLabels(map[string]string{api.LabelJobID: "a1"})
	for name, begin := range map[string]func(*Submission) error{
		"a start":   func(w *Submission) error { return w.Start(t.Context(), a1, nil) },
		"a dry run": func(w *Submission) error { _, err := w.DryRun(t.Context()); return err },
	} {
		s, w, _ := startSet(t, policy)
		s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/networkpolicies") {
				return false
			}
			fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
			return true
		}
		if err := begin(w); err == nil || !strings.Contains(err.Error(), "or use --no-network-policy") || s.at(setPath) != nil {
			t.Errorf("%s: got %v and objects %v", name, err, s.all())
		}
	}
}

// Without permission to create Secrets, the user gets a warning, and the job's hosts have no key.
// If the Secret has values of the user, or something else refuses it, that is an error.
func TestStartWithoutRightsOnSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		secrets map[string]string
		says    string
		told    int
		fails   bool
	}{
		"the key of the hosts": {map[string]string{api.Contract.Names.GroupKey: "k"}, noRight, 1, false},
		"a value besides":      {map[string]string{api.Contract.Names.GroupKey: "k", "TOKEN": "hush"}, noRight, 0, true},
		"a quota is full":      {map[string]string{api.Contract.Names.GroupKey: "k"}, fullQuota, 0, true},
		"a policy":             {map[string]string{api.Contract.Names.GroupKey: "k"}, aPolicy, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, told := startSet(t)
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/secrets") {
					return false
				}
				failWith(w, http.StatusForbidden, metav1.StatusReasonForbidden, c.says)
				return true
			}
			err := w.Start(t.Context(), a1, c.secrets)
			if c.fails && c.says != noRight && !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v, want the server's words in it", err)
			}
			if (err != nil) != c.fails || (s.at(setPath) == nil) != c.fails {
				t.Errorf("got %v and objects %v", err, s.all())
			}
			lines := slices.DeleteFunc(*told, func(line string) bool { return !strings.Contains(line, "Secret kinetic-a1-env") })
			if len(lines) != c.told {
				t.Errorf("told %q, want %d lines", lines, c.told)
			}
		})
	}
}
