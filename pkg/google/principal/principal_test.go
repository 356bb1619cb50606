package principal

import "testing"

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
