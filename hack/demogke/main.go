//go:build unix

// Command demogke is a place to try the commands that manage GKE clusters, without an account: it
// serves Google Cloud's APIs on this machine, and starts a shell, or the command that its arguments
// are, in which Kinetic finds them. Behind every cluster stands an API server that only stores
// objects or, with -kubernetes, the cluster of the kubeconfig; pools get nodes there. Everything
// but objects in that cluster is gone when the shell ends. `make demo-gke` builds what it needs and
// starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"cloud.google.com/go/auth/credentials"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/hack/controlplane"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver/apiservertest"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// authPlugin is the program that a kubeconfig of GKE names. In the demo, it is this one.
const authPlugin = "gke-gcloud-auth-plugin"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var err error
	if filepath.Base(os.Args[0]) == authPlugin {
		err = answerKubectl(ctx, os.Args[1:])
	} else {
		real := flag.Bool("kubernetes", false, "put the cluster of the kubeconfig behind GKE's")
		lent := flag.String("machines", "", "`NODES` of that cluster, with commas, that pools with accelerators borrow: jobs run there, without chips")
		flag.Parse()
		err = demo(ctx, *real, strings.FieldsFunc(*lent, func(r rune) bool { return r == ',' }), flag.Args())
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintf(os.Stderr, "demo-gke: %v\n", err)
		os.Exit(1)
	}
}

// demo serves Google Cloud until a command, or a shell, has ended.
func demo(ctx context.Context, real bool, lent, command []string) error {
	server, err := gcptest.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	server.SetPageSize(100)
	server.SetPolls(3)
	// A new project has no APIs enabled.
	server.SetProject(gcptest.DefaultProject, func(p *gcptest.Project) { p.APIs = map[string]bool{gcp.Billing.API(): true} })
	home, err := os.MkdirTemp("", "demo-gke-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := install(home); err != nil {
		return err
	}
	if real {
		return withKubernetes(ctx, server, lent, func(env []string) error {
			return run(ctx, command, append(environment(server, home), env...), someJobs)
		})
	}
	kubernetes := apiservertest.Start()
	defer kubernetes.Close()
	kubernetes.Put("/apis/storage.k8s.io/v1/csidrivers/"+diagnose.Driver, map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": map[string]any{"name": diagnose.Driver}})
	server.SetEndpoint(kubernetes.Listener.Addr().String(), kubernetes.AuthorityData())
	cluster := &rest.Config{Host: kubernetes.URL, BearerToken: "demo", TLSClientConfig: rest.TLSClientConfig{CAData: kubernetes.Authority()}}
	return withNodes(ctx, server, cluster, nil, func() error { return run(ctx, command, environment(server, home), noJobs) })
}

// ofJobs are the variables of the cluster of this machine without which no job runs there.
var ofJobs = []string{"KINETIC_IMAGE", "KINETIC_BASE_IMAGE", "KINETIC_IMAGE_REPO", "STORAGE_EMULATOR_HOST"}

// withKubernetes puts the cluster of the kubeconfig behind all clusters while run runs, and the server for Cloud
// Storage that its jobs use behind all buckets. run gets the variables for that.
func withKubernetes(ctx context.Context, server *gcptest.Server, lent []string, run func(env []string) error) error {
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of the cluster to stand behind: %w; start one with make cluster", err)
	}
	plane, err := controlplane.Serve(server, cluster)
	if err != nil {
		return err
	}
	defer plane.Close()
	env := []string{"DEMO_GKE_KUBECONFIG=" + os.Getenv("KUBECONFIG")} // the demo has one of its own
	for _, name := range ofJobs {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
		storage, err := serveBuckets(server, emulator)
		if err != nil {
			return err
		}
		defer storage.Close()
		env = append(env, gcp.Storage.Variable()+"="+storage.URL+root+"/storage/v1/")
	}
	return withNodes(ctx, server, cluster, lent, func() error { return run(env) })
}

// withNodes gives the pools nodes in a cluster while run runs.
func withNodes(ctx context.Context, server *gcptest.Server, cluster *rest.Config, lent []string, run func() error) error {
	if err := sameVersion(server, cluster); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone, err := keepNodes(ctx, server, cluster, lent)
	if err != nil {
		return err
	}
	err = run()
	cancel()
	return errors.Join(err, <-gone)
}

// sameVersion has GKE say the version of the API server that is behind its clusters.
func sameVersion(server *gcptest.Server, cluster *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return err
	}
	version, err := client.ServerVersion()
	if err != nil {
		return fmt.Errorf("reading the version of the API server: %w", err)
	}
	server.SetVersion(strings.TrimPrefix(version.GitVersion, "v"))
	return nil
}

// install makes this program the one that gives kubectl its tokens.
func install(home string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(home, authPlugin))
}

// environment returns the variables of the shell. The user's own settings are out of reach, so that
// nothing of them is changed.
func environment(server *gcptest.Server, home string) []string {
	var env []string
	for _, each := range os.Environ() {
		name, _, _ := strings.Cut(each, "=")
		if !strings.HasPrefix(name, "KINETIC_") && !strings.HasPrefix(name, "CLOUDSDK_") && name != "STORAGE_EMULATOR_HOST" {
			env = append(env, each)
		}
	}
	env = append(env, server.Environ()...)
	return append(env,
		"KUBECONFIG="+filepath.Join(home, "kubeconfig"),
		"KINETIC_PROFILES_FILE="+filepath.Join(home, "profiles.json"),
		"CLOUDSDK_CONFIG="+filepath.Join(home, "gcloud"),
		"KINETIC_PROJECT="+gcptest.DefaultProject,
		"PATH="+home+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

const welcome = `Google Cloud's APIs are served on this machine now, for the project acme. In this shell, try

  kubectl kinetic up --dry-run           what a cluster needs, and what it would cost
  kubectl kinetic up --cluster demo      make it
  kubectl kinetic pool add v6e-8 --spot --min-nodes 1 --yes
  kubectl kinetic pool list
  kubectl kinetic status
  kubectl kinetic doctor
  kubectl kinetic down --cluster demo

%s Leave with exit; nothing remains.
`

// What the welcome says of jobs.
const (
	noJobs   = "Jobs don't run here, not even the one that up suggests: that is make demo-gke CLUSTER=local."
	someJobs = "Jobs run on the cluster of this machine; with an accelerator add --cpu 100m --memory 200Mi."
)

// run runs the command, or a shell with a welcome.
func run(ctx context.Context, command, env []string, ofWelcome string) error {
	if len(command) == 0 {
		fmt.Fprintf(os.Stderr, welcome+"\n", ofWelcome)
		shell := os.Getenv("SHELL")
		if shell == "" {
			shell = "/bin/sh"
		}
		command = []string{shell}
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is for the shell and what it runs
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr, c.Env = os.Stdin, os.Stdout, os.Stderr, env
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	return c.Run()
}

// answerKubectl does what the plugin for GKE's credentials does.
func answerKubectl(ctx context.Context, args []string) error {
	if slices.Contains(args, "--version") {
		fmt.Println("of the demo")
		return nil
	}
	account, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}})
	if err != nil {
		return err
	}
	token, err := account.Token(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Printf(`{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":%q}}`+"\n", token.Value)
	return err
}

// plain returns a configuration for the cluster itself, with which many requests may be made.
func plain(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.QPS = -1
	return c
}
