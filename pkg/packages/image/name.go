package image

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// CheckRepository rejects what is no repository for images, which has no tag. It accepts "", which is none; from
// is where the value comes from, such as a flag.
func CheckRepository(from, repository string) error {
	last := repository[strings.LastIndex(repository, "/")+1:]
	if repository != "" && (!IsName(repository) || strings.ContainsAny(last, ":@")) {
		return fmt.Errorf("%s %q: expected a repository without a tag, such as us-docker.pkg.dev/PROJECT/REPOSITORY/env", from, repository)
	}
	return nil
}

// CheckBase rejects what is not the name of a base image. It accepts "", which is none.
func CheckBase(from, text string) error {
	if text != "" && !IsName(text) {
		return fmt.Errorf("%s %q: not the name of an image, such as python:3.12-slim", from, text)
	}
	return nil
}

// IsPathwaysRepository reports whether a text can be a repository with the images of the Pathways runtime, "" for
// Google's.
func IsPathwaysRepository(text string) bool {
	if text == "" {
		return true
	}
	_, err := name.NewRepository(text)
	return err == nil
}

// The maximum lengths of the parts of an image's name: the name without tag and digest,
// and the tag; and the range for the digest's number.
const (
	maxImage             = 255
	maxTag               = 128
	minDigest, maxDigest = 64, 128
)

// IsName reports whether a kubelet accepts a text as the name of an image: a registry, a
// path, a tag and a digest, all but the path optional. The available libraries are too
// lenient, for example with host//path, or take 1 ms of every start.
func IsName(text string) bool {
	const (
		label    = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
		registry = `(?:` + label + `(?:\.` + label + `)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?`
		word     = `[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`
		tag      = `\w[\w.-]*`
		digest   = `[0-9a-f]+`
	)
	// Bounds in the expression would take most of the time needed for a command's flags.
	m := regexp.MustCompile(`^((?:` + registry + `/)?` + word + `(?:/` + word + `)*)(?::(` + tag + `))?(?:@sha[0-9]+:(` + digest + `))?$`).FindStringSubmatch(text)
	if m == nil {
		return false
	}
	name, tags, digits := len(m[1]), len(m[2]), len(m[3])
	return name <= maxImage && tags <= maxTag && (digits == 0 || minDigest <= digits && digits <= maxDigest)
}
