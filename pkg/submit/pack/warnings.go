package pack

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// isSecret reports whether a path looks like a file with credentials. It must be fast: data may have a
// million files.
func isSecret(rel string) bool {
	dir, name := path.Split(rel)
	// secretDirs are directories whose files are usually credentials.
	secretDirs := []string{".aws", ".ssh", ".gnupg", ".kube", ".kaggle", ".docker", ".azure"}
	if strings.HasPrefix(dir, ".") || strings.Contains(dir, "/.") { // as all of secretDirs begin
		for element := range strings.SplitSeq(dir, "/") {
			if slices.Contains(secretDirs, element) {
				return true
			}
		}
	}
	// secretNames are patterns for names of files that usually hold credentials.
	secretNames := []string{
		".env*", "*.pem", "*.key", "*.p12", "*.pfx",
		"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
		"credentials.json", "application_default_credentials.json", "service-account*.json", "service_account*.json",
		"client_secret*.json", "kaggle.json", "kubeconfig",
		".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".boto", ".dockercfg", ".htpasswd",
	}
	return slices.ContainsFunc(secretNames, func(pattern string) bool {
		begin, end, open := strings.Cut(pattern, "*")
		if !open {
			return name == pattern
		}
		return len(name) >= len(begin)+len(end) && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
	})
}

// Secrets names those of some paths that look like files with credentials: "a, b and 3 more", or "" for
// none.
func Secrets(paths iter.Seq[string]) string {
	const shown = 20
	var found []string
	for rel := range paths {
		if isSecret(rel) {
			found = append(found, rel)
		}
	}
	slices.Sort(found)
	more := ""
	if len(found) > shown {
		more = fmt.Sprintf(" and %d more", len(found)-shown)
		found = found[:shown]
	}
	return strings.Join(found, ", ") + more
}

// secretWarnings returns at most one warning, which names the files that look like
// credentials.
func secretWarnings(plan *Plan) []string {
	names := Secrets(func(yield func(string) bool) {
		for _, f := range plan.Index.Files {
			if !yield(f.Path) {
				return
			}
		}
	})
	if names == "" {
		return nil
	}
	return []string{fmt.Sprintf("these files look like credentials and will be uploaded: %s; exclude them in %s if the job doesn't need them", names, IgnoreFile)}
}

// sizeWarnings returns at most one warning, which names the largest files.
func sizeWarnings(plan *Plan, limit int64) []string {
	const shown = 5
	if limit <= 0 || plan.StoredBytes <= limit {
		return nil
	}
	files := slices.Clone(plan.Index.Files)
	slices.SortStableFunc(files, func(a, b api.IndexFile) int { return cmp.Compare(b.Size, a.Size) })
	var largest []string
	for _, f := range files[:min(shown, len(files))] {
		if f.Size*20 > files[0].Size { // without a smaller one, the package is as large
			largest = append(largest, fmt.Sprintf("%s (%s)", f.Path, megabytes(f.Size)))
		}
	}
	return []string{fmt.Sprintf("the package takes %s in the store, more than %s; largest files: %s; exclude what the job doesn't need in %s, or raise KINETIC_CONTEXT_SIZE_WARN_MB",
		megabytes(plan.StoredBytes), megabytes(limit), strings.Join(largest, ", "), IgnoreFile)}
}

// megabytes formats a size in the unit of KINETIC_CONTEXT_SIZE_WARN_MB, which is 1024² bytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
