package resolve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestTwoLoginsOfAHost: a wheel is asked for with the login of its own index, as with deploy tokens of two projects.
// A netrc file has only one for each host, and says so.
func TestTwoLoginsOfAHost(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := strings.Split(r.URL.Path, "/")[1]
		switch user, _, _ := r.BasicAuth(); {
		case user != "user-"+part:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/two/simple/beta/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!DOCTYPE html><a href="/two/files/beta-1-py3-none-any.whl#sha256=%s">beta</a>`, hash)
		case !strings.Contains(r.URL.Path, "/files/"):
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	index := func(name string) string {
		return strings.Replace(s.URL, "://", "://user-"+name+":"+secret+"@", 1) + "/" + name + "/simple"
	}
	r := without(t)
	w := requirements(t, "--index-url "+index("one"), "--extra-index-url "+index("two"), "beta==1 --hash=sha256:"+hash)
	env, err := r.Resolve(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	client, err := r.Client(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{env.Packages[0].Wheel.URL, s.URL + "/one/files/alpha-1-py3-none-any.whl"} {
		answer, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", address, answer.Status)
		}
	}
	text, others, err := r.Netrc(t.Context(), w, nil)
	if err != nil || text != "machine 127.0.0.1 login user-one password "+secret+"\n" || !slices.Equal(others, []string{"127.0.0.1"}) {
		t.Errorf("netrc %q, others for %v, %v", text, others, err)
	}
	if hosts, _, err := r.Hosts(t.Context(), w, nil); err != nil || !slices.Equal(hosts, []string{"127.0.0.1"}) {
		t.Errorf("hosts %v, %v", hosts, err)
	}
	w = requirements(t, "--index-url "+index("one"), "--extra-index-url "+strings.Replace(index("two"), "user-two", "user-one", 1), "beta")
	if text, others, err := r.Netrc(t.Context(), w, nil); err != nil || strings.Count(text, "\n") != 1 || len(others) > 0 {
		t.Errorf("one login for both: netrc %q, others for %v, %v", text, others, err)
	}
}
