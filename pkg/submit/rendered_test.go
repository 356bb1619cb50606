package submit

import (
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// What submit accepts can be rendered: render trusts its Spec, and has no rules of its own
// about hardware.
func TestAcceptedRequestsRender(t *testing.T) {
	machines := []api.Request{{}, {Reservation: "projects/p/reservations/r"}, {FlexStart: true}, {ComputeClass: "mine"},
		{ComputeClass: "Accelerator"}, {ComputeClass: "Balanced"}, {ComputeClass: "Scale-Out"}}
	placements := []api.Placement{{}, {Hosts: 2}, {Slices: 2}, {NodePools: api.NodePoolsShared}}
	executions := []api.Execution{{}, {Retries: 2, RetryOn: api.RetryOnError}, {Debug: true}}
	accepted := 0
	for _, acc := range []string{"cpu", "cpu:spot", "gb200", "gb200:spot", "v6e-16", "v6e-16:spot"} {
		for _, backend := range []api.Backend{api.BackendGKE, api.BackendLWS} {
			for i, placement := range placements {
				for j, r := range machines {
					execution := executions[(i+j)%len(executions)]
					r.Placement, r.Execution = placement, execution
					r.AcceleratorText, r.Backend, r.Image = acc, backend, "python:3.12"
					if accepts(t, typed(t, r)) {
						accepted++
					}
				}
			}
		}
	}
	if accepted < 50 {
		t.Errorf("only %d requests were accepted: the rules leave nothing to check", accepted)
	}
}

// accepts renders a request, unless it is rejected.
func accepts(t *testing.T, r api.Request) bool {
	t.Helper()
	placement, err := fit(r)
	if err != nil {
		return false
	}
	s, err := newSpec(r, config.Target{Namespace: "ml", Store: "gs://bucket"}, placement)
	if err != nil {
		return false
	}
	s.ID, s.Name, s.CallKind, s.CallSHA256, s.BundleSHA256 = "a1", "f", api.CallFunction, "c", "b"
	if _, err := render.Objects(s, render.Overlay{}); err != nil {
		t.Errorf("%+v is accepted, and can't be rendered: %v", r, err)
	}
	return true
}
