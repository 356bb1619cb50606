package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"cloud.google.com/go/auth"
	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
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

// unusableError is an error in our words that is also an ErrUnusable.
type unusableError struct{ transport.Explained }

func (e *unusableError) Is(target error) bool { return target == ErrUnusable }

// unusable returns an error in our words about a store that cannot be used as it is.
func unusable(text string, cause error) error {
	return &unusableError{transport.Explained{Text: text, Cause: cause}}
}

func isStatus(err error, code int) bool {
	answer, ok := errors.AsType[*googleapi.Error](err)
	return ok && answer.Code == code
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
	if answer, ok := errors.AsType[*googleapi.Error](err); ok {
		if answer.Code == http.StatusNotFound && !r.bucketMissing(message(answer)) {
			return fmt.Errorf("%s %w", r.store.full(r.name), ErrNotFound)
		}
		return r.refused(what, answer, err)
	}
	if transport.Dialing(err) || transport.Untrusted(err) {
		if why := server().Explain(err); why != "" {
			return &transport.Explained{Text: what + ": " + why, Cause: err, Of: api.KindUnreachable}
		}
	}
	if token, ok := errors.AsType[*auth.Error](err); ok {
		next, advice := principal.RemedyFor(token, os.Getenv)
		why := transport.Explained{Text: fmt.Sprintf("%s: the credentials were refused: %v; %s", what, token, advice), Cause: err, Of: api.KindForbidden, Do: next}
		if token.Temporary() {
			return &why
		}
		return &unusableError{why}
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
const denied = `^(\S+@\S+) does not have (storage\.[A-Za-z.]+) access`

// refused returns an error in our words about an answer of the server.
func (r *request) refused(what string, answer *googleapi.Error, err error) error {
	text, next := r.reason(answer)
	why := transport.Explained{Text: what + ": " + text, Cause: err, Do: next}
	switch answer.Code {
	case http.StatusNotFound: // a 404 here is about the bucket
		why.Of = api.KindNotFound
		why.Text = text // whatever was being done: it names the bucket
	case http.StatusUnauthorized, http.StatusForbidden:
		why.Of = api.KindForbidden
	default:
		return &why
	}
	return &unusableError{why} // until someone changes the bucket or the account
}

// reason returns why the server did not do it, and what to do if that is one command.
func (r *request) reason(answer *googleapi.Error) (why, next string) {
	text := message(answer)
	who, permission := r.client.account, r.need.permission
	if match := lazyregexp.Of(denied).FindStringSubmatch(text); match != nil {
		who, permission = match[1], match[2]
	}
	bucket := r.store.bucket
	switch answer.Code {
	case http.StatusNotFound:
		return fmt.Sprintf("there is no bucket %s%s; %s", bucket, asked(who), r.store.create), r.store.create
	case http.StatusUnauthorized:
		next, advice := principal.Remedy(os.Getenv)
		return fmt.Sprintf("the credentials were refused: %s; %s", text, advice), next
	case http.StatusForbidden:
		grant := fmt.Sprintf("gcloud storage buckets add-iam-policy-binding gs://%s --member=%s --role=roles/storage.objectUser", bucket, principal.Member(who))
		return fmt.Sprintf("%s needs the permission %s on the bucket %s: %s (`kubectl kinetic doctor` shows what else is missing); grant it with: %s", cmp.Or(who, "the account in use"), permission, bucket, text, grant), grant
	default:
		return fmt.Sprintf("the server answered %d: %s", answer.Code, text), ""
	}
}

// asked names the account that may not see the bucket.
func asked(account string) string {
	if account == "" {
		return ""
	}
	return ", or " + account + " may not see it"
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
