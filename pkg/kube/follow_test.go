package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// scripted is a resource with prepared replies, which it gives one after the other.
type scripted struct {
	replies []reply
	asked   []string // list, or watch and the version from which on
}

// reply is a list of names, or the events of one watch, and how it ends.
type reply struct {
	list   string // "a b"
	events string // "+a@5 ~b@6 -a@7 !@9": added, modified, deleted, a bookmark
	code   int    // of a refusal
	inner  bool   // the code comes as an event, in a watch that was accepted
	broken bool
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ask := "list"
	if q := r.URL.Query(); q.Get("watch") != "" {
		ask = "watch " + q.Get("resourceVersion")
	}
	s.asked = append(s.asked, ask)
	if len(s.replies) == 0 {
		fail(w, http.StatusForbidden, "Forbidden") // the script is over
		return
	}
	a := s.replies[0]
	s.replies = s.replies[1:]
	if a.code != 0 && !a.inner {
		fail(w, a.code, reasonOf[a.code])
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if ask == "list" {
		items := []any{}
		for name := range strings.FieldsSeq(a.list) {
			items = append(items, podNamed(name, "1"))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "4"}, "items": items})
		return
	}
	for word := range strings.FieldsSeq(a.events) {
		name, version, _ := strings.Cut(word[1:], "@")
		kind := map[byte]string{'+': "ADDED", '~': "MODIFIED", '-': "DELETED", '!': "BOOKMARK"}[word[0]]
		_ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": podNamed(name, version)})
	}
	if a.inner {
		_, _ = fmt.Fprintf(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}}`, reasonOf[a.code], a.code)
	}
	if a.broken {
		_, _ = io.WriteString(w, `{"type":"ADD`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

var reasonOf = map[int]metav1.StatusReason{http.StatusGone: "Expired", http.StatusForbidden: "Forbidden", http.StatusUnauthorized: "Unauthorized", http.StatusServiceUnavailable: "ServiceUnavailable"}

func podNamed(name, version string) map[string]any {
	return map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": name, "resourceVersion": version}}
}

func TestFollow(t *testing.T) {
	tests := map[string]struct {
		replies     []reply
		want, asked string
	}{
		"a list, then changes": {[]reply{{list: "a b"}, {events: "+c@5 ~a@6 -b@7"}},
			"[a b] c a -b", "list, watch 4, watch 7"},
		"a watch that ends is taken up where it was": {[]reply{{list: "a"}, {events: "+b@5"}, {events: "+c@6"}},
			"[a] b c", "list, watch 4, watch 5, watch 6"},
		"a bookmark says where that is, and no more": {[]reply{{list: "a"}, {events: "!@9"}, {events: "+b@10"}},
			"[a] b", "list, watch 4, watch 9, watch 10"},
		"a connection that breaks": {[]reply{{list: "a"}, {events: "+b@5", broken: true}, {events: "+c@6"}},
			"[a] b c", "list, watch 4, watch 5, watch 6"},
		"a server that is busy": {[]reply{{code: 503}, {list: "a"}, {code: 503}, {events: "+b@5"}},
			"[a] b", "list, list, watch 4, watch 4, watch 5"},
		"a version that is too old": {[]reply{{list: "a"}, {events: "+b@5"}, {code: 410}, {list: "b c"}, {events: "+d@5"}},
			"[a] b [b c] d", "list, watch 4, watch 5, list, watch 4, watch 5"},
		"the same, told in the watch": {[]reply{{list: "a"}, {code: 410, inner: true}, {list: ""}},
			"[a] []", "list, watch 4, list, watch 4"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scripted{replies: tt.replies}
			server := httptest.NewServer(s)
			defer server.Close()
			c, err := NewClient(&rest.Config{Host: server.URL, QPS: -1}, "ml", nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = c.follow(t.Context(), podsOf(c), func(ch change) { got = append(got, changeText(t, ch)) })
			if !apierrors.IsForbidden(err) {
				t.Errorf("ended with %v", err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("changes (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.asked, strings.Join(s.asked, ", ")); diff != "" {
				t.Errorf("requests (-want +got)\n%s", diff)
			}
		})
	}
}

// If each version is already too old, there are still pauses between lists.
func TestFollowOfWhatIsAlwaysTooOld(t *testing.T) {
	const tooMany = 60
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the bubble
		defer cancel()
		lists := 0
		c := clientOf(t, "ml", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") != "" {
				fail(w, http.StatusGone, metav1.StatusReasonExpired)
				return
			}
			if lists++; lists == tooMany {
				cancel()
			}
			answerWith(w, http.StatusOK, corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "4"}})
		})
		err := c.follow(ctx, podsOf(c), func(change) {})
		if !errors.Is(err, context.DeadlineExceeded) || lists < 10 {
			t.Errorf("%d lists in a minute, %v", lists, err)
		}
	})
}

// clientOf returns a client whose requests a handler answers, without a network.
func clientOf(t *testing.T, namespace string, handler http.HandlerFunc) *Client {
	t.Helper()
	c, err := NewClient(&rest.Config{Host: "http://api.example", QPS: -1, Transport: inProcess(handler)}, namespace, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type inProcess http.HandlerFunc

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	p(answer, r)
	return answer.Result(), nil
}

func podsOf(c *Client) selection {
	return selection{kind: c.pods(), list: func() runtime.Object { return &corev1.PodList{} }}
}

// changeText writes a change as the scripts do.
func changeText(t *testing.T, ch change) string {
	t.Helper()
	name := func(o runtime.Object) string {
		accessor, err := meta.Accessor(o)
		if err != nil {
			t.Fatal(err)
		}
		return accessor.GetName()
	}
	switch {
	case ch.reset:
		var names []string
		for _, o := range ch.all {
			names = append(names, name(o))
		}
		return fmt.Sprint(names)
	case ch.deleted:
		return "-" + name(ch.object)
	default:
		return name(ch.object)
	}
}

// A login that expires while a watch runs ends it only if the next one is not accepted, either.
func TestFollowAfterALoginHasExpired(t *testing.T) {
	for name, tt := range map[string]struct {
		replies []reply
		want    string
		asked   string
	}{
		"once":  {[]reply{{list: "a"}, {code: 401}, {events: "+b@5"}}, "[a] b", "list, watch 4, watch 4, watch 5"},
		"twice": {[]reply{{list: "a"}, {code: 401}, {code: 401}, {events: "+b@5"}}, "[a]", "list, watch 4, watch 4"},
	} {
		s := &scripted{replies: tt.replies}
		var got []string
		c := clientOf(t, "ml", s.ServeHTTP)
		err := c.follow(t.Context(), podsOf(c), func(ch change) { got = append(got, changeText(t, ch)) })
		if apierrors.IsUnauthorized(err) != (name == "twice") || strings.Join(got, " ") != tt.want || strings.Join(s.asked, ", ") != tt.asked {
			t.Errorf("%s: %v after %q and %q", name, err, got, s.asked)
		}
	}
}
