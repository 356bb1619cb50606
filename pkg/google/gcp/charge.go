package gcp

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/api/googleapi"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// QuotaProject returns the project that the credentials or the environment have requests charged to, ""
// if they name none.
func (a *Access) QuotaProject() string { return a.charged }

// Charging returns the command that has requests charged to a project.
func (a *Access) Charging(project string) string { return principal.ChargeTo(project, a.env) }

// SetNumber remembers the number of a project, by which services name it when they refuse a request.
func (a *Access) SetNumber(project, number string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.numbers[project] = number
}

func (a *Access) number(project string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.numbers[project]
}

// ofGcloud is the number of the project of gcloud's own client. It is charged for requests of users whose
// credentials name no other project, and has no API enabled.
const ofGcloud = "764086051850"

// IsDisabled reports whether a request failed because a project hasn't enabled the API, and no other
// project was charged for it as far as is known. It is no reason to believe that the API is off: only
// Service Usage knows that.
func (a *Access) IsDisabled(err error, project string) bool {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return false
	}
	d := detailOf(answer)
	return isOff(answer, d) && a.other(d, project) == ""
}

// DisabledAPI returns the API that a project has not enabled according to a service,
// "container.googleapis.com", and the project that was charged, by its number or its ID. Both are "" if an
// error says no such thing, or not of which.
func DisabledAPI(err error) (api, consumer string) {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return "", ""
	}
	d := detailOf(answer)
	if !isOff(answer, d) {
		return "", ""
	}
	return cmp.Or(d.Metadata["service"], lazyregexp.Of(serviceIn).FindString(d.Message)), d.consumer()
}

func isOff(answer *googleapi.Error, d detail) bool {
	return answer.Code == http.StatusForbidden && (d.Reason == "SERVICE_DISABLED" || d.has("accessNotConfigured"))
}

// consumer returns the number or the ID of the project that was charged, "" if the answer doesn't say.
func (d detail) consumer() string {
	if named := strings.TrimPrefix(d.Metadata["consumer"], "projects/"); named != "" {
		return strings.TrimPrefix(named, "project:")
	}
	if found := lazyregexp.Of(consumerIn).FindStringSubmatch(d.Message); found != nil {
		return found[1]
	}
	return ""
}

// consumerIn matches how an answer without details names the project that was charged: "Compute Engine
// API has not been used in project 123 before or it is disabled."
const consumerIn = `in project (\S+) before`

// other returns the project that was charged if it is another one than that of the request, "" if it is
// that, or if nothing says so.
func (a *Access) other(d detail, project string) string {
	consumer, quota := d.consumer(), a.charged
	if consumer == "" || consumer == project || consumer == a.number(project) {
		return ""
	}
	unlike := quota != "" && quota != project && quota != a.number(project)
	switch {
	case consumer == ofGcloud, !isNumber(consumer):
		return consumer
	case unlike: // people know it by its ID
		return quota
	case a.number(project) != "":
		return consumer
	}
	return "" // probably the number of the project
}

// userProjectDenied is the reason of services for which the account may not use the project that is charged,
// or which don't find it.
const userProjectDenied = "USER_PROJECT_DENIED"

// chargedElsewhere returns why a request was refused that was charged to another project than its own.
func (a *Access) chargedElsewhere(answer *googleapi.Error, d detail, project, text string) (r reason, found bool) {
	other, off := a.other(d, project), isOff(answer, d)
	r = reason{kind: api.KindForbidden, next: a.Charging(project), verb: "change that"}
	switch {
	case other == "" || !off && d.Reason != userProjectDenied:
		return r, false
	case off && other == ofGcloud:
		r.why, r.verb = "the credentials don't say which project to charge", "set it"
	default:
		r.why = fmt.Sprintf("the credentials charge project %s, and not %s: %s", other, project, text)
	}
	return r, true
}

// ChargesOther reports whether a request was refused because of the project that it was charged to, which is
// another one than its own.
func (a *Access) ChargesOther(err error, project string) bool {
	answer, isAnswer := answerIn(err)
	if !isAnswer {
		return false
	}
	_, found := a.chargedElsewhere(answer, detailOf(answer), project, "")
	return found
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }
