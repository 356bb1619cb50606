package wheel

import (
	"context"
	"fmt"
	"path"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Venv returns the layer that makes the layout's prefix a virtual environment (PEP 405).
// python is the path of the interpreter in the image, such as "/usr/local/bin/python3.12", and
// beneath is the virtual environment that it is in, such as "/opt/venv", or "". Packages that
// the image has already can be imported too, unless the environment has them.
func Venv(ctx context.Context, l Layout, python, beneath string) (*Layer, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("make an environment: %w", err)
	}
	if !path.IsAbs(python) || !lazyregexp.Of(plainPath).MatchString(python) || path.Clean(python) != python || l.reserved(python[1:]) {
		return nil, fmt.Errorf("make an environment: %q is not the absolute path of an interpreter outside of it", python)
	}
	config := fmt.Sprintf("home = %s\ninclude-system-site-packages = true\nversion = %s\n", path.Dir(python), l.Python)
	link := func(name, target string) file { return file{name: l.bin() + "/" + name, link: target} }
	files := []file{
		textFile(l.config(), []byte(config)),
		link("python", python),
		link("python3", "python"),
		link("python"+l.Python, "python"),
	}
	if beneath != "" { // which Python would leave out
		if !path.IsAbs(beneath) || !lazyregexp.Of(plainPath).MatchString(beneath) {
			return nil, fmt.Errorf("make an environment: %q, which the image's Python is in, is not a plain absolute path", beneath)
		}
		line := fmt.Sprintf("import site; site.addsitedir('%s/lib/python%s/site-packages')\n", beneath, l.Python)
		files = append(files, textFile(l.site()+"/_image.pth", []byte(line)))
	}
	return newLayer(ctx, l, files)
}
