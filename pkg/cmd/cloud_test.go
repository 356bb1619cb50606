package cmd_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/api/container/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver/apiservertest"
	"github.com/kubectl-kinetic/kinetic/pkg/kube/diagnose"
)

// cloudKey is the key of a script's cloudOf.
type cloudKey struct{}

// cloudOf is the Google Cloud of a script, nil until it is started.
type cloudOf struct {
	*gcptest.Server
	kubernetes *apiservertest.Server // behind each cluster, of gcp new
}

// cloud is the word gcp of scripts:
//
//	gcp start [CLUSTER]       serves Google Cloud, with a cluster in us-central1-a of project acme
//	gcp new                   serves Google Cloud with acme as a project that was just made, and an API
//	                          server behind each cluster
//	gcp autopilot CLUSTER     adds a cluster in Autopilot mode
//	gcp networks CLUSTER      adds a cluster whose accelerators can have networks of their own
//	gcp regional CLUSTER      adds the same in the region us-central1
//	gcp deleting CLUSTER      adds a cluster that is being deleted
//	gcp deny PERMISSION       takes a permission from the account
//	gcp expire                ends the credentials
//	gcp machines ZONE TYPE…   says which machine types a zone has
//	gcp gpus ZONE TYPE…       says which GPUs can be attached in a zone
//	gcp quota METRIC LIMIT    sets a quota of us-central1
//	gcp fail KIND MESSAGE     has the next operation of a kind fail
//	gcp polls N               sets how many looks an operation takes
//	gcp await REGEXP          waits until a request was answered: "POST container/v1/…"
//	gcp finish                ends all operations
//	gcp job ID                puts a job into each cluster of gcp new, the second time that jobs are listed
//	gcp changes FILE          writes the changes that were asked for so far to a file
func cloud(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gcp COMMAND ARGUMENT…")
	}
	c := ts.Value(cloudKey{}).(*cloudOf)
	command, args := args[0], args[1:]
	switch command {
	case "start":
		c.start(ts, args)
		return
	case "new":
		c.startNew(ts)
		return
	}
	switch {
	case command == "autopilot" && len(args) == 1:
		c.AddCluster(gcptest.DefaultProject, "us-central1", &container.Cluster{Name: args[0], Autopilot: &container.Autopilot{Enabled: true}})
	case (command == "networks" || command == "regional") && len(args) == 1:
		c.AddCluster(gcptest.DefaultProject, map[string]string{"networks": "us-central1-a", "regional": "us-central1"}[command], &container.Cluster{Name: args[0], IpAllocationPolicy: &container.IPAllocationPolicy{UseIpAliases: true},
			NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2, EnableMultiNetworking: true}})
	case command == "deleting" && len(args) == 1:
		c.AddCluster(gcptest.DefaultProject, "us-central1-a", &container.Cluster{Name: args[0]})
		c.SetClusterStatus(gcptest.DefaultProject, "us-central1-a", args[0], "STOPPING")
	case command == "deny" && len(args) == 1:
		c.Deny(args[0])
	case command == "expire" && len(args) == 0:
		c.Expire()
	case command == "machines" && len(args) > 0:
		c.SetMachineTypes(args[0], args[1:]...)
	case command == "gpus" && len(args) > 0:
		c.SetGPUs(args[0], args[1:]...)
	case command == "quota" && len(args) == 2:
		limit, err := strconv.ParseFloat(args[1], 64)
		ts.Check(err)
		c.SetQuota("us-central1", args[0], limit, 0)
	case command == "fail" && len(args) == 2:
		c.FailOperation(gcptest.OperationFault{Kind: args[0], Error: &gcptest.Error{Code: 429, Message: args[1]}})
	case command == "polls" && len(args) == 1:
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		c.SetPolls(n)
	case command == "await" && len(args) == 1:
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		ts.Check(c.Await(ctx, args[0]))
	case command == "finish" && len(args) == 0:
		c.FinishOperations()
	case command == "job" && len(args) == 1:
		c.addJob(args[0])
	case command == "changes" && len(args) == 1:
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(append(c.Changes(), ""), "\n")), 0o600))
	default:
		ts.Fatalf("there is no gcp %s %q", command, args)
	}
}

// startNew starts Google Cloud with a project that has no API enabled. Its clusters have the add-on for
// Cloud Storage FUSE.
func (c *cloudOf) startNew(ts *testscript.TestScript) {
	c.start(ts, nil)
	c.SetProject(gcptest.DefaultProject, func(p *gcptest.Project) { p.APIs = map[string]bool{gcp.Billing.API(): true} })
	kubernetes := apiservertest.Start()
	c.kubernetes = kubernetes
	ts.Defer(kubernetes.Close)
	kubernetes.Put("/apis/storage.k8s.io/v1/csidrivers/"+diagnose.Driver, map[string]any{"kind": "CSIDriver", "metadata": map[string]any{"name": diagnose.Driver}})
	c.SetEndpoint(kubernetes.Listener.Addr().String(), kubernetes.AuthorityData())
	// The program that a kubeconfig of GKE names. The server takes every token.
	plugin := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "gke-gcloud-auth-plugin")
	ts.Check(os.WriteFile(plugin, []byte("#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"x\"}}'\n"), 0o700))
}

// addJob puts a job into the clusters, which the first list from now on lacks.
func (c *cloudOf) addJob(id string) {
	var lists atomic.Int32
	c.kubernetes.Before(func(method, path string) (int, string) {
		if path == "/apis/batch/v1/jobs" && lists.Add(1) == 2 {
			c.kubernetes.Put("/apis/batch/v1/namespaces/default/jobs/"+id, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{
				"name": id, "namespace": "default", "labels": map[string]any{api.LabelApp: api.AppSingleHost, api.LabelJobID: id}}})
		}
		return 0, ""
	})
}

// start starts Google Cloud. Operations are done at once.
func (c *cloudOf) start(ts *testscript.TestScript, args []string) {
	s, err := gcptest.Start()
	ts.Check(err)
	ts.Defer(s.Close)
	s.SetPolls(0)
	for _, name := range args {
		s.AddCluster(gcptest.DefaultProject, "us-central1-a", &container.Cluster{Name: name,
			WorkloadIdentityConfig: &container.WorkloadIdentityConfig{WorkloadPool: "acme.svc.id.goog"},
			NodePools: []*container.NodePool{{Name: "default-pool", InitialNodeCount: 1,
				Config: &container.NodeConfig{MachineType: "e2-standard-4", ServiceAccount: "kn-main-nodes@acme.iam.gserviceaccount.com"}}}})
	}
	for _, variable := range s.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		ts.Setenv(name, value)
	}
	c.Server = s
}
