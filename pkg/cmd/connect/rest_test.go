package connect

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestTheUsersCertificate(t *testing.T) {
	now := time.Date(2026, 4, 17, 15, 30, 0, 0, time.UTC)
	valid, ended := certificate(t, now.Add(time.Hour)), certificate(t, now.Add(-time.Hour))
	file := filepath.Join(t.TempDir(), "client.crt")
	if err := os.WriteFile(file, ended, 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "its user's certificate expired on 2026-04-17T14:30:00Z, and this machine's clock shows 2026-04-17T15:30:00Z: get the context again"
	for name, tt := range map[string]struct {
		config rest.TLSClientConfig
		want   string
	}{
		"none":               {rest.TLSClientConfig{}, ""},
		"valid":              {rest.TLSClientConfig{CertData: valid}, ""},
		"ended":              {rest.TLSClientConfig{CertData: ended}, want},
		"ended, in a file":   {rest.TLSClientConfig{CertFile: file}, want},
		"data before a file": {rest.TLSClientConfig{CertData: valid, CertFile: file}, ""},
		"no certificate":     {rest.TLSClientConfig{CertData: []byte("what?")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkCertificate(tt.config, now)
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// certificate is one of a user that is valid until a time.
func certificate(t *testing.T, until time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
