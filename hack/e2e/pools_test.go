package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cloud.google.com/go/auth/credentials"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/api/container/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kinetic/kinetic/hack/controlplane"
	"github.com/kubectl-kinetic/kinetic/hack/kwok"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
)

// poolsKey is the key of a script's pools.
type poolsKey struct{}

// pools is GKE's side of the cluster, nil until it is started.
type pools struct{ *gcptest.Server }

// poolsWord is the word pools of scripts:
//
//	pools start        serves Google Cloud, with this cluster as main in us-central1-a of project acme
//	pools new [USER]   serves Google Cloud with acme as a project that was just made; this cluster is
//	                   behind every one that is created there, with the rights of that user
//	pools nodes NAME   gives a node pool its nodes, at most 4, which exist in the API only
func poolsWord(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.Value(poolsKey{}).(*pools)
	switch {
	case neg:
		ts.Fatalf("pools can't be negated")
	case len(args) == 1 && args[0] == "start":
		p.start(ts)
	case len(args) == 1 && args[0] == "new":
		p.startNew(ts, "")
	case len(args) == 2 && args[0] == "new":
		p.startNew(ts, args[1])
	case len(args) == 2 && args[0] == "nodes":
		p.nodes(ts, args[1])
	default:
		ts.Fatalf("usage: pools start, pools new [USER], or pools nodes NAME")
	}
}

// start starts Google Cloud with a cluster.
func (p *pools) start(ts *testscript.TestScript) {
	p.serve(ts)
	p.AddCluster(gcptest.DefaultProject, "us-central1-a", &container.Cluster{Name: "main"})
}

// startNew starts Google Cloud with a project that has no API enabled. The script gets a kubeconfig and
// profiles of its own; the kubeconfig of this cluster is $CLUSTER_CONFIG. What gives rights to a user in the
// whole cluster has the label kubebox/$NAMESPACE, and is deleted in the end.
func (p *pools) startNew(ts *testscript.TestScript, user string) {
	p.serve(ts)
	p.SetProject(gcptest.DefaultProject, func(project *gcptest.Project) { project.APIs = map[string]bool{gcp.Billing.API(): true} })
	cluster, err := clientcmd.BuildConfigFromFlags("", ts.Getenv("KUBECONFIG"))
	ts.Check(err)
	if user != "" {
		cluster.Impersonate.UserName = user
		label := "kubebox/" + ts.Getenv("NAMESPACE")
		ts.Defer(func() {
			_ = exec.Command(ts.Getenv("KUBEBOX"), "kubectl", "delete", "clusterroles,clusterrolebindings", "-l", label).Run()
		})
	}
	plane, err := controlplane.Serve(p.Server, cluster)
	ts.Check(err)
	ts.Defer(plane.Close)
	ts.Setenv("CLUSTER_CONFIG", ts.Getenv("KUBECONFIG"))
	home := ts.Getenv("HOME")
	ts.Setenv("KUBECONFIG", filepath.Join(home, "kubeconfig"))
	ts.Setenv("KINETIC_PROFILES_FILE", filepath.Join(home, "profiles.json"))
	file := ts.Getenv("GOOGLE_APPLICATION_CREDENTIALS")
	account, err := credentials.DetectDefault(&credentials.DetectOptions{CredentialsFile: file, //nolint:staticcheck // the file is our own
		Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}})
	ts.Check(err)
	token, err := account.Token(context.Background())
	ts.Check(err)
	// The program that a kubeconfig of GKE names.
	plugin := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] && exec echo of the test\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":%q}}'\n", token.Value)
	bin := filepath.Join(home, "bin")
	ts.Check(os.Mkdir(bin, 0o700))
	ts.Check(os.WriteFile(filepath.Join(bin, "gke-gcloud-auth-plugin"), []byte(plugin), 0o700))
	ts.Setenv("PATH", bin+string(filepath.ListSeparator)+ts.Getenv("PATH"))
}

// serve starts Google Cloud. Operations are done at once.
func (p *pools) serve(ts *testscript.TestScript) {
	s, err := gcptest.Start()
	ts.Check(err)
	ts.Defer(s.Close)
	s.SetPolls(0)
	for _, variable := range s.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		ts.Setenv(name, value)
	}
	p.Server = s
}

// mostNodes is how many nodes a pool gets here.
const mostNodes = 4

// nodes makes the nodes of a pool as GKE would.
func (p *pools) nodes(ts *testscript.TestScript, name string) {
	cluster := p.Cluster(gcptest.DefaultProject, "us-central1-a", "main")
	label := "kubebox/" + ts.Getenv("NAMESPACE")
	for _, pool := range cluster.NodePools {
		if pool.Name != name {
			continue
		}
		var nodes bytes.Buffer
		for i := range min(gke.Limits(pool).Max, mostNodes) {
			node := kwok.Node(pool, fmt.Sprintf("%s-%s-%d", ts.Getenv("NAMESPACE"), name, i), label)
			ts.Check(json.NewEncoder(&nodes).Encode(node))
		}
		ts.Defer(func() { // the kubelets of these nodes are gone with them
			_ = exec.Command(ts.Getenv("KUBEBOX"), "kubectl", "delete", "nodes", "-l", label, "--wait=false").Run()
		})
		create := exec.Command(ts.Getenv("KUBEBOX"), "kubectl", "create", "-f", "-")
		create.Stdin = &nodes
		if out, err := create.CombinedOutput(); err != nil {
			ts.Fatalf("creating nodes: %v\n%s", err, out)
		}
		return
	}
	ts.Fatalf("there is no node pool %s", name)
}
