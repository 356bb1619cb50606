package wheel

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Layout is where an environment stands in every image. It is the same for all layers of
// an image.
type Layout struct {
	Prefix string // "opt/kinetic/env": a path from the root, without a slash at its start
	Python string // "3.12"
}

// The limits of Linux for a file's path, and for one name in it, in bytes.
const (
	maxPath      = 4095
	maxComponent = 255
)

// maxPrefix keeps the first line of scripts below the 127 bytes that older kernels read.
const maxPrefix = 100

const plainPath = `^[A-Za-z0-9._/+-]+$`

func (l Layout) check() error {
	if _, err := minorVersion(l.Python); err != nil {
		return err
	}
	if checkPath(l.Prefix) != nil || !lazyregexp.Of(plainPath).MatchString(l.Prefix) || len(l.Prefix) > maxPrefix {
		return fmt.Errorf("the environment's path %q is not a relative path of at most %d letters, digits and ._/+-", l.Prefix, maxPrefix)
	}
	return nil
}

func (l Layout) bin() string     { return l.Prefix + "/bin" }
func (l Layout) site() string    { return l.Prefix + "/lib/python" + l.Python + "/site-packages" }
func (l Layout) config() string  { return l.Prefix + "/pyvenv.cfg" }
func (l Layout) shebang() string { return "#!/" + l.bin() + "/python\n" }

func (l Layout) headers(distribution string) string {
	return l.Prefix + "/include/site/python" + l.Python + "/" + distribution
}

// reserved reports whether a path in the layer belongs to the environment itself. A wheel
// that brought it could replace the interpreter of all others.
func (l Layout) reserved(name string) bool {
	switch name {
	case l.config(), l.bin() + "/python", l.bin() + "/python3", l.bin() + "/python" + l.Python:
		return true
	}
	return false
}

// recordPath returns the path of a file of the layer as RECORD has it: relative to
// site-packages.
func (l Layout) recordPath(name string) string {
	from, to := strings.Split(l.site(), "/"), strings.Split(name, "/")
	common := 0
	for common < len(from) && common < len(to)-1 && from[common] == to[common] {
		common++
	}
	return strings.Repeat("../", len(from)-common) + strings.Join(to[common:], "/")
}

// checkPath reports why the path of a member may not be used.
func checkPath(name string) error {
	switch {
	case name == "" || name == ".":
		return errors.New("the name is empty")
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.ContainsAny(name, "\\\x00"):
		return errors.New("the name has a backslash or a NUL")
	case strings.HasPrefix(name, "/") || name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, "/../") || strings.HasSuffix(name, "/.."):
		return errors.New("the name leads out of the wheel")
	case path.Clean(name) != name:
		return errors.New("the name is not a plain path")
	}
	return nil
}

// checkPlace reports why a path in the layer may not be used.
func (l Layout) checkPlace(name string) error {
	if len(name) > maxPath {
		return fmt.Errorf("its path has %d bytes, Linux allows %d", len(name), maxPath)
	}
	for part := range strings.SplitSeq(name, "/") {
		// In a layer, such a file would delete others.
		if strings.HasPrefix(part, whiteout) {
			return fmt.Errorf("in an image, the name %q marks a deleted file", part)
		}
		if len(part) > maxComponent {
			return fmt.Errorf("a name in its path has %d bytes, Linux allows %d", len(part), maxComponent)
		}
	}
	if l.reserved(name) {
		return fmt.Errorf("it would replace /%s of the environment", name)
	}
	return nil
}
