package run

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/job/warm"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// greeting is what a host sends first: its name of the protocol, and a nonce.
var greeting = "KWH1" + strings.Repeat("n", 32)

// lastReached is a warmRun at the place "here" whose last host was at a place, and did something. closed reports whether the connection was.
func lastReached(t *testing.T, place, secrets string, state warm.State) (r *warmRun, closed func() bool) {
	t.Helper()
	now := time.Unix(1000, 0)
	way := &closing{Reader: strings.NewReader(greeting), Writer: io.Discard}
	conn, err := warm.Connect(way, []byte("key"), "uid")
	if err != nil {
		t.Fatal(err)
	}
	s := &warmSearch{stop: func() {}, tried: make(chan struct{}), at: now, connection: connection{conn, state}}
	s.last = kube.WarmHost{Key: place, Secrets: secrets}
	s.last.ID = "cpu-warm-1"
	close(s.tried)
	r = &warmRun{options: &options{clock: clocktesting.NewFakePassiveClock(now)}, search: s, place: submit.WarmPlace{Key: "here"}}
	return r, func() bool { return way.closed }
}

// closing knows whether it was closed.
type closing struct {
	io.Reader
	io.Writer
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// A call runs on the last host only if that is at its place, has its secrets, and is idle.
func TestLastHost(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	key := []byte("the key of the host")
	if err := backend.WarmKeys().Remember("cpu-warm-1", key); err != nil {
		t.Fatal(err)
	}
	ours := submit.Planned{Secrets: map[string]string{"TOKEN": "a"}}
	other := submit.Planned{Secrets: map[string]string{"TOKEN": "b"}}
	idle, busy := warm.State{}, warm.State{Current: "cpu-other"}
	for name, tt := range map[string]struct {
		place, secrets string
		planned        submit.Planned
		state          warm.State
		found, closed  bool
	}{
		"idle":                           {"here", "", submit.Planned{}, idle, true, false},
		"with the secrets":               {"here", ours.WarmSecrets(key), ours, idle, true, false},
		"busy":                           {"here", "", submit.Planned{}, busy, false, false},
		"at another place":               {"there", "", submit.Planned{}, idle, false, true},
		"at another place, busy":         {"there", "", submit.Planned{}, busy, false, true},
		"with another value of a secret": {"here", other.WarmSecrets(key), ours, idle, false, true},
		"whose key is another one":       {"here", ours.WarmSecrets([]byte("another key")), ours, idle, false, true},
	} {
		r, closed := lastReached(t, tt.place, tt.secrets, tt.state)
		r.planned = tt.planned
		got := r.lastHost(t.Context())
		if (got.conn != nil) != tt.found || closed() != tt.closed {
			t.Errorf("%s: found: %t, let go: %t; want %t, %t", name, got.conn != nil, closed(), tt.found, tt.closed)
		}
		if again := r.lastHost(t.Context()); tt.found && again.conn != nil {
			t.Errorf("%s: the connection can be taken twice", name)
		}
		if taken := r.search.take(t.Context(), "cpu-warm-1", r.clock.Now()); (taken.conn != nil) != (tt.state == busy && !tt.closed) {
			t.Errorf("%s: take returns %v", name, taken.conn)
		}
	}
}

// On a machine that has not started the host, its key is in its Secret. Without permission to read that, the reason is not that the
// secrets differ.
func TestSecretsOfAHostOfAnotherMachine(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	key := []byte("the key of the host")
	forbidden := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if forbidden || !strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/ml/secrets/") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"secrets \"x\" is forbidden: User \"ann\" cannot get resource","code":403}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"kind":"Secret","apiVersion":"v1","data":{%q:%q}}`, api.EnvWarmKey, base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(key))))
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewClient(&rest.Config{Host: server.URL}, "ml", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	ours := submit.Planned{Secrets: map[string]string{"TOKEN": "a"}}
	r := &warmRun{options: &options{}, planned: ours, to: destination{cluster: kube.New(client)}}
	host := kube.WarmHost{Secrets: ours.WarmSecrets(key)}
	host.ID, host.Namespace = "cpu-warm-1", "ml"
	if got := r.lacksSecrets(t.Context(), host); got != "" {
		t.Errorf("the same secrets: got %q", got)
	}
	host.Secrets = submit.Planned{Secrets: map[string]string{"TOKEN": "b"}}.WarmSecrets(key)
	if got := r.lacksSecrets(t.Context(), host); got != "the values of the secrets differ" {
		t.Errorf("other secrets: got %q", got)
	}
	forbidden = true
	if got := r.lacksSecrets(t.Context(), host); !strings.Contains(got, "no permission to read the key of the warm host") || !strings.Contains(got, "get on secrets in namespace ml") {
		t.Errorf("without permission: got %q", got)
	}
}

// What a host has said long ago is not used, nor one waited for that is silent.
func TestLastHostThatIsNotUsed(t *testing.T) {
	r, _ := lastReached(t, "here", "", warm.State{})
	late := r.search.at.Add(2 * oldAnswer)
	if _, idle := r.search.lastHost(t.Context(), late); idle {
		t.Error("an old answer counts")
	}
	if r.search.take(t.Context(), "cpu-warm-1", late).conn != nil {
		t.Error("take returns what was asked long ago")
	}
	if r.search.take(t.Context(), "another", r.clock.Now()).conn != nil {
		t.Error("take returns a connection to another host")
	}
	s := r.search
	s.tried, s.list = make(chan struct{}), func() ([]kube.WarmHost, error) { return []kube.WarmHost{{JobSummary: api.JobSummary{ID: "a"}}}, nil }
	if hosts, err := s.found(t.Context(), nil, s.at); len(hosts) != 1 || err != nil {
		t.Errorf("found returns %v, %v while the last host is silent", hosts, err)
	}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	if _, idle := s.lastHost(interrupted, s.at); idle {
		t.Error("a host that is silent counts as idle")
	}
	s.close()
	close(s.tried)
}

// The reason names the host that fits best, wherever it is in the list.
func TestWhyNone(t *testing.T) {
	place := submit.WarmPlace{Key: "ours", Parts: []submit.WarmPart{{Name: "the image", Value: "a:1"}, {Name: "a label", Value: ""}, {Name: "the level", Value: "clean"}}}
	host := func(id, owner, parts string) kube.WarmHost {
		h := kube.WarmHost{Owner: owner, Key: "other", Place: parts}
		h.ID = id
		return h
	}
	far := host("cpu-warm-far", "me", `[{"name":"the image","value":"b:1"},{"name":"a label","value":"a=b"},{"name":"the level","value":"clean"}]`)
	near := host("cpu-warm-near", "me", `[{"name":"the image","value":"a:1"},{"name":"a label","value":""},{"name":"the level","value":"process"}]`)
	others := host("cpu-warm-theirs", "you", near.Place)
	r := &warmRun{place: place, owner: "me"}
	for want, hosts := range map[string][]kube.WarmHost{
		"cpu-warm-near does not fit: the level differs (process there)": {far, near, others},
		"cpu-warm-far does not fit: the image differs (b:1 there)":      {others, far},
		"none is running": {others},
	} {
		if got := r.whyNone(hosts); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
