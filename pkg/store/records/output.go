package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// EndLine returns the very last line that a job's last pod prints, on standard error. The runner does not store
// the line. It is only a hint: any program can print it.
func EndLine(id string) string { return fmt.Sprintf(api.Contract.Lines.End, id) }

// reportStart begins the line in which a pod reports its pickle. The runner does not store the line. No output of
// the call begins like that in the log of a pod: the runner puts a mark before a line that does.
var reportStart = []byte(api.Contract.Marks.Report + api.Contract.Lines.Report)

// Reports takes what a pod reports from the lines of its log, which comes from the cluster. The
// zero value has taken nothing.
type Reports struct{ pickle atomic.Pointer[api.Pickle] }

// Take reports whether a whole line, without its stamp, is a report.
func (r *Reports) Take(line []byte) bool {
	text, found := bytes.CutPrefix(line, reportStart)
	var p api.Pickle
	if !found || json.Unmarshal(text, &p) != nil {
		return false
	}
	r.pickle.Store(&p)
	return true
}

// Report takes what a pod has reported in another way than by its log.
func (r *Reports) Report(p *api.Pickle) { r.pickle.Store(p) }

// Reported returns the pickle that a pod has reported last, nil if none has.
func (r *Reports) Reported() *api.Pickle { return r.pickle.Load() }
