package decide

import "github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"

// Provided is the environment of a job.
type Provided struct {
	// Plan is the plan that was carried out. It is another one if that could not be.
	Plan Plan
	// Image is what the pods run. Digests are those that its name may stand for, if they are known.
	Image   string
	Digests []string
	// Builder is what made the image, "" if it was there or nothing had to be made.
	Builder Builder
	// SHA256 names the blob that says what the pod installs, "" for nothing.
	SHA256 string
	// Wheels are what is installed, as far as it is known.
	Wheels []wheel.Source
	// Netrc are the credentials with which the pod reaches indexes, "" for none.
	Netrc string
	// Phase and Detail say what was done, "" if there was nothing to do.
	Phase, Detail string
	// Warnings are sentences for the user.
	Warnings []string
}
