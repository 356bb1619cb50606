package platform

import "path/filepath"

// Relative returns the path from root to something at or below it, with forward slashes, "" for root itself. It compares
// the paths as written first, then with symbolic links resolved.
func Relative(root, path string) (rel string, inside bool) {
	if rel, inside = RelativeAsWritten(root, path); inside {
		return rel, true
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", false
	}
	realPath, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	return RelativeAsWritten(realRoot, realPath)
}

// RelativeAsWritten is Relative without a look at the file system.
func RelativeAsWritten(root, path string) (rel string, inside bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	if rel == "." {
		return "", true
	}
	return filepath.ToSlash(rel), true
}
