//go:build unix

package main

import (
	"errors"
	"os/exec"
	"testing"

	"google.golang.org/api/container/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver/apiservertest"
)

func TestGKESaysTheVersionOfTheAPIServer(t *testing.T) {
	server, kubernetes := gcptest.New(t), apiservertest.Start()
	t.Cleanup(kubernetes.Close)
	if err := sameVersion(server, &rest.Config{Host: kubernetes.URL, BearerToken: "demo", TLSClientConfig: rest.TLSClientConfig{CAData: kubernetes.Authority()}}); err != nil {
		t.Fatal(err)
	}
	server.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main"})
	if got, want := server.Cluster("acme", "us-central1-a", "main").CurrentMasterVersion, "1.34.1-gke.1829001"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheCommandHasAGoogleCloud(t *testing.T) {
	script := `test "$KINETIC_PROJECT" = acme && test -f "$GOOGLE_APPLICATION_CREDENTIALS" && test ! -e "$KUBECONFIG" &&
		case $CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER in http://127.0.0.1:*) exit 3 ;; esac`
	var exit *exec.ExitError
	if err := demo(t.Context(), false, nil, []string{"/bin/sh", "-c", script}); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %v, want exit code 3", err)
	}
}
