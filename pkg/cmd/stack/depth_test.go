package stack_test

import (
	"net/http/httptest"
	"testing"
	"time"
)

// A complete cluster is looked at in three round trips, those to its API server included. The one for a
// token comes before.
func TestUpOnACompleteClusterIsThreeRoundTripsDeep(t *testing.T) {
	const deepest = 3
	w := newWorld(t)
	plane := httptest.NewUnstartedServer(w.Count("kubernetes", w.kubernetes.Config.Handler))
	plane.EnableHTTP2 = true
	plane.StartTLS()
	t.Cleanup(plane.Close)
	w.SetEndpoint(plane.Listener.Addr().String(), w.kubernetes.AuthorityData())
	w.up(t, "--yes", "--accelerator", "v6e-8").check(t, 0, "ready")
	w.ForgetCalls()
	w.SetPageSize(100)                   // Google Cloud's pages are large
	w.SetLatency(500 * time.Millisecond) // long enough for all requests of a round to begin, also on a slow machine
	w.up(t, "--accelerator", "v6e-8").check(t, 0, ": 0 to create, ")
	inCluster := 0
	for _, call := range w.Calls() {
		if call.Depth > deepest {
			t.Errorf("%d requests deep: %s", call.Depth, call)
		}
		if call.Service == "kubernetes" {
			inCluster++
		}
	}
	if inCluster == 0 {
		t.Error("the API server was not asked")
	}
}
