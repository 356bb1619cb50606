package image

import (
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	images "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func TestPathwaysVersions(t *testing.T) {
	for text, want := range map[string]string{"0.9.2": "jax-0.9.2", "0.10": "jax-0.10", "0.12.0.1": "jax-0.12.0.1", "jax-0.9.2": "jax-0.9.2", "20260128-jax_0.9.0": "20260128-jax_0.9.0", "latest": "latest"} {
		if got := PathwaysVersion(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	server, proxy := PathwaysImages("", "jax-0.9.2")
	if server != PathwaysRepository+"/server:jax-0.9.2" || proxy != PathwaysRepository+"/proxy_server:jax-0.9.2" {
		t.Errorf("got %s and %s", server, proxy)
	}
}

func TestFindPathways(t *testing.T) {
	server := httptest.NewServer(images.New(images.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/pw"
	for _, ref := range []string{"server:jax-0.8.3", "server:jax-0.5.3", "proxy_server:jax-0.5.3", "server:jax-0.9.1", "server:jax-0.9.2", "server:jax-0.9.4", "server:jax-0.10.0", "server:jax-0.9.4.1", "server:latest",
		"proxy_server:jax-0.8.3", "proxy_server:jax-0.9.0", "proxy_server:jax-0.9.2", "proxy_server:jax-0.9.4", "proxy_server:jax-0.10.0", "proxy_server:jax-0.9.4.1", "proxy_server:latest"} {
		tag, err := name.NewTag(repository + "/" + ref)
		if err != nil {
			t.Fatal(err)
		}
		random, err := random.Image(10, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(tag, random); err != nil {
			t.Fatal(err)
		}
	}
	registry := &Client{}
	found, err := PathwaysVersions(t.Context(), registry, repository)
	if want := []string{"jax-0.8.3", "jax-0.9.2", "jax-0.9.4", "jax-0.9.4.1", "jax-0.10.0"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("got %q, %v, want %q: those with both images", found, err, want)
	}
	if found, err := PathwaysVersions(t.Context(), registry, repository+"/other"); err != nil || len(found) > 0 {
		t.Errorf("no such repository: got %q, %v", found, err)
	}
	runtime, proxy, err := FindPathways(t.Context(), registry, repository, "jax-0.9.2")
	if err != nil || !strings.HasPrefix(runtime, repository+"/server:jax-0.9.2@sha256:") || !strings.HasPrefix(proxy, repository+"/proxy_server:jax-0.9.2@sha256:") {
		t.Errorf("got %s, %s, %v", runtime, proxy, err)
	}
	for version, want := range map[string]string{
		"jax-0.9.3":  repository + "/server:jax-0.9.3 [jax-0.8.3 jax-0.9.2 jax-0.9.4 jax-0.9.4.1]",
		"jax-0.9.1":  repository + "/proxy_server:jax-0.9.1 [jax-0.8.3 jax-0.9.2 jax-0.9.4]",
		"jax-0.11.0": repository + "/server:jax-0.11.0 [jax-0.9.4.1 jax-0.10.0]",
		"jax-0.0.1":  repository + "/server:jax-0.0.1 [jax-0.8.3 jax-0.9.2]",
	} {
		_, _, err := FindPathways(t.Context(), registry, repository, version)
		var missing *MissingPathwaysError
		if !errors.As(err, &missing) || missing.Image+" ["+strings.Join(missing.Near, " ")+"]" != want {
			t.Errorf("%s: got %v, want %s", version, err, want)
		}
	}
	server.Close()
	if _, err := PathwaysVersions(t.Context(), registry, repository); err == nil {
		t.Error("no registry, and no error")
	}
}
