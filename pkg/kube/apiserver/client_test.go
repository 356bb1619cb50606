package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

func TestClient(t *testing.T) {
	ahead := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = []string{ahead}
		w.Header().Set("Content-Type", "application/json")
		sent, _ := io.ReadAll(r.Body)
		switch line := r.Method + " " + r.URL.String() + " " + r.Header.Get("Content-Type") + " " + string(sent); line {
		case "GET /api/v1/nodes?limit=1  ", `POST /api/v1/nodes application/json {"name":"n"}`, `PATCH /api/v1/nodes/n?fieldManager=kinetic&force=true application/apply-patch+yaml {"name":"n"}`:
			_, _ = io.WriteString(w, `{"answer":"`+r.Method+`"}`)
		case "GET /api/v1/secrets  ":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`)
		case "DELETE /api/v1/nodes/n application/json null":
			_, _ = io.WriteString(w, `not JSON`)
		default:
			t.Errorf("an unexpected request: %s", line)
		}
	}))
	t.Cleanup(s.Close)
	c, err := NewClient(&rest.Config{Host: s.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Ahead(); got != 0 {
		t.Errorf("before the first answer the server's clock is ahead by %v", got)
	}
	var got struct{ Answer string }
	if err := c.Get(t.Context(), &got, map[string]string{"limit": "1"}, "/api/v1/nodes"); err != nil || got.Answer != "GET" {
		t.Errorf("GET: %q, %v", got.Answer, err)
	}
	if err := c.Send(t.Context(), "POST", map[string]string{"name": "n"}, &got, "/api/v1", "nodes"); err != nil || got.Answer != "POST" {
		t.Errorf("POST: %q, %v", got.Answer, err)
	}
	if err := c.Apply(t.Context(), "kinetic", map[string]any{"name": "n"}, "/api/v1/nodes/n"); err != nil {
		t.Errorf("PATCH: %v", err)
	}
	if err := c.Get(t.Context(), &got, nil, "/api/v1/secrets"); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want the server's reason", err)
	}
	if err := c.Send(t.Context(), "DELETE", nil, &got, "/api/v1/nodes/n"); err == nil {
		t.Error("an answer that is not JSON is accepted")
	}
	if got := c.Ahead().Round(time.Minute); got != time.Hour {
		t.Errorf("the server's clock is ahead by %v, want an hour", got)
	}
}
