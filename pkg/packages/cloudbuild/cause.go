package cloudbuild

import (
	"slices"
	"strings"
)

// cause is a reason for failures that the log shows.
type cause struct {
	said   []string // parts of lines that show it, each followed by more parts after a *
	lines  int      // how many lines from there on belong to it, at most
	reason string
	advice string // ACCOUNT is the service account of builds
}

// shows reports whether a line shows the cause.
func (c *cause) shows(line string) bool {
	return slices.ContainsFunc(c.said, func(said string) bool { return contains(line, strings.Split(said, "*")) })
}

// contains reports whether a text has all parts, one after the other.
func contains(text string, parts []string) bool {
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// causes returns the causes, the more specific ones first.
func causes() []cause {
	return []cause{
		{[]string{"No solution found when resolving", "The conflict is caused by:"}, 8,
			"the requirements conflict with each other or with the Python version", "change one of them"},
		{[]string{"No matching distribution found for", "Could not find a version that satisfies", "was not found in the package registry"}, 2,
			"a package doesn't exist, or not for this version of Python", "check its name and version, and the index"},
		{[]string{"DO NOT MATCH THE HASHES", "Hash mismatch for"}, 8,
			"a package is not the one that was locked", "find out why the file changed, then lock again"},
		{[]string{"In --require-hashes mode"}, 3,
			"a requirement has no hash, and others have", "lock all requirements with hashes"},
		{[]string{ // of a program that is missing
			"command '*' failed: No such file", "unable to execute '*No such file", "Python.h: No such file",
			"CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "find Rust compiler", "the Rust package manager, is not installed",
			"Git executable not found", ": command not found", "sh: *: not found"}, 3,
			"a package has to be built, and the base image lacks a program for that", "name a base image that has it, or a version of the package that has a wheel"},
		{[]string{"401 Unauthorized", "HTTP Error 401", "status code: 401", "could not read Username"}, 2,
			"a package index or repository needs credentials", "put the credentials into ~/.netrc, and use --image prebuilt: then the pod gets them"},
		{[]string{"failed to push *denied", "failed to push *403", "failed to push *401", "failed to push *not found", "uploadArtifacts"}, 2,
			"the image can't be pushed", "grant ACCOUNT roles/artifactregistry.writer on the repository; if it doesn't exist, create it first"},
		{[]string{"failed to resolve source metadata for", "pull access denied", "manifest unknown"}, 2,
			"the base image can't be pulled", "check the name of the base image, and that ACCOUNT may read it"},
		{[]string{"failed to calculate checksum of ref *: not found", "failed to compute cache key: *: not found"}, 1,
			"the Dockerfile copies a file that the build doesn't have", "download it in the Dockerfile, or use a base image that has it"},
		{[]string{"o space left on device"}, 1,
			"the machine's disk is full", "install fewer packages, or use --image prebuilt to install them in the pod"},
		{[]string{"exit code: 137", "signal: killed", "Cannot allocate memory"}, 1,
			"the machine ran out of memory", "install fewer packages, or use --image prebuilt to install them in the pod"},
		{[]string{"Failed to build", "build backend returned an error", "metadata-generation-failed", "Failed building wheel"}, 8,
			"a package could not be built", "choose a version that has a wheel, or a base image with its build dependencies"},
	}
}
