package packages

import "testing"

func TestAccountIn(t *testing.T) {
	for file, want := range map[string]string{
		`{"type":"service_account","client_email":"ci@acme.iam.gserviceaccount.com"}`:                                                                   "ci@acme.iam.gserviceaccount.com",
		`{"type":"impersonated_service_account","service_account_impersonation_url":"https://x/v1/projects/-/serviceAccounts/a@b:generateAccessToken"}`: "a@b",
		`{"type":"authorized_user","client_id":"x"}`:                                                                                                    "",
		"": "",
	} {
		if got := accountIn([]byte(file)); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
