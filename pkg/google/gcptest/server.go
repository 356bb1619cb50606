// Package gcptest serves Google Cloud's REST APIs in a test or a demonstration: the paths and
// the JSON that the services publish, with the state of one or more projects. It takes real
// credentials, of a service account of its own.
package gcptest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// DefaultProject is the project that a new server has, with all APIs enabled.
const DefaultProject = "acme"

// credentialsFile is the name of the file of credentials.
const credentialsFile = "credentials.json"

// Server serves all services. All methods are safe for concurrent use.
type Server struct {
	URL string

	web      *httptest.Server
	dir      string // of the credentials
	services []*service

	mu       sync.Mutex
	projects map[string]*Project
	// quotaProject is what the credentials name, "" for none.
	quotaProject string
	tokens       tokens
	faults       []*Fault
	denied       map[string]bool
	calls        calls
	operations   operations
	pageSize     int
	latency      time.Duration
	container    containerState
	compute      computeState
	cloud        cloudState
}

// New starts a server for a test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server until Close.
func Start() (*Server, error) {
	s := &Server{projects: map[string]*Project{}, denied: map[string]bool{}, pageSize: 2}
	s.operations.polls = 2
	s.calls.changed = make(chan struct{})
	s.services = append(s.cloudServices(), s.containerService(), s.computeService())
	s.AddProject(DefaultProject)
	s.web = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.web.URL
	var err error
	if s.dir, err = os.MkdirTemp("", "gcptest"); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.writeCredentials(filepath.Join(s.dir, credentialsFile)); err != nil {
		s.Close()
		return nil, fmt.Errorf("writing credentials: %w", err)
	}
	return s, nil
}

// Close stops the server and removes its credentials.
func (s *Server) Close() {
	s.web.Close()
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// Env returns the variables with which a program finds this server: the credentials, and the
// endpoint of each service. Others are "".
func (s *Server) Env(name string) string {
	if name == "GOOGLE_APPLICATION_CREDENTIALS" {
		return filepath.Join(s.dir, credentialsFile)
	}
	for _, each := range s.services {
		if each.name.Variable() == name {
			return s.URL + "/" + string(each.name) + each.base
		}
	}
	return ""
}

// Environ returns all variables of Env, as NAME=VALUE.
func (s *Server) Environ() []string {
	names := []string{"GOOGLE_APPLICATION_CREDENTIALS"}
	for _, each := range s.services {
		names = append(names, each.name.Variable())
	}
	for i, name := range names {
		names[i] = name + "=" + s.Env(name)
	}
	return names
}

// Setenv makes a test's programs use the server.
func (s *Server) Setenv(t testing.TB) {
	t.Helper()
	for _, variable := range s.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

// SetenvOfNewMachine is Setenv for a machine with an account, an empty home and no settings.
func (s *Server) SetenvOfNewMachine(t testing.TB) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "none"))
	for _, name := range []string{"KINETIC_PROJECT", "KINETIC_ZONE", "KINETIC_CLUSTER", "KINETIC_NAMESPACE", "KINETIC_PROFILE", "KINETIC_STORE",
		"KINETIC_PROFILES_FILE", "STORAGE_EMULATOR_HOST", "CLOUDSDK_CONFIG", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "")
	}
	s.Setenv(t)
}

// SetPageSize sets how many items a list has at a time, at first 2.
func (s *Server) SetPageSize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pageSize = n
}

// SetLatency has each answer take so long, so that requests that can be made at the same time
// are.
func (s *Server) SetLatency(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// Deny takes a permission, such as "container.clusters.update", away from the account.
func (s *Server) Deny(permission string) { s.setDenied(permission, true) }

// Allow gives a permission back.
func (s *Server) Allow(permission string) { s.setDenied(permission, false) }

func (s *Server) setDenied(permission string, denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied[permission] = denied
}

// Project is one that the server has.
type Project struct {
	ID      string
	Number  int64
	Billing bool
	// APIs are those that are enabled, "container.googleapis.com".
	APIs map[string]bool
	// Closed means that the account may not have its requests charged to the project: it lacks the
	// permission serviceusage.services.use there.
	Closed bool
}

// SetQuotaProject has the credentials name the project that requests are charged to, as
// `gcloud auth application-default set-quota-project` does; "" for none.
func (s *Server) SetQuotaProject(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotaProject = id
	return s.writeCredentials(filepath.Join(s.dir, credentialsFile))
}

// Login writes the credentials where a login with gcloud leaves them, below a home directory. They are
// found without GOOGLE_APPLICATION_CREDENTIALS.
func (s *Server) Login(home string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(home, ".config", "gcloud")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return s.writeCredentials(filepath.Join(dir, "application_default_credentials.json"))
}

// AddProject adds a project with billing and all APIs enabled.
func (s *Server) AddProject(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Project{ID: id, Number: 100000000000 + int64(len(s.projects)), Billing: true, APIs: map[string]bool{}}
	for _, each := range gcp.Services() {
		p.APIs[each.API()] = true
	}
	s.projects[id] = p
}

// SetProject changes a project.
func (s *Server) SetProject(id string, change func(p *Project)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.projects[id])
}
