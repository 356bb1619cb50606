package gcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// detail is what an answer says about a failure for programs.
type detail struct {
	Message  string
	Reason   string // "SERVICE_DISABLED", "QUOTA_EXCEEDED"
	Metadata map[string]string
	reasons  []string // in the older form: "accessNotConfigured", "QUOTA_EXCEEDED"
}

// has reports whether the answer gives a reason in the older form.
func (d detail) has(reason string) bool { return slices.Contains(d.reasons, reason) }

func detailOf(answer *googleapi.Error) detail {
	var body struct {
		Error struct {
			Message string
			Details []struct {
				Type     string `json:"@type"`
				Reason   string
				Metadata map[string]string
			}
		}
	}
	_ = json.Unmarshal([]byte(answer.Body), &body) // a proxy's page has no details
	d := detail{Message: body.Error.Message}
	for _, each := range body.Error.Details {
		if strings.HasSuffix(each.Type, "google.rpc.ErrorInfo") {
			d.Reason, d.Metadata = each.Reason, each.Metadata
		}
	}
	for _, item := range answer.Errors {
		d.reasons = append(d.reasons, item.Reason)
	}
	return d
}

// IsStatus reports whether err is an answer with that HTTP status, or an operation that failed
// with the code that corresponds to it.
func IsStatus(err error, code int) bool {
	var answer *googleapi.Error
	return errors.As(err, &answer) && answer.Code == code
}

// IsExists reports whether something could not be made because it exists.
func IsExists(err error) bool { return IsStatus(err, http.StatusConflict) }

// IsMissing reports whether a service says that something doesn't exist. The page of a proxy, or of an
// address without a service, doesn't say so.
func IsMissing(err error) bool {
	return IsStatus(err, http.StatusNotFound) && MessageIn(err) != ""
}

// QuotaPage is where people see their quotas, and ask for more.
const QuotaPage = "https://console.cloud.google.com/iam-admin/quotas"

// Quota is a limit that would be exceeded.
type Quota struct {
	Metric string // "TPUS_PER_TPU_FAMILY", "NVIDIA_L4_GPUS"; "" if the service doesn't say
	Limit  string // "" if the service doesn't say
	Region string // "global" for none
	Text   string // what the service said
}

// String says which quota it is, and where to ask for more.
func (q Quota) String() string {
	text := "the quota is exceeded"
	if q.Metric != "" {
		text = "the quota " + q.Metric
		if q.Region != "" {
			text += " in " + q.Region
		}
		text += " is exceeded"
		if q.Limit != "" {
			text += ", its limit is " + q.Limit
		}
	}
	return fmt.Sprintf("%s: %s; ask for more at %s", text, q.Text, QuotaPage)
}

const (
	// quotaText matches how Compute Engine says it: "Quota 'NVIDIA_L4_GPUS' exceeded.  Limit:
	// 1.0 in region us-central1."
	quotaText = `[Qq]uota '([^']+)' exceeded\.?\s+Limit: ([0-9.]+?)(?:\.0)? (globally|in (?:region|zone) ([a-z0-9-]+))`
	// shortText matches how GKE says it: `Insufficient regional quota to satisfy request:
	// resource "NVIDIA_L4_GPUS": request requires '8.0' and is short '7.0'. project has a quota
	// of '1.0' with '1.0' available.`
	shortText = `resource "([^"]+)": request requires .* quota of '([0-9.]+?)(?:\.0)?'`
)

// quotaOf reads the quota from the details, or from the text that a service has.
func quotaOf(d detail, text string) (Quota, bool) {
	q := Quota{Text: text}
	if found := lazyregexp.Of(quotaText).FindStringSubmatch(text); found != nil {
		q.Metric, q.Limit, q.Region = found[1], found[2], found[4]
		if found[3] == "globally" {
			q.Region = "global"
		}
	} else if found := lazyregexp.Of(shortText).FindStringSubmatch(text); found != nil {
		q.Metric, q.Limit = found[1], found[2]
	} else if d.Reason == "RATE_LIMIT_EXCEEDED" || d.Reason != "QUOTA_EXCEEDED" && !d.has("QUOTA_EXCEEDED") && !d.has("quotaExceeded") {
		return q, false
	}
	return q, true
}

// MessageIn returns what a service said, "" if the error is no answer of one.
func MessageIn(err error) string {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return ""
	}
	return cmp.Or(answer.Message, detailOf(answer).Message)
}

func answerIn(err error) (*googleapi.Error, bool) { return errors.AsType[*googleapi.Error](err) }
