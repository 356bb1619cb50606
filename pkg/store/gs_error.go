package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"cloud.google.com/go/auth"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/transport"
)

// need is what an operation does, for messages, and the permission for it.
type need struct{ verb, permission string }

var (
	toRead   = need{"reading", "storage.objects.get"}
	toList   = need{"listing", "storage.objects.list"}
	toCreate = need{"writing", "storage.objects.create"}
	toDelete = need{"deleting", "storage.objects.delete"}
	toCopy   = need{"copying", "storage.objects.get"} // of its source
	// A copy over an object replaces it.
	toRenew = need{"renewing", "storage.objects.delete"}
)

const login = "log in with: gcloud auth application-default login"

// unusableError is an error in our words that is also an ErrUnusable.
type unusableError struct{ transport.Explained }

func (e *unusableError) Is(target error) bool { return target == ErrUnusable }

// unusable returns an error in our words about a store that cannot be used as it is.
func unusable(text string, cause error) error {
	return &unusableError{transport.Explained{Text: text, Cause: cause}}
}

// explained returns an error in our words, which is an ErrUnusable if lasting is set.
func explained(text string, cause error, lasting bool) error {
	if lasting {
		return unusable(text, cause)
	}
	return &transport.Explained{Text: text, Cause: cause}
}

func isStatus(err error, code int) bool {
	var answer *googleapi.Error
	return errors.As(err, &answer) && answer.Code == code
}

// explain says what was being done to which object, why it failed and what to do. It
// doesn't change errors that are not the store's, such as those of a source of bytes.
// Once ctx is over, that is the reason, whatever failed last.
func (r *request) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	what := r.need.verb + " " + r.store.full(r.name)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	var answer *googleapi.Error
	if errors.As(err, &answer) {
		if answer.Code == http.StatusNotFound && !r.bucketMissing(message(answer)) {
			return fmt.Errorf("%s %w", r.store.full(r.name), ErrNotFound)
		}
		return explained(what+": "+r.reason(answer), err, refusal(answer.Code))
	}
	if transport.Dialing(err) || transport.Untrusted(err) {
		if why := server().Explain(err); why != "" {
			return explained(what+": "+why, err, false)
		}
	}
	var token *auth.Error
	if errors.As(err, &token) {
		hint := login
		if strings.Contains(token.Error(), "reasonable timeframe") {
			// a token signed by a wrong clock
			hint = "set this machine's clock"
		}
		return explained(fmt.Sprintf("%s: the credentials were refused: %v; %s", what, token, hint), err, !token.Temporary())
	}
	return fmt.Errorf("%s: %w", what, err)
}

// bucketMissing reports whether a 404 is about the bucket rather than the object.
func (r *request) bucketMissing(message string) bool {
	return r.need == toList || r.need == toCreate || strings.Contains(message, "bucket does not exist")
}

// message returns the server's message. The client library parses it everywhere but in
// answers to downloads.
func message(answer *googleapi.Error) string {
	if answer.Message != "" {
		return answer.Message
	}
	var body struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(answer.Body), &body) // a proxy's page has no message
	return cmp.Or(body.Error.Message, http.StatusText(answer.Code))
}

// denied matches Cloud Storage's refusals: "me@example.com does not have
// storage.objects.create access to …".
var denied = regexp.MustCompile(`^(\S+@\S+) does not have (storage\.[A-Za-z.]+) access`)

// refusal reports whether an answer stays the same until someone changes the bucket or
// the account: a 404 here is about the bucket.
func refusal(code int) bool {
	return code == http.StatusNotFound || code == http.StatusUnauthorized || code == http.StatusForbidden
}

func (r *request) reason(answer *googleapi.Error) string {
	text := message(answer)
	who, permission := r.client.account, r.need.permission
	if match := denied.FindStringSubmatch(text); match != nil {
		who, permission = match[1], match[2]
	}
	bucket := r.store.bucket
	switch answer.Code {
	case http.StatusNotFound:
		return fmt.Sprintf("there is no bucket %s%s; %s", bucket, asked(who), r.store.create)
	case http.StatusUnauthorized:
		return fmt.Sprintf("the credentials were refused: %s; %s", text, login)
	case http.StatusForbidden:
		return fmt.Sprintf("%s needs the permission %s on the bucket %s: %s; grant it with: gcloud storage buckets add-iam-policy-binding gs://%s --member=%s --role=roles/storage.objectUser",
			cmp.Or(who, "the account in use"), permission, bucket, text, bucket, member(who))
	default:
		return fmt.Sprintf("the server answered %d: %s", answer.Code, text)
	}
}

// asked names the account that may not see the bucket.
func asked(account string) string {
	if account == "" {
		return ""
	}
	return ", or " + account + " may not see it"
}

func member(account string) string {
	switch {
	case account == "":
		return "user:EMAIL"
	case strings.HasSuffix(account, ".gserviceaccount.com"):
		return "serviceAccount:" + account
	default:
		return "user:" + account
	}
}

// server names the server for messages such as "Cloud Storage can't be reached".
func server() transport.Server {
	s := transport.Server{Name: "Cloud Storage", Authority: "an authority that this machine trusts",
		Advice: "check the network, and HTTPS_PROXY if there is a proxy"}
	if emulator := os.Getenv(api.EnvStorageEmulator); emulator != "" {
		s.Name = fmt.Sprintf("the emulator %s=%s", api.EnvStorageEmulator, emulator)
		s.Advice = "start it, or unset the variable to use Cloud Storage"
	}
	return s
}
