package wheel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Best returns the index of the wheel that pip would install on the target: the one with
// the best tag, and of those the one with the highest build. The wheels are of one version
// of one project. If none fits, the error is a *NoFitError.
func Best(wheels []Name, t Target) (int, error) {
	tags, err := t.Tags()
	if err != nil {
		return 0, err
	}
	ranks := make(map[string]int, len(tags))
	for rank, tag := range tags {
		ranks[tag] = rank
	}
	best, bestRank := -1, len(tags)
	for i, w := range wheels {
		rank := len(tags)
		for _, tag := range w.Tags() {
			if r, ok := ranks[tag]; ok {
				rank = min(rank, r)
			}
		}
		if rank < bestRank || best >= 0 && rank == bestRank && compareBuilds(w, wheels[best]) > 0 {
			best, bestRank = i, rank
		}
	}
	if best < 0 {
		return 0, &NoFitError{Target: t, Wheels: wheels, tags: tags}
	}
	return best, nil
}

func compareBuilds(a, b Name) int {
	aNumber, aRest := a.build()
	bNumber, bRest := b.build()
	return cmp.Or(cmp.Compare(aNumber, bNumber), cmp.Compare(aRest, bRest))
}

// NoFitError says that no wheel of a release fits a target, and why.
type NoFitError struct {
	Target Target
	Wheels []Name
	tags   []string // that the target accepts
}

// Error is one sentence that names the project, the target and what the wheels are for.
func (e *NoFitError) Error() string {
	if len(e.Wheels) == 0 {
		return fmt.Sprintf("no wheel fits %s: the release has none", e.Target)
	}
	first := e.Wheels[0]
	return fmt.Sprintf("no wheel of %s %s fits %s: %s", first.Project(), first.Version, e.Target, e.reason())
}

// reason compares interpreters first: of the wheels for this one, the platform is wrong.
func (e *NoFitError) reason() string {
	accepted := map[string]bool{} // "cp312-abi3"
	for _, tag := range e.tags {
		accepted[tag[:strings.LastIndexByte(tag, '-')]] = true
	}
	interpreters, platforms := map[string]bool{}, map[string]bool{}
	for _, w := range e.Wheels {
		for _, python := range w.Pythons {
			for _, abi := range w.ABIs {
				interpreters[python+"-"+abi] = true
				if accepted[python+"-"+abi] {
					for _, platform := range w.Platforms {
						platforms[platform] = true
					}
				}
			}
		}
	}
	if len(platforms) == 0 {
		return "its wheels are for " + list(interpreters)
	}
	if libc := e.newerLibc(platforms); libc != "" {
		return fmt.Sprintf("its wheels for this Python need %s or newer", libc)
	}
	return "its wheels for this Python are for " + list(platforms)
}

const libcTag = `^(many|musl)linux_(\d+)_(\d{1,3})_(\w+)$`

// newerLibc returns the oldest version of the target's libc that one of the platforms needs,
// "" if all are for other machines.
func (e *NoFitError) newerLibc(platforms map[string]bool) string {
	libc, _, _ := strings.Cut(e.Target.Libc, " ")
	oldest, version := 0, ""
	for platform := range platforms {
		m := lazyregexp.Of(libcTag).FindStringSubmatch(platform)
		if m == nil || m[4] != e.Target.Machine() || (m[1] == "musl") != (libc == "musl") {
			continue
		}
		if minor, err := strconv.Atoi(m[3]); err == nil && (version == "" || minor < oldest) {
			oldest, version = minor, libc+" "+m[2]+"."+m[3]
		}
	}
	return version
}

// list joins what a set has, up to six of it.
func list(set map[string]bool) string {
	const most = 6
	all := slices.Sorted(maps.Keys(set))
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
