package price

import "github.com/kubectl-kinetic/kinetic/pkg/api"

// Entry is a job of a list with its cost.
type Entry struct {
	api.JobSummary

	// Cost is null for a job that holds no accelerators or has not started.
	Cost *Cost `json:"cost"`
}

// Entries adds the costs to a list. It is never nil, so that programs get an empty list.
func (m Meter) Entries(jobs []api.JobSummary) []Entry {
	all := make([]Entry, 0, len(jobs))
	for _, e := range jobs {
		all = append(all, Entry{e, m.OfSummary(e)})
	}
	return all
}
