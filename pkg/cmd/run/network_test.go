package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/container/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gke"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// networkCluster is an API server with so many Network objects for GPUs. It answers nothing else.
func networkCluster(t *testing.T, cards int) *kube.Cluster {
	t.Helper()
	var networks, parameters []string
	for i := range cards {
		networks = append(networks, fmt.Sprintf(`{"metadata":{"name":"gpu-%d"},"spec":{"type":"Device","parametersRef":{"kind":"GKENetworkParamSet","name":"p%d"}}}`, i, i))
		parameters = append(parameters, fmt.Sprintf(`{"metadata":{"name":"p%d"},"spec":{"vpcSubnet":"sub-%d","deviceMode":"NetDevice"}}`, i, i))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := map[string][]string{"/apis/networking.gke.io/v1/networks": networks, "/apis/networking.gke.io/v1/gkenetworkparamsets": parameters}[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	client, err := kube.NewClient(&rest.Config{Host: server.URL}, "ml", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return kube.New(client)
}

// What a run renders follows from the node pools, and the names of networks from the cluster.
func TestChooseNetwork(t *testing.T) {
	server, err := gcptest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	server.Setenv(t)
	pool := func(text string) *container.NodePool {
		acc, err := accelerator.Parse(text, accelerator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := gke.Plan(acc, gke.Options{Name: acc.Name, Nodes: gke.Nodes{Networks: true}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Pool
	}
	server.AddCluster("acme", "us-central1-a", &container.Cluster{Name: "main", NetworkConfig: &container.NetworkConfig{DatapathProvider: gke.DataplaneV2},
		NodePools: []*container.NodePool{pool("b200"), pool("h100-mega")}})
	eight := []string{"gpu-0", "gpu-1", "gpu-2", "gpu-3", "gpu-4", "gpu-5", "gpu-6", "gpu-7"}
	for name, tt := range map[string]struct {
		accelerator string
		given       api.Network
		mode        mode
		cards       int
		want        api.Network
		networks    []string
		why, told   string
	}{
		"RDMA":                        {accelerator: "b200", mode: modeRun, want: api.NetworkRDMA},
		"no pool":                     {accelerator: "h200", mode: modeServerDryRun, why: "cluster main has no node pool with h200x8 yet"},
		"TCPXO":                       {accelerator: "h100-mega", mode: modePrepare, cards: 8, want: api.NetworkTCPXO, networks: eight},
		"too few networks":            {accelerator: "h100-mega", mode: modeRun, cards: 3, why: "the cluster has 3 Network objects"},
		"TCPXO was asked for":         {accelerator: "h100-mega", given: api.NetworkTCPXO, mode: modeRun, cards: 8, want: api.NetworkTCPXO, networks: eight},
		"its networks are not there":  {accelerator: "h100-mega", given: api.NetworkTCPXO, mode: modeRun, want: api.NetworkTCPXO, told: "the pods get the networks vpc1 to vpc8, because the cluster has 0 Network objects"},
		"RDMA was asked for":          {accelerator: "h200", given: api.NetworkRDMA, mode: modeRun, want: api.NetworkRDMA},
		"TCP was asked for":           {accelerator: "b200", given: api.NetworkTCP, mode: modeRun, why: "--network is tcp"},
		"printed":                     {accelerator: "b200", mode: modeDryRun, why: "only a run looks up the network of the node pools; --network rdma uses RDMA without this check"},
		"explained without a cluster": {accelerator: "h100-mega", mode: modeExplain, want: api.NetworkTCPXO},
		"no accelerator":              {accelerator: "cpu", mode: modeRun},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := accelerator.Parse(tt.accelerator, accelerator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var told strings.Builder
			o := &options{mode: tt.mode, ui: ui.New(&told, time.Now)}
			p := submit.Planned{Target: config.Target{GKE: true}, Spec: api.Spec{Project: "acme", Zone: "us-central1-a", Cluster: "main",
				Placement: api.Placement{Accelerator: acc, Hosts: 2, Network: tt.given}}}
			var cluster *kube.Cluster
			if tt.mode.contacts() {
				cluster = networkCluster(t, tt.cards)
			}
			got, unknown := o.chooseNetwork(t.Context(), p, cluster)
			if (unknown != nil) != (name == "printed") {
				t.Errorf("unknown: %v", unknown)
			}
			if got.Spec.Network != tt.want || !slices.Equal(got.Spec.PodNetworks, tt.networks) || (got.PlainNetwork == "") != (tt.why == "") || !strings.Contains(got.PlainNetwork, tt.why) {
				t.Errorf("got %q with %q, %q", got.Spec.Network, got.Spec.PodNetworks, got.PlainNetwork)
			}
			if !strings.Contains(told.String(), tt.told) || (told.Len() == 0) != (tt.told == "") {
				t.Errorf("told %q, want %q", told.String(), tt.told)
			}
		})
	}
}

// A run whose network nobody knows is warned about, and what is only explained or printed is not.
func TestSettleNetwork(t *testing.T) {
	acc, err := accelerator.Parse("b200", accelerator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	interrupt := errors.New("interrupt signal received")
	const queued = "network plain TCP, because from v0.18 on, Kueue admits no job with a claim of RDMA cards; with an older Kueue, use --network rdma\n"
	const unknown = "network plain TCP, because the cluster is not known to be one of GKE; --network rdma uses RDMA without this check\n"
	for name, tt := range map[string]struct {
		mode        mode
		given       api.Network
		queue       string
		restricted  bool
		interrupted bool
		told        string
	}{
		"a run":                      {mode: modeRun, told: "warning: " + unknown},
		"prepared":                   {mode: modePrepare, told: "warning: " + unknown},
		"printed by the server":      {mode: modeServerDryRun, told: unknown},
		"explained":                  {mode: modeExplain},
		"a run that asks for it":     {mode: modeRun, given: api.NetworkRDMA, told: "network RDMA\n"},
		"a run with another reason":  {mode: modeRun, given: api.NetworkTCP, told: "network plain TCP, because --network is tcp\n"},
		"in a queue":                 {mode: modeRun, queue: "team", told: "warning: " + queued},
		"printed for a queue":        {mode: modeDryRun, queue: "team", told: queued},
		"restricted, in a queue":     {mode: modeRun, queue: "team", restricted: true, told: "network plain TCP, because the pods of --restricted can't use directories of their nodes\n"},
		"RDMA in a queue":            {mode: modeRun, queue: "team", given: api.NetworkRDMA, told: "network RDMA\n"},
		"an interrupted run":         {mode: modeRun, interrupted: true},
		"an interrupted explanation": {mode: modeExplain, interrupted: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var want error
			if tt.interrupted {
				want = interrupt
				cancel(interrupt)
			}
			var told strings.Builder
			o := &options{mode: tt.mode, ui: ui.New(&told, time.Now)}
			p := submit.Planned{Spec: api.Spec{Placement: api.Placement{Accelerator: acc, Hosts: 2, Network: tt.given, Queue: tt.queue, Restricted: tt.restricted}}}
			if _, err := o.settleNetwork(ctx, p, nil); !errors.Is(err, want) || (err == nil) != (want == nil) || told.String() != tt.told {
				t.Errorf("got %v, told %q, want %q", err, told.String(), tt.told)
			}
		})
	}
}
