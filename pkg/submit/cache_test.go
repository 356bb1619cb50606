package submit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestCacheThatIsNone(t *testing.T) {
	if err := validateCache(api.Request{NoCache: true, CacheSize: "1Gi"}); err == nil {
		t.Error("a size of no cache was accepted")
	}
	if err := validateCache(api.Request{NoCache: true}); err != nil {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	onL4 := api.Spec{Placement: api.Placement{Accelerator: api.Accelerator{Kind: api.GPU, Name: "l4", Chips: 1, ChipsPerHost: 1, Hosts: 1, Spot: true}}}
	for name, tt := range map[string]struct {
		request api.Request
		spec    api.Spec
		user    string
		want    *api.Cache
	}{
		"of a user":           {spec: onL4, user: "ana", want: &api.Cache{Scope: "ana/vision/l4"}},
		"shared":              {request: api.Request{SharedCache: true}, spec: onL4, user: "ana", want: &api.Cache{Scope: "*/vision/l4"}},
		"of nobody":           {spec: onL4, want: &api.Cache{Scope: "-/vision/l4"}},
		"of a size":           {request: api.Request{CacheSize: "1Gi"}, spec: onL4, user: "ana", want: &api.Cache{Scope: "ana/vision/l4", Bytes: 1 << 30}},
		"on this machine":     {spec: api.Spec{Placement: api.Placement{Backend: api.BackendLocal}}, user: "ana", want: &api.Cache{Scope: "ana/vision/local"}},
		"none":                {request: api.Request{NoCache: true}, spec: onL4, user: "ana"},
		"of no size":          {request: api.Request{CacheSize: "0"}, spec: onL4, user: "ana"},
		"Pathways has others": {spec: api.Spec{Pathways: &api.Pathways{}}, user: "ana"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Planned{Spec: tt.spec, Root: "/home/ana/vision"}
			p.chooseCache(tt.request, tt.user)
			if diff := cmp.Diff(tt.want, p.Spec.Cache); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
