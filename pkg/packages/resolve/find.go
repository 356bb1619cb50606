package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// parallel is how many projects are asked for at a time.
const parallel = 16

// Find returns where the files of pinned packages are, and which wheel of each fits the target.
// The indexes at bases are asked in their order, until one has a wheel with the right hash: the
// hash decides, so it does not matter which one that is. If none has, the first with a source archive counts. One
// that refuses access has nothing here, unless all do. The order of the pins is kept. The client is as for Files.
func Find(ctx context.Context, client *http.Client, bases []string, pins []deps.Pin, target wheel.Target) ([]deps.Package, error) {
	found := make([]deps.Package, len(pins))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, pin := range pins {
		g.Go(func() (err error) {
			found[i], err = find(ctx, client, bases, pin, target)
			return err
		})
	}
	return found, g.Wait()
}

func find(ctx context.Context, client *http.Client, bases []string, pin deps.Pin, target wheel.Target) (deps.Package, error) {
	var why, refusals []error
	var built deps.Package
	for _, base := range bases {
		files, err := Files(ctx, client, base, pin.Name)
		var refused *refusedError
		if errors.As(err, &refused) {
			refusals = append(refusals, err)
		}
		if refused != nil || errors.Is(err, ErrNotFound) {
			why = append(why, err)
			continue
		}
		if err != nil && built.Name != "" && len(pin.Hashes) == 1 && ctx.Err() == nil {
			break // this one could only have the same file
		}
		if err != nil {
			return deps.Package{}, err
		}
		p, ok, err := choose(files, pin, target)
		if err != nil || p.Wheel != nil {
			return p, err
		}
		if ok && built.Source == "" {
			built = p
		}
		why = append(why, fmt.Errorf("the index %s has %s", Shown(base), describe(files, pin)))
	}
	if built.Name != "" {
		return built, nil
	}
	if len(refusals) > 0 && len(refusals) == len(bases) {
		return deps.Package{}, refusals[0]
	}
	return deps.Package{}, &MissingError{pin, why}
}

// MissingError says that the indexes answer, and none has a file of a pinned package.
type MissingError struct {
	Pin deps.Pin
	// Why says for each index what it has instead.
	Why []error
}

// Error names the package and says what each index has instead.
func (e *MissingError) Error() string {
	text := fmt.Sprintf("%s==%s: no file matches any of its hashes", e.Pin.Name, e.Pin.Version)
	for _, err := range e.Why {
		text += ": " + err.Error()
	}
	return text
}

// choose returns the package with the wheel that fits, or what it has to be built from. ok is
// false if no file has one of the hashes.
func choose(files []IndexFile, pin deps.Pin, target wheel.Target) (p deps.Package, ok bool, err error) {
	p = deps.Package{Name: pin.Name, Version: pin.Version}
	var names []wheel.Name
	var wheels []IndexFile
	for _, f := range files {
		if f.SHA256 == "" || !slices.Contains(pin.Hashes, f.SHA256) {
			continue
		}
		ok = true
		if !strings.HasSuffix(f.Name, ".whl") {
			p.Source, p.SourceSHA256 = f.URL, f.SHA256
			continue
		}
		name, err := wheel.ParseName(f.Name)
		if err != nil {
			return p, false, err
		}
		names, wheels = append(names, name), append(wheels, f)
	}
	best, err := p.Fit(names, target)
	if err != nil {
		return p, false, err
	}
	if best < 0 {
		return p, ok, nil
	}
	f := wheels[best]
	p.Wheel, p.Source, p.SourceSHA256 = &wheel.Source{File: f.Name, URL: f.URL, SHA256: f.SHA256, Size: f.Size}, "", ""
	return p, true, nil
}

// describe says what an index has of a project instead of a pinned file.
func describe(files []IndexFile, pin deps.Pin) string {
	ofVersion, hashed := 0, 0
	for _, f := range files {
		if f.SHA256 != "" {
			hashed++
		}
		if isOf(f.Name, pin) {
			ofVersion++
		}
	}
	switch {
	case len(files) > 0 && hashed == 0:
		return "no hashes"
	case ofVersion == 0:
		return fmt.Sprintf("%d files of %s, none of version %s", len(files), pin.Name, pin.Version)
	}
	return fmt.Sprintf("%d files of that version, with other hashes", ofVersion)
}

func isOf(file string, pin deps.Pin) bool {
	n, err := wheel.ParseName(file)
	if err != nil {
		return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(file, ".tar.gz"), ".zip"), "-"+pin.Version)
	}
	order, err := requirement.CompareVersions(n.Version, pin.Version)
	return err == nil && order == 0
}
