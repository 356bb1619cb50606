// Command kubebox is what a Kubernetes cluster is made of, in one binary: etcd,
// the control plane, kubelet, DNS, kubectl, an image registry and a CSI driver. The first
// argument chooses the part; the rest is that part's own command line.
//
// One binary because they share nearly all of their code: linked together they
// take a quarter of the space and build time that they would take one by one.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coredns/coredns/coremain"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/kubectl-kinetic/kinetic/hack/cluster/kubebox/gcsfuse"

	// What CoreDNS can do here: answer for the cluster, and for nothing else.
	_ "github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"

	// CronJobs may name a time zone, and the image has no tzdata.
	_ "time/tzdata"
)

var parts = map[string]func() int{
	"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllers.NewControllerManagerCommand()) },
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kubelet":                 func() int { return cli.Run(kubelet.NewKubeletCommand(context.Background())) },
	"kubectl":                 func() int { return cli.Run(kubectl.NewDefaultKubectlCommand()) },
	"coredns":                 func() int { coremain.Run(); return 0 },
	"registry":                serveRegistry,
	"gcsfuse-driver":          gcsfuse.Main,
}

func main() {
	if len(os.Args) > 1 {
		if run, ok := parts[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			os.Exit(run())
		}
	}
	names := slices.Sorted(maps.Keys(parts))
	fmt.Fprintf(os.Stderr, "usage: kubebox %s …\n", strings.Join(names, "|"))
	os.Exit(2)
}
