package kube

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// explain returns an error that says what was being done, why it failed and what to do next. It
// wraps err.
func (c *Client) explain(verb string, k kind, name string, err error) error {
	return c.requested(verb, k).Explain(strings.TrimSpace(fmt.Sprintf("%s %s %s", gerund(verb), k.resource, name)), err)
}

// gerund returns the form in which errors name a verb: creating.
func gerund(verb string) string {
	switch verb {
	case readLog:
		return "reading the log of"
	case "get":
		return "getting"
	default:
		return strings.TrimSuffix(verb, "e") + "ing"
	}
}

func (c *Client) requested(verb string, k kind) apiserver.Request {
	if verb == readLog {
		return apiserver.Request{Verb: "get", Resource: k.resource + "/log", Namespace: c.namespace}
	}
	return apiserver.Request{Verb: verb, Resource: k.resource, Namespace: c.namespace}
}

// readLog is the one operation that isn't called like its verb.
const readLog = "read log"
