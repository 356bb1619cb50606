package explain

import (
	"cmp"
	"fmt"
	"path"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// runnersSync is how often the runner saves outputs if it is not told.
const runnersSync = 30 * time.Second

// explainedOutputs says where the job's outputs begin and end.
type explainedOutputs struct {
	// Dir is a place that the user chose, null for the job's own in the store.
	Dir *string `json:"dir"`
	// Sync is how often finished outputs are saved, 0s for only at the end; null if they are where the
	// job writes them.
	Sync *string `json:"sync"`
	// Mount means that the bucket is mounted.
	Mount bool `json:"mount"`
	// ResumeFrom is the job with a copy of whose outputs this one begins, null for none.
	ResumeFrom *string `json:"resumeFrom"`
	// FetchTo is the directory here that they are copied to at the end, null for none.
	FetchTo *string `json:"fetchTo"`
	local   bool
}

func explainOutputs(s api.Spec) explainedOutputs {
	e := explainedOutputs{Dir: Optional(s.OutputDir), Mount: s.OutputMount, ResumeFrom: Optional(s.ResumeFrom), local: s.Backend == api.BackendLocal}
	if e.local || e.Mount || path.IsAbs(s.OutputDir) {
		return e
	}
	e.Sync = new(duration.HumanDuration(max(cmp.Or(s.OutputSync, runnersSync), 0)))
	return e
}

func (e explainedOutputs) sentence() string {
	text := "the store"
	if e.Dir != nil {
		text = *e.Dir
	}
	switch {
	case e.Mount:
		text += ", mounted with Cloud Storage FUSE"
	case e.Sync == nil && !e.local:
		text += " in the pod, not saved elsewhere"
	case e.Sync == nil:
	case *e.Sync == "0s":
		text += ", saved at the end"
	default:
		text += fmt.Sprintf(", saved every %s and at the end", *e.Sync)
	}
	if e.ResumeFrom != nil {
		text += "; they begin with a copy of those of job " + *e.ResumeFrom
	}
	if e.FetchTo != nil {
		text += fmt.Sprintf("; copied to %s when the job has ended", *e.FetchTo)
	}
	return text
}
