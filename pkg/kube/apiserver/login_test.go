package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// counting is a program that gets credentials: its first token is 1, the next 2.
const counting = `#!/bin/sh
cd "${0%/*}" && echo >>runs
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%d"}}' $(wc -l <runs)
`

// A request is made again, once, after the server no longer accepts the credentials.
func TestALoginThatHasExpired(t *testing.T) {
	program := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(program, []byte(counting), 0o700); err != nil {
		t.Fatal(err)
	}
	valid := "1"
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		asked = append(asked, r.Method+string(body)+" with "+token)
		if token != valid {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401,"message":"Unauthorized"}`)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(s.Close)
	c, err := NewClient(&rest.Config{Host: s.URL, ExecProvider: &clientcmdapi.ExecConfig{
		Command: program, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	get := func() error { return c.Get(t.Context(), &struct{}{}, nil, "/api/v1/nodes") }
	post := func() error { return c.Send(t.Context(), http.MethodPost, "a", nil, "/api/v1/nodes") }
	for _, step := range []struct {
		valid string
		send  func() error
		fails bool
		want  string
	}{
		{"1", get, false, "GET with 1"},
		{"2", get, false, "GET with 1, GET with 2"},
		{"3", post, false, `POST"a" with 2, POST"a" with 3`},
		{"none", get, true, "GET with 3, GET with 4"},
	} {
		valid, asked = step.valid, nil
		err := step.send()
		if got := strings.Join(asked, ", "); got != step.want || apierrors.IsUnauthorized(err) != step.fails || !step.fails && err != nil {
			t.Errorf("asked %s, want %s; %v", got, step.want, err)
		}
	}
}
