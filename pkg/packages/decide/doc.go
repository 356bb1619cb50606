// Package decide decides, without any network, which Python packages a job has and how it
// gets them: from its image, or from a list that the pod installs. What it decides depends on the
// project's files, the flags and the table of base images alone, so that everyone gets the same
// names.
package decide
