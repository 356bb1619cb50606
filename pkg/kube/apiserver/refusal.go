package apiserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refusal keeps the API server's Status when it refuses a request for streams. The errors of client-go's dialers have
// only its text.
type Refusal struct {
	http.RoundTripper
	// Status is nil unless a request was refused.
	Status *apierrors.StatusError
}

// RoundTrip implements http.RoundTripper.
func (r *Refusal) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.RoundTripper.RoundTrip(request)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Code != 0 {
		r.Status = &apierrors.StatusError{ErrStatus: status}
	}
	return answer, err
}
