package config

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

const (
	bucketScheme = "gs://"
	fileScheme   = "file://"
)

// LocalStore returns the URL of the default store of local jobs: kinetic/store in the
// user's data directory. env reads the environment. A relative XDG_DATA_HOME is ignored,
// as the XDG Base Directory Specification requires.
func LocalStore(env func(string) string) (string, error) {
	dir := env("XDG_DATA_HOME")
	if !filepath.IsAbs(dir) {
		home := platform.HomeDir(env)
		if !filepath.IsAbs(home) {
			return "", errors.New("no directory for local jobs, because neither XDG_DATA_HOME nor HOME is set: name one with --store file:///DIR")
		}
		dir = filepath.Join(home, ".local", "share")
	}
	return fileScheme + filepath.ToSlash(filepath.Join(dir, "kinetic", "store")), nil
}

// resolveStore returns the store of jobs that run in a cluster.
func resolveStore(f Flags, env func(string) string, own Profile, where place) (setting, error) {
	store := first(setting{f.Store, "--store"}, setting{env("KINETIC_STORE"), "KINETIC_STORE"}, setting{own.Store, fromProfile(own)})
	if store.value == "" {
		return defaultStore(where)
	}
	url, err := checkStore(store.value)
	if err != nil {
		return setting{}, &InvalidError{store.from, fmt.Errorf("%s: %w", store.value, err)}
	}
	if strings.HasPrefix(url, fileScheme) {
		return setting{}, &InvalidError{store.from, fmt.Errorf("%s: pods can't access a local directory: use a bucket, gs://BUCKET", store.value)}
	}
	return setting{url, store.from}, nil
}

// ErrNoStore means that there is no store: none was named, and the project, from which
// its name would follow, isn't known.
var ErrNoStore = errors.New("set the project with --project or KINETIC_PROJECT, or name a bucket with --store or KINETIC_STORE")

// defaultStore returns the bucket that `up` creates with a cluster.
func defaultStore(where place) (setting, error) {
	if where.project.value == "" {
		return setting{}, fmt.Errorf("there is no store: %w", ErrNoStore)
	}
	url := bucketScheme + Bucket(where.project.value, where.cluster.value)
	if _, err := checkStore(url); err != nil {
		return setting{}, fmt.Errorf("the store %s, named after project and cluster: %w; name another with --store or KINETIC_STORE", url, err)
	}
	return setting{url, FromDefault}, nil
}

// checkStore returns the URL of a store in the form that everything else uses.
func checkStore(text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", errors.New("it has characters that can't be printed")
	}
	if dir, found := strings.CutPrefix(text, fileScheme); found {
		return checkDirectory(dir)
	}
	path, found := strings.CutPrefix(text, bucketScheme)
	if !found {
		return "", errors.New("expected gs://BUCKET or gs://BUCKET/PREFIX, or for local jobs file:///DIR")
	}
	path = strings.TrimSuffix(path, "/")
	bucket, prefix, hasPrefix := strings.Cut(path, "/")
	if err := checkBucket(bucket); err != nil {
		return "", err
	}
	for element := range strings.SplitSeq(prefix, "/") {
		if hasPrefix && slices.Contains([]string{"", ".", ".."}, element) {
			return "", fmt.Errorf("the prefix has an element %q: expected names separated by single slashes", element)
		}
	}
	return bucketScheme + path, nil
}

func checkDirectory(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", errors.New("expected an absolute path after file://, as in file:///home/me/store")
	}
	dir = filepath.Clean(dir)
	if dir == filepath.Dir(dir) {
		return "", errors.New("the root directory can't be a store: name a directory inside it")
	}
	return fileScheme + filepath.ToSlash(dir), nil
}

const bucketPattern = `^[a-z0-9][a-z0-9._-]*[a-z0-9]$`

// Lengths of bucket names, and of each part of a name with dots.
const (
	minBucket     = 3
	maxBucket     = 222
	maxBucketPart = 63
)

// checkBucket applies the rules of https://cloud.google.com/storage/docs/buckets#naming.
func checkBucket(name string) error {
	if !lazyregexp.Of(bucketPattern).MatchString(name) || len(name) < minBucket || len(name) > maxBucket || strings.Contains(name, "..") {
		return fmt.Errorf("invalid bucket name %q: expected 3 to 63 lower-case letters, digits, '-', '_' and '.', with a letter or digit at both ends", name)
	}
	for part := range strings.SplitSeq(name, ".") {
		if len(part) > maxBucketPart {
			return fmt.Errorf("invalid bucket name %q: it has %d characters, but at most %d are allowed", name, len(part), maxBucketPart)
		}
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return fmt.Errorf("invalid bucket name %q: it is an IP address", name)
	}
	return nil
}
