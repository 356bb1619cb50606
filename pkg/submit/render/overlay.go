package render

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
)

// Overlay is the user's kustomize component. The zero value means none.
type Overlay struct {
	dir   string
	files tree
	// kustomizations are the kustomization files among files, the component's own first.
	kustomizations []string
}

func (o Overlay) empty() bool { return len(o.files) == 0 }

// maxOverlay limits the total size of an overlay's files, in bytes. A Kubernetes object
// can have a third of that at most.
const maxOverlay = 4 << 20

// ReadOverlay reads the component in dir and the files that it refers to, which must all
// be in dir. Anything remote, missing or elsewhere is an error, and so is anything that
// would run a program. It reads no other files of dir.
func ReadOverlay(dir string) (Overlay, error) {
	o, err := readOverlay(dir)
	if err != nil {
		return Overlay{}, fmt.Errorf("reading overlay %s: %w", dir, err)
	}
	return o, nil
}

func readOverlay(dir string) (Overlay, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		if !filepath.IsAbs(dir) && remote(dir) {
			return Overlay{}, errors.New("remote overlays are not fetched: clone it and name the directory")
		}
		if errors.Is(err, fs.ErrNotExist) {
			return Overlay{}, errors.New("there is no such directory")
		}
		return Overlay{}, fmt.Errorf("expected a directory with a kustomization.yaml: %w", err)
	}
	defer root.Close()
	r := overlayReader{root: root, left: maxOverlay, overlay: Overlay{dir: dir, files: tree{}}}
	if err := r.directory("."); err != nil {
		return Overlay{}, err
	}
	return r.overlay, r.isComponent()
}

type overlayReader struct {
	root    *os.Root
	left    int64 // bytes that may still be read
	overlay Overlay
}

// isComponent fails for other kustomizations, with how to turn them into a component.
func (r *overlayReader) isComponent() error {
	name := r.overlay.kustomizations[0]
	k, err := parseKustomization(r.overlay.files[name])
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if k.Kind != types.ComponentKind {
		return fmt.Errorf("%s has kind %s, but an overlay is a component: begin the file with these two lines\napiVersion: %s\nkind: %s",
			name, k.Kind, types.ComponentVersion, types.ComponentKind)
	}
	return nil
}

func (r *overlayReader) directory(dir string) error {
	name, err := r.kustomizationIn(dir)
	if err != nil {
		return err
	}
	if _, done := r.overlay.files[name]; done {
		return nil
	}
	if err := r.file(name); err != nil {
		return err
	}
	r.overlay.kustomizations = append(r.overlay.kustomizations, name)
	k, err := parseKustomization(r.overlay.files[name])
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := refuseFields(k); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, ref := range references(k) {
		if err := r.follow(dir, ref); err != nil {
			return fmt.Errorf("%s: %s %q: %w", name, ref.field, ref.path, err)
		}
	}
	return nil
}

func (r *overlayReader) kustomizationIn(dir string) (string, error) {
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		name = path.Join(dir, name)
		if _, err := r.root.Stat(filepath.FromSlash(name)); err == nil {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("the directory has no " + kustomizationFile)
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("the directory has both %s: keep one", strings.Join(found, " and "))
	}
}

func (r *overlayReader) follow(dir string, ref reference) error {
	if remote(ref.path) {
		return errors.New("remote references are not fetched: copy the file into the overlay")
	}
	name := path.Join(dir, ref.path)
	if path.IsAbs(ref.path) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return errors.New("it is outside of the overlay: copy it into the directory")
	}
	info, err := r.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case err != nil:
		return err // os.Root reports a symbolic link that leads outside
	case info.IsDir() && ref.mayBeDir:
		return r.directory(name)
	case info.Mode().IsRegular() && !ref.mustBeDir:
		return r.file(name)
	case ref.mustBeDir:
		return errors.New("not a directory")
	default:
		return errors.New("not a regular file")
	}
}

func (r *overlayReader) file(name string) error {
	if _, done := r.overlay.files[name]; done {
		return nil
	}
	file, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, r.left+1))
	if err != nil {
		return err
	}
	if r.left -= int64(len(content)); r.left < 0 {
		return fmt.Errorf("the overlay has more than %d MiB, including %s", maxOverlay>>20, name)
	}
	r.overlay.files[name] = content
	return nil
}

func parseKustomization(content []byte) (types.Kustomization, error) {
	var k types.Kustomization
	if err := k.Unmarshal(content); err != nil {
		return k, err
	}
	if k.Kind == "" {
		k.Kind = types.KustomizationKind
	}
	return k, nil
}
