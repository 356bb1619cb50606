package apiserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// listing is the error of listing jobs with a configuration.
func listing(t *testing.T, namespace string, config *rest.Config) error {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := batchv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	_, config = Monitored(config, nil)
	config.QPS, config.APIPath, config.GroupVersion = -1, "/apis", &batchv1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	err = client.Get().NamespaceIfScoped(namespace, namespace != "").Resource("jobs").Do(t.Context()).Error()
	return Request{Verb: "list", Resource: "jobs", Namespace: namespace}.Explain("list jobs", err)
}

// usage reports whether an error is one of the command line, as pkg/cmd/cli does.
func usage(err error) bool {
	var of interface{ Usage() bool }
	return errors.As(err, &of) && of.Usage()
}

// holdError checks what an error says, and whether the call would be repeated.
func holdError(t *testing.T, err error, passes bool, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
	if Transient(err) != passes {
		t.Errorf("transient is %v for: %v", !passes, err)
	}
}

func dialFails(err error) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
}

// slowDial is what a connection to a host that doesn't answer ends in.
type slowDial struct{}

func (slowDial) Error() string   { return "i/o timeout" }
func (slowDial) Timeout() bool   { return true }
func (slowDial) Temporary() bool { return true }

func TestWhyAServerWasNotReached(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	for name, c := range map[string]struct {
		config rest.Config
		want   []string
	}{
		"nobody listens": {rest.Config{Host: "https://127.0.0.1:1"},
			[]string{"list jobs in namespace research: the API server can't be reached: nothing listens at 127.0.0.1:1"}},
		"no such host": {rest.Config{Host: "https://api.example", Dial: dialFails(&net.DNSError{Name: "api.example", Err: "no such host", IsNotFound: true})},
			[]string{"there is no host api.example", "kubectl config get-contexts"}},
		"no name server": {rest.Config{Host: "https://api.example", Dial: dialFails(&net.DNSError{Name: "api.example", Err: "server misbehaving"})},
			[]string{"can't look up the name api.example", "server misbehaving"}},
		"no answer": {rest.Config{Host: "https://10.0.0.1", Dial: dialFails(slowDial{})},
			[]string{"10.0.0.1 does not answer", "VPN", "authorized networks"}},
		"no way": {rest.Config{Host: "https://10.0.0.1", Dial: dialFails(errors.New("network is unreachable"))},
			[]string{"the API server at 10.0.0.1 can't be reached", "network is unreachable"}},
		"another authority": {rest.Config{Host: secure.URL},
			[]string{"was not issued by the authority in the kubeconfig", "get-credentials"}},
		"another name": {rest.Config{Host: secure.URL, TLSClientConfig: rest.TLSClientConfig{CAData: trusted, ServerName: "other.example"}},
			[]string{"the certificate of another host", "other.example", "--tls-server-name"}},
		"no TLS there": {rest.Config{Host: strings.Replace(plain.URL, "http:", "https:", 1)},
			[]string{"does not speak TLS"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := listing(t, "research", &c.config)
			holdError(t, err, false, c.want...)
			if strings.Contains(err.Error(), "/apis/batch") {
				t.Errorf("it shows a URL: %v", err)
			}
		})
	}
}

// outOfDate serves with a certificate that ended an hour ago.
func outOfDate(t *testing.T) *rest.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &rest.Config{Host: s.URL, BearerToken: "token", TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
}

func TestCertificateOutOfDate(t *testing.T) {
	err := listing(t, "research", outOfDate(t))
	holdError(t, err, false, "the certificate of the API server at 127.0.0.1", "valid from", "this machine's clock shows", ": set the clock, or have the certificate renewed")
}

func TestNoCredentials(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"gke-gcloud-auth-plugin": "failed with exit code 3: log in again with `gcloud auth login`",
		"vault-login":            "failed with exit code 3: log in again with the program in users[].user.exec of the kubeconfig",
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(dir, name)
			if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			err := listing(t, "research", &rest.Config{Host: "https://127.0.0.1:1", ExecProvider: &clientcmdapi.ExecConfig{
				Command: program, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}})
			holdError(t, err, false, "list jobs in namespace research: there are no credentials for the cluster", want)
		})
	}
}

// The advice about a right for the whole cluster names no flag, and no Role of a namespace.
func TestARightInTheWholeCluster(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New(`User "bob" cannot list resource "nodes" in API group "" at the cluster scope`))
	err := Request{Verb: "list", Resource: "nodes", Cluster: true}.Explain("listing nodes", refused)
	const want = "listing nodes in the whole cluster: forbidden to bob: you need the verb list on nodes there: ask an administrator for a ClusterRole with it"
	if err.Error() != want {
		t.Errorf("got %v", err)
	}
	var next interface{ Next() string }
	if !errors.As(err, &next) || next.Next() != "ask an administrator for a ClusterRole with the verb list on nodes" {
		t.Errorf("next: %v", next)
	}
}

func TestWhyAServerRefuses(t *testing.T) {
	const rbac = `jobs.batch is forbidden: User "bob" cannot list resource "jobs" in API group "batch" in the namespace "research"`
	kinds := func(kind string) *metav1.StatusDetails { return &metav1.StatusDetails{Kind: kind} }
	terminating := &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: "NamespaceTerminating"}}}
	for name, c := range map[string]struct {
		namespace string
		status    metav1.Status
		passes    bool
		want      []string
	}{
		"a right is missing": {"research", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: rbac}, false,
			[]string{"list jobs in namespace research: forbidden to bob: you need the verb list on jobs there: ask an administrator for the Role kinetic-user, which is in manifests/rbac"}},
		"a right that GKE would give": {"research", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: rbac + `: requires one of ["container.jobs.list"] permission(s).`}, false,
			[]string{`missing rights): requires one of ["container.jobs.list"] permission(s).`}},
		"a policy in words of its own": {"research", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "policy 7: interns cannot list jobs"}, false,
			[]string{"list jobs in namespace research: policy 7: interns cannot list jobs"}},
		"a right in one namespace only": {"", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: rbac}, false,
			[]string{"list jobs in all namespaces", "you need the verb list on jobs in the whole cluster: omit --all-namespaces to use a single namespace"}},
		"a quota": {"research", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "exceeded quota: jobs"}, false,
			[]string{"list jobs in namespace research: exceeded quota: jobs"}},
		"a namespace that goes": {"research", metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Details: terminating}, false,
			[]string{"namespace research is being deleted", "--namespace"}},
		"no such namespace": {"research", metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Details: kinds("namespaces")}, false,
			[]string{"there is no namespace research", "kubectl create namespace research"}},
		"something else is missing": {"research", metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: "nothing here", Details: kinds("jobs")}, false,
			[]string{"list jobs in namespace research: nothing here"}},
		"credentials that have expired": {"research", metav1.Status{Code: 401, Reason: metav1.StatusReasonUnauthorized}, false,
			[]string{"does not accept your credentials", "gcloud auth login"}},
		"a busy server": {"research", metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError, Message: "etcd is slow"}, true,
			[]string{"etcd is slow"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.status.Kind, c.status.APIVersion, c.status.Status = "Status", "v1", metav1.StatusFailure
			err := listing(t, c.namespace, serve(t, c.status))
			holdError(t, err, c.passes, c.want...)
			if want := name == "no such namespace"; usage(err) != want {
				t.Errorf("an error of the command line: %v, want %v", !want, want)
			}
			if strings.Contains(err.Error(), `User "bob" cannot`) {
				t.Errorf("it says twice what is missing: %v", err)
			}
		})
	}
}

// A Role helps only against a refusal of the authorizer, whatever others call what they refuse.
func TestWhatARoleHelpsAgainst(t *testing.T) {
	const lacks = `jobs.batch is forbidden: User "bob" cannot create resource "jobs" in API group "batch" in the namespace "ml"`
	for says, want := range map[string]bool{
		lacks: true,
		lacks + `: requires one of ["container.jobs.create"] permission(s).`:                                         true,
		`admission webhook "owners" denied the request: a Job cannot be created without the label owner`:             false,
		`secrets "x" is forbidden: exceeded quota: small, requested: secrets=1, used: secrets=1, limited: secrets=1`: false,
		"Forbidden": false,
	} {
		refused := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: says}}
		explained := Request{Verb: "create", Resource: "jobs", Namespace: "ml"}.Explain("creating a job", refused)
		if LacksRight(refused) != want || LacksRight(explained) != want || strings.Contains(explained.Error(), "you need the verb") != want {
			t.Errorf("%s: want %v, told as %v", says, want, explained)
		}
	}
	if LacksRight(errors.New(lacks)) {
		t.Error("no API server has said that")
	}
}

// serve answers every request with one status.
func serve(t *testing.T, status metav1.Status) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Code))
		_ = json.NewEncoder(w).Encode(status)
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

// A server that goes away while it answers will be back.
func TestAnAnswerThatIsCut(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, "{")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}))
			s.EnableHTTP2 = http2
			s.StartTLS()
			defer s.Close()
			config := &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
			holdError(t, listing(t, "research", config), true, "list jobs in namespace research", "reading response body")
		})
	}
}

func TestSomethingElseAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>Sign in\n to the hotel's network</h1>", http.StatusForbidden)
	}))
	defer s.Close()
	holdError(t, listing(t, "research", &rest.Config{Host: s.URL}), false, "not a Kubernetes API server response", "Sign in to the hotel's network")
}
