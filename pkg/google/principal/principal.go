// Package principal names who makes requests to Google Cloud.
package principal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Login is the command that makes credentials for the programs of this machine.
const Login = "gcloud auth application-default login"

// Remedy returns what to do about credentials that are missing or refused, and how errors say it. env returns the
// variables of the environment. If GOOGLE_APPLICATION_CREDENTIALS is set, Google's libraries ignore the file that a
// login writes.
func Remedy(env func(string) string) (next, advice string) {
	if file := env(api.EnvCredentials); file != "" {
		next = fmt.Sprintf("correct or unset %s, which is %s", api.EnvCredentials, file)
		return next, next
	}
	return Login, "log in with: " + Login
}

// RemedyFor returns what to do about credentials for which no token was given, as Remedy does.
func RemedyFor(refusal error, env func(string) string) (next, advice string) {
	if strings.Contains(refusal.Error(), "reasonable timeframe") { // a token signed by a wrong clock
		return "set this machine's clock", "set this machine's clock"
	}
	return Remedy(env)
}

// quotaVariable is the variable of Google's clients for the project that requests are charged to.
const quotaVariable = "GOOGLE_CLOUD_QUOTA_PROJECT"

// ChargeTo returns the command that has requests charged to a project. The one of gcloud changes the file that a
// login writes, and no other.
func ChargeTo(project string, env func(string) string) string {
	if env(api.EnvCredentials) != "" || env(quotaVariable) != "" {
		return "export " + quotaVariable + "=" + project
	}
	return "gcloud auth application-default set-quota-project " + project
}

// NotFound returns the error for a service without credentials.
func NotFound(service string, err error, env func(string) string) *transport.Explained {
	next, advice := Remedy(env)
	return &transport.Explained{Text: fmt.Sprintf("finding credentials for %s: %v; %s", service, err, advice), Cause: err, Of: api.KindForbidden, Do: next}
}

// Of returns the account that a file of credentials is for, "" if it doesn't say: then only the
// server's answers do.
func Of(credentials []byte) string {
	var fields struct {
		Email         string `json:"client_email"`
		Account       string `json:"account"`
		Impersonation string `json:"service_account_impersonation_url"`
	}
	if err := json.Unmarshal(credentials, &fields); err != nil {
		return ""
	}
	// …/serviceAccounts/NAME@PROJECT.iam.gserviceaccount.com:generateAccessToken
	impersonated, _, _ := strings.Cut(path.Base(fields.Impersonation), ":")
	if !strings.Contains(impersonated, "@") {
		impersonated = ""
	}
	return cmp.Or(impersonated, fields.Email, fields.Account)
}

// Member returns an account as IAM writes it: "user:me@example.com", and "user:EMAIL" for "".
func Member(account string) string {
	switch {
	case account == "":
		return "user:EMAIL"
	case strings.HasSuffix(account, ".gserviceaccount.com"):
		return "serviceAccount:" + account
	}
	return "user:" + account
}
