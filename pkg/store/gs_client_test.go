package store

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Credentials that are refused are noticed where a token is fetched, before Cloud
// Storage is asked for anything.
func TestRefusedCredentials(t *testing.T) {
	for name, tt := range map[string]struct{ why, hint string }{
		"expired":        {"Token has been expired or revoked.", "; correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is FILE"},
		"the wrong time": {"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.", "set this machine's clock"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": tt.why})
			}))
			defer server.Close()
			t.Setenv("STORAGE_EMULATOR_HOST", "")
			file := serviceAccount(t, server.URL)
			t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
			s, err := Open("gs://acme-jobs")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, err = range s.List(t.Context(), "", "") {
				break
			}
			if err == nil || !strings.Contains(err.Error(), "listing gs://acme-jobs/: the credentials were refused: ") || !strings.HasSuffix(err.Error(), strings.Replace(tt.hint, "FILE", file, 1)) {
				t.Errorf("error %v, want one that ends in %q", err, tt.hint)
			}
		})
	}
}

func TestCertificateOutOfDate(t *testing.T) {
	cert := &x509.Certificate{NotBefore: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	failed := &url.Error{Op: "Get", URL: "https://storage.googleapis.com/x", Err: x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired}}
	r := &request{store: &gsStore{bucket: "acme-jobs"}, need: toRead, name: "job/handle.json"}
	err := r.explain(t.Context(), failed)
	want := regexp.MustCompile(`^reading gs://acme-jobs/job/handle\.json: the certificate of Cloud Storage at storage\.googleapis\.com is valid from 2026-04-01T00:00:00Z to 2026-07-01T00:00:00Z, but this machine's clock shows \S+Z: set the clock, or have the certificate renewed$`)
	if !want.MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

// serviceAccount writes a key whose tokens come from a server of the test.
func serviceAccount(t *testing.T, tokenURL string) (file string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	text, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "ci@acme.iam.gserviceaccount.com",
		"private_key": string(private), "token_uri": tokenURL})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
