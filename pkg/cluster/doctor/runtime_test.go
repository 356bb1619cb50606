package doctor

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	images "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
)

func TestRuntime(t *testing.T) {
	server := httptest.NewServer(images.New(images.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, ref := range []string{"one/server:jax-0.9.2", "one/proxy_server:jax-0.9.2", "half/server:jax-0.9.2", "old/server:jax-0.5.3", "old/proxy_server:jax-0.5.3",
		"some/server:jax-0.9.2", "some/proxy_server:jax-0.9.2", "some/server:jax-0.10.0", "some/proxy_server:jax-0.10.0", "some/server:latest", "some/proxy_server:latest"} {
		tag, err := name.NewTag(host + "/" + ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(tag, empty.Image); err != nil {
			t.Fatal(err)
		}
	}
	for repository, want := range map[string]Finding{
		host + "/some":    Good("%s/some has 2 versions, jax-0.9.2 to jax-0.10.0", host),
		host + "/one":     Good("%s/one has jax-0.9.2", host),
		host + "/half":    {State: Wrong, Detail: host + "/half has no server and proxy_server for jax 0.8.3 or newer"},
		host + "/old":     {State: Wrong, Detail: host + "/old has no server and proxy_server"},
		host + "/nothing": {State: Wrong, Detail: "name a copy that has them with KINETIC_PATHWAYS_IMAGES"},
		"127.0.0.1:1/pw":  {State: Skipped, Detail: "could not be looked for: listing the images of 127.0.0.1:1/pw/server"},
	} {
		_, checks := GoogleChecks(GoogleOptions{Runtime: &RuntimeImages{Repository: repository, Registry: &image.Client{}}})
		for _, r := range Run(t.Context(), checks) {
			if r.Name == runtimeCheck && (r.State != want.State || !strings.Contains(r.Detail, want.Detail)) {
				t.Errorf("%s: got %s, %s", repository, r.State, r.Detail)
			}
		}
		if last := checks[len(checks)-1]; last.Name != runtimeCheck {
			t.Errorf("the last check is %s", last.Name)
		}
	}
}
