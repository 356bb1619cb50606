package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// cloud is where a run takes place: Google Cloud, or the servers of `make demo-gke`.
type cloud interface {
	// check returns what this machine lacks.
	check(ctx context.Context, c client) error
	// lacks says what a step needs that isn't here, "" if it can be tried.
	lacks(s step) string
	// flags are added to each job.
	flags(s step) []string
	// call returns the function that a job with chips calls, and what it returns.
	call(s step) (target, value string)
	// packages returns the first lines of a requirements.txt.
	packages() string
	// deleteMachine deletes the machine of a node, as Google Cloud does when it takes one back. The cluster is a
	// context of the kubeconfig.
	deleteMachine(ctx context.Context, c client, cluster, node string) error
	// cleanUp deletes what down can't, because it isn't in a cluster of its own.
	cleanUp(ctx context.Context, c client, clusters []string) error
	// leftovers lists what is left with the name of a cluster.
	leftovers(ctx context.Context, c client, cluster string) ([]string, error)
	// unproven says what a step doesn't prove here, "" if it proves all.
	unproven(step string) string
}

// google is Google Cloud, as gcloud and kubectl see it.
type google struct{ project string }

func (google) check(ctx context.Context, c client) error {
	for program, install := range map[string]string{
		"kubectl":                "https://kubernetes.io/docs/tasks/tools/",
		"gcloud":                 "https://cloud.google.com/sdk/docs/install",
		"gke-gcloud-auth-plugin": "gcloud components install gke-gcloud-auth-plugin",
	} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed: %s", program, install)
		}
	}
	account, err := c.text(ctx, "gcloud", "auth", "list", "--filter=status:ACTIVE", "--format=value(account)")
	if err == nil && account == "" {
		err = errors.New("gcloud has no account: gcloud auth login")
	}
	return err
}

func (google) lacks(step) string { return "" }

// flags leave JAX out where nothing needs it: for GPUs it is an image of gigabytes.
func (google) flags(s step) []string {
	if s.accelerator == "" || s.counts == "tpus" {
		return nil
	}
	return []string{"--runtime", "none"}
}

func (google) call(s step) (target, value string) {
	return "chips.py:" + s.counts, fmt.Sprintf("[%d,%d]", s.chips, s.hosts)
}

func (google) packages() string { return "" }

func (g google) deleteMachine(ctx context.Context, c client, cluster, node string) error {
	zone, err := c.text(ctx, "kubectl", "--context", cluster, "get", "node", node, "-o", `jsonpath={.metadata.labels.topology\.kubernetes\.io/zone}`)
	if err == nil {
		_, err = c.text(ctx, "gcloud", "compute", "instances", "delete", node, "--zone="+zone, "--project="+g.project, "--quiet")
	}
	return err
}

func (google) cleanUp(context.Context, client, []string) error { return nil }

// lists are gcloud's lists of what a cluster consists of, with the field that has its name.
var lists = []struct{ what, command, field string }{
	{"cluster", "container clusters list", "name"},
	{"machine", "compute instances list", "name"},
	{"disk", "compute disks list", "name"},
	{"disk of a volume", "compute disks list", "labels.goog-k8s-cluster-name"},
	{"network", "compute networks list", "name"},
	{"router", "compute routers list", "name"},
	{"firewall rule", "compute firewall-rules list", "name"},
	{"placement policy", "compute resource-policies list", "name"},
	{"service account", "iam service-accounts list", "email"},
	{"repository", "artifacts repositories list", "name"},
	{"bucket", "storage buckets list", "name"},
}

func (g google) leftovers(ctx context.Context, c client, cluster string) ([]string, error) {
	var left []string
	for _, l := range lists {
		args := append(strings.Fields(l.command), "--project="+g.project, fmt.Sprintf("--filter=%s~%s", l.field, cluster), "--format=value(name)")
		names, err := c.text(ctx, "gcloud", args...)
		if err != nil {
			return nil, err
		}
		for _, name := range strings.Fields(names) {
			left = append(left, l.what+" "+name)
		}
	}
	return left, nil
}

func (google) unproven(string) string { return "" }
