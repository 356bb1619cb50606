package principal

import (
	"errors"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestNotFound(t *testing.T) {
	none := errors.New("no credentials")
	for file, want := range map[string]struct{ text, next string }{
		"":        {"finding credentials for Cloud Storage: no credentials; log in with: gcloud auth application-default login", "gcloud auth application-default login"},
		"/a.json": {"finding credentials for Cloud Storage: no credentials; correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is /a.json", "correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is /a.json"},
	} {
		env := map[string]string{api.EnvCredentials: file}
		err := NotFound("Cloud Storage", none, func(name string) string { return env[name] })
		if err.Error() != want.text || err.Next() != want.next || err.Kind() != api.KindForbidden || !errors.Is(err, none) {
			t.Errorf("%q: %v, next %q, kind %s", file, err, err.Next(), err.Kind())
		}
	}
}

func TestOf(t *testing.T) {
	for file, want := range map[string]string{
		`{"type":"service_account","client_email":"ci@acme.iam.gserviceaccount.com"}`:                                                                                         "ci@acme.iam.gserviceaccount.com",
		`{"type":"impersonated_service_account","client_email":"me@x","service_account_impersonation_url":"https://x/v1/projects/-/serviceAccounts/a@b:generateAccessToken"}`: "a@b",
		`{"type":"authorized_user","client_id":"x"}`:                    "",
		`{"type":"authorized_user","account":"me@example.com"}`:         "me@example.com",
		`{"service_account_impersonation_url":"","client_email":"a@b"}`: "a@b",
		"": "",
	} {
		if got := Of([]byte(file)); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestMember(t *testing.T) {
	for account, want := range map[string]string{
		"":                            "user:EMAIL",
		"me@example.com":              "user:me@example.com",
		"a@p.iam.gserviceaccount.com": "serviceAccount:a@p.iam.gserviceaccount.com",
	} {
		if got := Member(account); got != want {
			t.Errorf("%s: got %q", account, got)
		}
	}
}
