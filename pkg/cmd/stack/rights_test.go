package stack_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// LeaderWorkerSet needs ClusterRoles. Who may not create them gets the rest, with which jobs on one host
// run, and the same command completes it for someone who may.
func TestUpWithoutTheRightToCreateClusterRoles(t *testing.T) {
	w := newWorld(t)
	w.kubernetes.Before(func(method, path string) (int, string) {
		if method == http.MethodPatch && strings.Contains(path, "/clusterroles/") {
			return http.StatusForbidden, `clusterroles "lws-manager-role" is forbidden: User "me" cannot patch resource "clusterroles"`
		}
		return 0, ""
	})
	w.up(t, "--yes").check(t, 1, "created     Kubernetes service account kinetic", "created     RBAC roles of namespace ml", "created     profile research",
		"error: installing LeaderWorkerSet v", `: writing ClusterRole lws-manager-role: clusterroles "lws-manager-role" is forbidden: User "me" cannot patch resource "clusterroles"; installing a cluster takes roles/container.admin: `)
	if _, err := os.Stat(w.profiles); err != nil {
		t.Error(err)
	}
	w.kubernetes.Before(nil)
	w.up(t, "--yes").check(t, 0, ": 1 to create, ", "+ LeaderWorkerSet: add what an interrupted installation has left out", "completed   LeaderWorkerSet")
	w.up(t, "--dry-run").check(t, 0, ": 0 to create, ")
}
