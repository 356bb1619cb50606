package gcp

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Service is one of Google Cloud's APIs, by gcloud's name for it.
type Service string

// The services that are used.
const (
	Container        Service = "container"
	Compute          Service = "compute"
	IAM              Service = "iam"
	ServiceUsage     Service = "serviceusage"
	ArtifactRegistry Service = "artifactregistry"
	ResourceManager  Service = "cloudresourcemanager"
	Billing          Service = "cloudbilling"
	Storage          Service = "storage"
)

// Services lists all services.
func Services() []Service {
	return []Service{Container, Compute, IAM, ServiceUsage, ArtifactRegistry, ResourceManager, Billing, Storage}
}

// API returns the name under which a project enables the service.
func (s Service) API() string { return string(s) + ".googleapis.com" }

// Variable returns gcloud's variable with which another endpoint is set. Its value is the URL
// that the paths of the service's requests are appended to.
func (s Service) Variable() string {
	return "CLOUDSDK_API_ENDPOINT_OVERRIDES_" + strings.ToUpper(string(s))
}

func readEndpoints(env func(string) string) (map[Service]string, error) {
	endpoints := map[Service]string{}
	for _, s := range Services() {
		value := env(s.Variable())
		if value == "" {
			continue
		}
		if err := checkEndpoint(value); err != nil {
			return nil, &settingError{fmt.Errorf("%s %s: %w", s.Variable(), value, err)}
		}
		endpoints[s] = strings.TrimSuffix(value, "/") + "/"
	}
	return endpoints, nil
}

type settingError struct{ error }

// Usage reports that nothing was contacted.
func (*settingError) Usage() bool { return true }

// checkEndpoint returns an error for an endpoint that credentials must not be sent to.
func checkEndpoint(value string) error {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "":
		return errors.New("expected a URL such as https://container.googleapis.com/")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("expected https://: http:// would expose the credentials to the network, and is accepted only for localhost")
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
