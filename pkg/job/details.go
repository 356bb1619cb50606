package job

import (
	"os/user"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// Details are what only the handle of a job says. The handle of an older client lacks some.
type Details struct {
	// Call is what is called, with its arguments, cut and without secrets.
	Call string `json:"call,omitempty"`
	// User is the account on the machine that submitted the job.
	User string `json:"user,omitempty"`
	// Commit was checked out there; Dirty says that files differed from it.
	Commit string `json:"gitCommit,omitempty"`
	Dirty  bool   `json:"gitDirty,omitempty"`
	Image  string `json:"image,omitempty"`
	// CPU and Memory are what each pod asks for.
	CPU    string `json:"cpu,omitempty"`
	Memory string `json:"memory,omitempty"`
	// MaxAttempts is how often the job starts at most, not counting lost machines; 0 where that
	// is not known.
	MaxAttempts int               `json:"maxAttempts,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

func detailsOf(h api.Handle) Details {
	d := Details{Call: h.Call, User: h.User, Commit: h.Commit, Dirty: h.Dirty, Image: h.ImageURI, CPU: h.CPU, Memory: h.Memory, Labels: h.Labels}
	if !h.ByPythonTool() && h.Map == nil && h.Backend != api.BackendLocal {
		d.MaxAttempts = h.Retries + 1
	}
	return d
}

// known reports whether the details were read.
func (d Details) known() bool {
	return d.Call != "" || d.User != "" || d.Image != "" || d.MaxAttempts > 0
}

// CurrentUser is the name of this machine's account, as Details.User has it; "" where it is not
// known.
func CurrentUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
