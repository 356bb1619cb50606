package jobs

import (
	"slices"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

// describeImage prints the image, and what is installed for the job, as far as that is known. wide also prints the
// digest, and where the packages are.
func describeImage(row addRow, d job.Description, wide bool) {
	if d.Image == "" || d.Handle.Backend == api.BackendLocal {
		return
	}
	row("Image", "%s", d.Image)
	if wide {
		row("Digest", "%s", digest(d))
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

// digest returns the digest of the image that the pods run, "" if it is not known: the tag may have moved after
// submission.
func digest(d job.Description) string {
	sent, seen := d.Handle.ImageDigests, d.Status.ImageDigest
	if len(sent) > 0 && (seen == "" || slices.Contains(sent, seen)) {
		return sent[len(sent)-1]
	}
	return seen
}
