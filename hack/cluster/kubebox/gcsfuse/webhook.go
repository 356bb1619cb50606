package gcsfuse

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// injector adds the sidecar to the pods whose annotation asks for it.
type injector struct{ image string }

func wantsSidecar(pod *corev1.Pod) bool { return pod.Annotations[annotation] == "true" }

// ServeHTTP implements http.Handler.
func (h injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no AdmissionReview", http.StatusBadRequest)
		return
	}
	answer := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	patch, err := h.patch(review.Request.Object.Raw)
	switch {
	case err != nil:
		answer.Allowed, answer.Result = false, &metav1.Status{Message: err.Error(), Code: http.StatusBadRequest}
	case patch != nil:
		answer.Patch, answer.PatchType = patch, new(admissionv1.PatchTypeJSONPatch)
	}
	review.Request, review.Response = nil, answer
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server has gone
}

// patch returns the JSON patch of a pod, nil if it wants no sidecar.
func (h injector) patch(object []byte) ([]byte, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(object, &pod); err != nil {
		return nil, fmt.Errorf("reading the pod: %w", err)
	}
	if !wantsSidecar(&pod) {
		return nil, nil
	}
	c, err := h.container(pod.Annotations)
	if err != nil {
		return nil, err
	}
	volumes := pod.Spec.Volumes
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			volumes = append(volumes, corev1.Volume{Name: m.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		}
	}
	return json.Marshal([]map[string]any{
		{"op": "add", "path": "/spec/initContainers", "value": append([]corev1.Container{c}, pod.Spec.InitContainers...)},
		{"op": "add", "path": "/spec/volumes", "value": volumes},
	})
}

// container returns the sidecar. It is an init container that runs until the pod's other
// containers have ended.
func (h injector) container(annotations map[string]string) (corev1.Container, error) {
	limits, requests, err := resources(annotations)
	return corev1.Container{
		Name: sidecarName, Image: h.image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/sidecar"},
		RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		Resources:     corev1.ResourceRequirements{Limits: limits, Requests: requests},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			RunAsNonRoot: new(true), RunAsUser: new(int64(nobody)), RunAsGroup: new(int64(nobody)),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: tmpVolume, MountPath: "/gcsfuse-tmp"},
			{Name: "gke-gcsfuse-buffer", MountPath: "/gcsfuse-buffer"},
			{Name: "gke-gcsfuse-cache", MountPath: "/gcsfuse-cache"},
		},
	}, err
}

// resources returns what the annotations give to the sidecar. If they give a limit or a
// request, but not both, both are the same; a limit of 0 is none.
func resources(annotations map[string]string) (limits, requests corev1.ResourceList, err error) {
	limits, requests = corev1.ResourceList{}, corev1.ResourceList{}
	for name, usual := range map[corev1.ResourceName]string{"cpu": "250m", "memory": "256Mi", "ephemeral-storage": "5Gi"} {
		limit, limited := annotations["gke-gcsfuse/"+string(name)+"-limit"]
		request, requested := annotations["gke-gcsfuse/"+string(name)+"-request"]
		switch {
		case !limited && !requested:
			limit, request = usual, usual
		case !limited:
			limit = request
		case !requested && limit == "0":
			request = usual
		case !requested:
			request = limit
		}
		if err := add(limits, name, limit); err != nil {
			return nil, nil, err
		}
		if err := add(requests, name, request); err != nil {
			return nil, nil, err
		}
	}
	return limits, requests, nil
}

func add(list corev1.ResourceList, name corev1.ResourceName, quantity string) error {
	q, err := resource.ParseQuantity(quantity)
	if err != nil {
		return fmt.Errorf("%s of the sidecar, %q: %w", name, quantity, err)
	}
	if !q.IsZero() {
		list[name] = q
	}
	return nil
}
