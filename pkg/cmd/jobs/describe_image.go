package jobs

import (
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// describeImage prints the image, and what is installed for the job, as far as that is known.
func describeImage(row func(key, format string, args ...any), d job.Description) {
	if d.Image == "" || d.Handle.Backend == api.BackendLocal {
		return
	}
	row("Image", "%s", d.Image)
	if digest := digest(d); digest != "" {
		row("Digest", "%s", digest)
	}
	if d.Handle.ImageMode != "" {
		row("Mode", "%s", d.Handle.ImageMode)
	}
	if len(d.Packages) == 0 {
		return
	}
	key := "Packages"
	for _, line := range report.PackageLines(report.Packages(d.Packages)) {
		row(key, "%s", line)
		key = ""
	}
}

// digest returns the digest of the job's image, "" if it is not known.
func digest(d job.Description) string {
	if n := len(d.Handle.ImageDigests); n > 0 {
		return d.Handle.ImageDigests[n-1]
	}
	return d.Status.ImageDigest
}
