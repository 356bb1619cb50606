package gcsfuse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// driver is the driver on one node.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
	registration.UnimplementedRegistrationServer
	node, kubelet string
	storage       string // URL
	pods          typed.PodsGetter
	offers        sync.Map // by target path: io.Closer of mounts that no sidecar serves yet
}

// volume is a volume of a pod, by the path where its container will find it.
type volume struct {
	target string
	pod    string // the folder of the pod's volumes
	name   string
}

var targetPath = regexp.MustCompile(`^(.*/pods/[^/]+/volumes)/kubernetes\.io~csi/([^/]+)/mount$`)

// exchange is the folder in which driver and sidecar meet, in a volume that the webhook
// has added to the pod.
func (v volume) exchange() string {
	return filepath.Join(v.pod, "kubernetes.io~empty-dir", tmpVolume, ".volumes", v.name)
}

// NodePublishVolume implements csi.NodeServer. It mounts a file system that the sidecar,
// which starts later, will serve. The kubelet calls it again and again, so that an error
// of the sidecar becomes an event of the pod.
func (d *driver) NodePublishVolume(ctx context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	path := targetPath.FindStringSubmatch(r.GetTargetPath())
	if path == nil {
		return nil, status.Errorf(codes.InvalidArgument, "no pod in %s", r.GetTargetPath())
	}
	v := volume{path[0], path[1], path[2]}
	bucket, options, err := parse(r)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	attributes := r.GetVolumeContext()
	if attributes["skipCSIBucketAccessCheck"] != "true" {
		if err := d.checkBucket(ctx, bucket); err != nil {
			return nil, err
		}
	}
	pod, err := d.pods.Pods(attributes["csi.storage.k8s.io/pod.namespace"]).Get(ctx, attributes["csi.storage.k8s.io/pod.name"], metav1.GetOptions{})
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "failed to get pod: %v", err)
	}
	if err := checkSidecar(pod, v); err != nil {
		return nil, err
	}
	if mounted(v.target) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	offer, err := mount(v, bucket, options, d.storage)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "failed to mount volume %q to target path %q: %v", bucket, v.target, err)
	}
	d.offers.Store(v.target, offer)
	return &csi.NodePublishVolumeResponse{}, nil
}

// NodeUnpublishVolume implements csi.NodeServer. It unmounts by force: if who served the
// file system is gone, any question to it waits forever.
func (d *driver) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	target := r.GetTargetPath()
	if offer, found := d.offers.LoadAndDelete(target); found {
		_ = offer.(io.Closer).Close()
	}
	err := unix.Unmount(target, unix.MNT_FORCE|unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return nil, status.Errorf(codes.Internal, "failed to force unmount target path %q: %v", target, err)
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, status.Errorf(codes.Internal, "failed to cleanup the mount point %q: %v", target, err)
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// checkBucket makes sure that objects of the bucket can be listed.
func (d *driver) checkBucket(ctx context.Context, bucket string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.storage+"/storage/v1/b/"+bucket+"/o?maxResults=1", nil)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return status.Errorf(codes.Internal, "failed to get GCS bucket %q: %v", bucket, err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return status.Errorf(codes.NotFound, "failed to get GCS bucket %q: storage: bucket doesn't exist", bucket)
	}
	return status.Errorf(codes.Internal, "failed to get GCS bucket %q: googleapi: Error %s", bucket, answer.Status)
}

// checkSidecar returns an error if the pod has no sidecar, or if that has failed.
func checkSidecar(pod *corev1.Pod, v volume) error {
	if !slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == sidecarName }) {
		if wantsSidecar(pod) {
			return status.Error(codes.Internal, "the webhook failed to inject the sidecar container into the Pod spec")
		}
		return status.Error(codes.FailedPrecondition, "failed to find the sidecar container in Pod spec")
	}
	text, err := os.ReadFile(filepath.Join(v.exchange(), "error"))
	if err == nil && len(text) > 0 {
		return status.Errorf(codeOf(string(text)), "gcsfuse failed with error: %s", text)
	}
	for _, c := range pod.Status.InitContainerStatuses {
		ended := c.State.Terminated
		if c.LastTerminationState.Terminated != nil {
			ended = c.LastTerminationState.Terminated
		}
		if c.Name == sidecarName && ended != nil && ended.ExitCode != 0 {
			code := codes.Internal
			if ended.ExitCode == 128+int32(unix.SIGKILL) {
				code = codes.ResourceExhausted
			}
			return status.Errorf(code, "the %q container terminated due to %s, exit code: %d", c.Name, ended.Reason, ended.ExitCode)
		}
	}
	return nil
}

// codeOf returns the code for an error of gcsfuse.
func codeOf(text string) codes.Code {
	for _, c := range []struct {
		part string
		code codes.Code
	}{
		{"bucket doesn't exist", codes.NotFound},
		{"Error 403", codes.PermissionDenied},
		{"signal: killed", codes.ResourceExhausted},
		{"unknown flag", codes.InvalidArgument},
	} {
		if strings.Contains(text, c.part) {
			return c.code
		}
	}
	return codes.Internal
}

// mounted reports whether something is mounted at a path. It doesn't ask the file system,
// which may have nobody to answer.
func mounted(path string) bool {
	mounts, err := os.ReadFile("/proc/self/mounts")
	return err == nil && strings.Contains(string(mounts), fmt.Sprintf(" %s fuse", path))
}
