// Package gcsfuse stands in for GKE's Cloud Storage FUSE CSI driver: the node service that
// kubelets call, and the webhook that adds the sidecar to pods. gcsfuse itself, in the
// sidecar, is the real one. What users can see is as on GKE: the names, the order of
// events, the texts of errors. It knows no tokens, profiles and metrics.
package gcsfuse

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// Names of GKE's driver.
const (
	driverName  = "gcsfuse.csi.storage.gke.io"
	annotation  = "gke-gcsfuse/volumes"
	sidecarName = "gke-gcsfuse-sidecar"
	tmpVolume   = "gke-gcsfuse-tmp"
	nobody      = 65534
)

// Main serves the nodes NAME=KUBELET_DIR, which are its arguments, and the webhook. It
// returns the exit code of the process.
func Main() int {
	var s settings
	flags := flag.NewFlagSet("gcsfuse-driver", flag.ExitOnError)
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flags.StringVar(&s.storage, "storage", "", "URL of the Cloud Storage emulator")
	flags.StringVar(&s.listen, "listen", "", "address of the webhook")
	flags.StringVar(&s.cert, "cert", "", "certificate of the webhook")
	flags.StringVar(&s.key, "key", "", "its key")
	flags.StringVar(&s.image, "sidecar-image", "", "image of the sidecar")
	_ = flags.Parse(os.Args[1:]) // it exits
	if err := s.serve(flags.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "gcsfuse-driver: %v\n", err)
	}
	return 1
}

type settings struct{ kubeconfig, storage, listen, cert, key, image string }

// serve returns when one of the servers has failed.
func (s settings) serve(nodes []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ended := make(chan error)
	for _, n := range nodes {
		name, kubelet, ok := strings.Cut(n, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=KUBELET_DIR", n)
		}
		d := &driver{node: name, kubelet: kubelet, storage: s.storage, pods: client.CoreV1()}
		go func() { ended <- d.serve() }()
	}
	go func() { ended <- http.ListenAndServeTLS(s.listen, s.cert, s.key, injector{s.image}) }()
	return <-ended
}

// serve answers the kubelet of the node.
func (d *driver) serve() error {
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, d)
	csi.RegisterNodeServer(server, d)
	registration.RegisterRegistrationServer(server, d)
	ended := make(chan error)
	// The kubelet finds a driver by the second socket, so the first one has to be there.
	for _, path := range []string{d.socket(), filepath.Join(d.kubelet, "plugins_registry", driverName+"-reg.sock")} {
		l, err := listen(path)
		if err != nil {
			return err
		}
		go func() { ended <- server.Serve(l) }()
	}
	return <-ended
}

// listen replaces the socket that a killed process has left.
func listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}

func (d *driver) socket() string { return filepath.Join(d.kubelet, "plugins", driverName, "csi.sock") }

// GetInfo implements registration.RegistrationServer.
func (d *driver) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: driverName, Endpoint: d.socket(), SupportedVersions: []string{"1.0.0"}}, nil
}

// NotifyRegistrationStatus implements registration.RegistrationServer.
func (d *driver) NotifyRegistrationStatus(context.Context, *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	return &registration.RegistrationStatusResponse{}, nil
}

// GetPluginInfo implements csi.IdentityServer.
func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driverName, VendorVersion: "stand-in"}, nil
}

// Probe implements csi.IdentityServer.
func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// NodeGetInfo implements csi.NodeServer.
func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.node}, nil
}

// NodeGetCapabilities implements csi.NodeServer: a pod's fsGroup is given to gcsfuse.
func (d *driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	group := &csi.NodeServiceCapability_RPC{Type: csi.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP}
	return &csi.NodeGetCapabilitiesResponse{Capabilities: []*csi.NodeServiceCapability{
		{Type: &csi.NodeServiceCapability_Rpc{Rpc: group}},
	}}, nil
}
