package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// local is the servers of `make demo-gke CLUSTER=local`: Google Cloud's APIs, and behind every cluster the one of
// hack/cluster, whose nodes pretend to have chips.
type local struct {
	storage string // URL of the server for Cloud Storage
	index   string // URL of a package index, for the client alone
}

func (l local) check(context.Context, client) error {
	for _, name := range []string{inCluster, "STORAGE_EMULATOR_HOST", "KINETIC_IMAGE", "KINETIC_BASE_IMAGE", "KINETIC_IMAGE_REPO", "CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER"} {
		if os.Getenv(name) == "" {
			return fmt.Errorf("--local needs %s: run make acceptance-local", name)
		}
	}
	return nil
}

// lacks says that nothing here is Google's Pathways runtime. The tests of hack/e2e run stand-ins for it.
func (local) lacks(s step) string {
	if s.backend == pathways {
		return "it needs Google's Pathways runtime, and TPUs"
	}
	return ""
}

// flags ask for less than half of the machine that a node pretends to be.
func (local) flags(s step) []string {
	if s.accelerator == "" {
		return nil
	}
	return []string{"--cpu", "100m", "--memory", "200Mi"}
}

func (local) call(s step) (target, value string) { return "chips.py:hosts", strconv.Itoa(s.hosts) }

func (l local) packages() string { return "--index-url " + l.index + "\n" }

// deleteMachine evicts all pods of a node, and lets the next ones have it.
func (local) deleteMachine(ctx context.Context, c client, cluster, node string) error {
	_, err := c.text(ctx, "kubectl", "--context", cluster, "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=2m")
	if err == nil {
		_, err = c.text(ctx, "kubectl", "--context", cluster, "uncordon", node)
	}
	return err
}

// inCluster is the kubeconfig of the cluster behind the others. Those are gone when it is needed.
const inCluster = "DEMO_GKE_KUBECONFIG"

func (local) cleanUp(ctx context.Context, c client, clusters []string) error {
	args := append([]string{"--kubeconfig", os.Getenv(inCluster), "delete", "namespace", "--ignore-not-found"}, clusters...)
	_, err := c.text(ctx, "kubectl", args...)
	return err
}

func (l local) leftovers(ctx context.Context, c client, cluster string) ([]string, error) {
	left, err := l.buckets(ctx, cluster)
	if err != nil {
		return nil, err
	}
	found, err := c.text(ctx, "kubectl", "--kubeconfig", os.Getenv(inCluster), "get", "namespaces,nodes", "-o", "name", "-l", "!kubebox/fake")
	for _, name := range strings.Fields(found) {
		if strings.Contains(name, cluster) {
			left = append(left, name)
		}
	}
	return left, err
}

// buckets lists those of Cloud Storage's server with the name of a cluster.
func (l local) buckets(ctx context.Context, cluster string) ([]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.storage+"/storage/v1/b", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("listing buckets: %w", err)
	}
	defer answer.Body.Close()
	var list struct{ Items []struct{ Name string } }
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("listing buckets: %w", err)
	}
	var left []string
	for _, b := range list.Items {
		if strings.Contains(b.Name, cluster) {
			left = append(left, "bucket "+b.Name)
		}
	}
	return left, nil
}

// unprovenHere says what the steps don't prove without Google Cloud.
var unprovenHere = map[string]string{
	"up":        "the requests are answered by servers of Google Cloud's published APIs, not by Google Cloud; all clusters are one cluster on this machine",
	"l4":        "the node pretends to have a GPU: no driver was loaded",
	"v5e-1":     "the node pretends to have chips: JAX was not asked for them",
	"v6e-8":     "the node pretends to have chips: JAX was not asked for them",
	"two-hosts": "the nodes pretend to have chips: JAX was not asked for them",
	"preempted": "the node was drained, not deleted",
	"image":     "the packages come from an index of the test, and the image goes to a registry on this machine",
	"data":      "the Cloud Storage FUSE driver is a stand-in, with the real gcsfuse",
	"autopilot": "the cluster is Autopilot's by name: neither its admission nor its nodes are there",
	"left":      "only the servers of the test were asked",
}

func (local) unproven(step string) string { return unprovenHere[step] }

// ofJobs are the variables that jobs on the cluster of this machine need.
var ofJobs = []string{"KINETIC_IMAGE", "KINETIC_BASE_IMAGE", "KINETIC_IMAGE_REPO"}
