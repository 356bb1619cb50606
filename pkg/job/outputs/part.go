package outputs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// partPrefix begins the names of the files that copies are written to before they are complete.
const partPrefix = ".kinetic-part-"

// partOfLength is the length of what partOf returns: the prefix, 16 digits and a hyphen.
const partOfLength = len(partPrefix) + 16 + len("-")

// partOf begins the names of all parts of a target.
func (t Transfer) partOf() string {
	sum := sha256.Sum256([]byte(t.URL + "\x00" + t.to))
	return partPrefix + hex.EncodeToString(sum[:8]) + "-"
}

// part returns the file that the copy is written to, beside the target. The object's generation is in
// its name, so that a copy continues, or replaces, what a killed one has left.
func (t Transfer) part() string {
	return filepath.Join(filepath.Dir(t.to), fmt.Sprintf("%s%d-%d", t.partOf(), t.object.Generation, t.Size))
}

// removeOlderParts removes what is left of copies to the same targets when the objects were others. It
// is housekeeping: it ignores errors.
func removeOlderParts(plan []Transfer, folder *os.Root) {
	parts := map[string]map[string]string{} // by directory, then by the beginning of the name
	for _, t := range plan {
		dir := filepath.Dir(t.to)
		if parts[dir] == nil {
			parts[dir] = map[string]string{}
		}
		parts[dir][t.partOf()] = filepath.Base(t.part())
	}
	for dir, current := range parts {
		entries, err := fs.ReadDir(folder.FS(), filepath.ToSlash(dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := strings.TrimSuffix(e.Name(), doneSuffix)
			of := name[:min(len(name), partOfLength)]
			if keep, ours := current[of]; ours && name != keep {
				_ = folder.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}
