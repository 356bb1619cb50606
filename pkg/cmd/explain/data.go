package explain

import (
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
)

type explainedData struct {
	// Name is the argument that becomes the path, Mount the path itself: one of them is null.
	Name   *string `json:"name"`
	Mount  *string `json:"mount"`
	Source string  `json:"source"`
	// Access is how the files get there: copy, fuse, claim, or here for those of a local job.
	Access api.Access `json:"access"`
	// Writable means that the job may write to what is mounted. Cache is how much of it FUSE
	// keeps on the node's disk, null for nothing.
	Writable bool    `json:"writable"`
	Cache    *string `json:"cache"`
	// Files and Bytes count what is sent from this machine, null for anything else.
	Files *int64 `json:"files"`
	Bytes *int64 `json:"bytes"`
	text  string
}

func explainData(inputs []api.Data) []explainedData {
	explained := []explainedData{}
	for _, d := range inputs {
		e := explainedData{Name: Optional(d.Name), Mount: Optional(d.Mount), Source: d.Source, Access: d.Access, Writable: d.Writable, Cache: Optional(d.Cache), text: report.DataText(d)}
		if d.Set != "" {
			e.Files, e.Bytes = &d.Files, &d.Bytes
		}
		explained = append(explained, e)
	}
	return explained
}
