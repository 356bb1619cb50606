package gcptest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
)

// Account is the account of the credentials.
const Account = "admin@acme.iam.gserviceaccount.com"

const tokenPath = "/token"

// tokens are the access tokens that were given out.
type tokens struct {
	expired bool
	count   int
	valid   map[string]bool
}

func (t *tokens) accepts(header string) bool { return t.valid[bearer(header)] }

// Expire ends the credentials: no token is accepted any longer, and none is given out.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens.expired, s.tokens.valid = true, nil
}

// Renew ends what Expire has begun, as logging in does.
func (s *Server) Renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens.expired = false
}

// key is the key of the account. Making one takes long, so a process has one.
var key = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// writeCredentials writes the key file of a service account, as gcloud would.
func (s *Server) writeCredentials(file string) error {
	private, err := key()
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	fields := map[string]string{
		"type": "service_account", "project_id": DefaultProject, "private_key_id": "1",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
		"client_email": Account, "client_id": "1", "token_uri": s.URL + tokenPath,
	}
	if s.quotaProject != "" {
		fields["quota_project_id"] = s.quotaProject
	}
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// serveToken issues a token for a request that is signed with the key.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if err := verify(r.FormValue("assertion")); err != nil || s.tokens.expired {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": "Token has been expired or revoked."})
		return
	}
	s.tokens.count++
	token := fmt.Sprintf("token-%d", s.tokens.count)
	if s.tokens.valid == nil {
		s.tokens.valid = map[string]bool{}
	}
	s.tokens.valid[token] = true
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
}

// verify checks the signature of a JSON Web Token.
func verify(assertion string) error {
	private, err := key()
	if err != nil {
		return err
	}
	i := strings.LastIndexByte(assertion, '.')
	if i < 0 {
		return fmt.Errorf("%q is no token", assertion)
	}
	signature, err := base64.RawURLEncoding.DecodeString(assertion[i+1:])
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(assertion[:i]))
	return rsa.VerifyPKCS1v15(&private.PublicKey, crypto.SHA256, hash[:], signature)
}
