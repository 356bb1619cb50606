package apiservertest

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// review answers a question about the user, who may do everything.
func review(w http.ResponseWriter, r *http.Request, question map[string]any) bool {
	status := map[string]any{}
	switch r.URL.Path {
	case "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews":
		all := []string{"*"}
		status["resourceRules"] = []any{map[string]any{"verbs": all, "apiGroups": all, "resources": all}}
		status["nonResourceRules"], status["incomplete"] = []any{}, false
	case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		status["allowed"] = true
	case "/apis/authentication.k8s.io/v1/selfsubjectreviews":
		status["userInfo"] = map[string]any{"username": "admin@example.com"}
	default:
		return false
	}
	question["status"] = status
	answer(w, http.StatusCreated, question)
	return true
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

func (s *Server) group(w http.ResponseWriter, where string) bool {
	group, found := strings.CutPrefix(where, "/apis/")
	if !found || strings.Contains(group, "/") {
		return false
	}
	for name, definition := range s.objects {
		if !strings.HasPrefix(name, definitions) || !strings.HasSuffix(name, "."+group) {
			continue
		}
		spec, _ := definition["spec"].(map[string]any)
		versions, _ := spec["versions"].([]any)
		for _, each := range versions {
			version, _ := each.(map[string]any)
			text, _ := version["name"].(string)
			preferred := map[string]any{"groupVersion": group + "/" + text, "version": text}
			answer(w, http.StatusOK, map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": []any{preferred}, "preferredVersion": preferred})
			return true
		}
	}
	return false
}

// play does what controllers do: the pods of a Deployment are ready at once.
func play(where string, object map[string]any) {
	if strings.HasPrefix(where, "/apis/apps/v1/namespaces/") && path.Base(path.Dir(where)) == "deployments" {
		object["status"] = map[string]any{"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}
	}
}

// tableOf returns a list as kubectl get shows it, with the columns that are read here.
func tableOf(items []any) map[string]any {
	rows := []any{}
	for _, each := range items {
		object, _ := each.(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		rows = append(rows, map[string]any{"cells": []any{meta["name"], readiness(object)}})
	}
	return map[string]any{"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"resourceVersion": "1"},
		"columnDefinitions": []any{map[string]any{"name": "Name", "type": "string"}, map[string]any{"name": "Status", "type": "string"}}, "rows": rows}
}

func readiness(object map[string]any) string {
	status, _ := object["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	ready := slices.ContainsFunc(conditions, func(each any) bool {
		c, _ := each.(map[string]any)
		return c["type"] == "Ready" && c["status"] == "True"
	})
	if ready {
		return "Ready"
	}
	return "NotReady"
}
