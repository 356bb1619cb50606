package outputs

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// latest is the moment of an index that nothing comes after, in nanoseconds since 1970.
const latest = math.MaxInt64

// moment returns until when an index tells what its host had finished, in nanoseconds since 1970.
func (x index) moment() int64 {
	if x.Ended || x.At == "" {
		return latest
	}
	at, err := time.Parse(time.RFC3339Nano, x.At)
	if err != nil {
		return 0
	}
	return at.UnixNano()
}

// commonMoment returns the newest moment that all hosts have told about. A host that the newest attempt has not reached
// yet begins with what the others have begun with.
func commonMoment(indexes []index) int64 {
	common, begun, newest := int64(latest), int64(latest), 0
	for _, x := range indexes {
		newest = max(newest, x.Attempt)
	}
	behind := false
	for _, x := range indexes {
		common = min(common, x.moment())
		if x.Attempt == newest && x.Restored > 0 {
			begun = min(begun, x.Restored)
		}
		behind = behind || x.Attempt < newest
	}
	if behind {
		return min(common, begun)
	}
	return common
}

// atCommonMoment returns the indexes as they were at their common moment, as a restore takes them. Files that are new
// since then are later.
func atCommonMoment(indexes []index) []index {
	common := commonMoment(indexes)
	found := slices.Clone(indexes)
	for i, x := range indexes {
		before := map[anyPath]entry{}
		for _, p := range x.Before {
			if p.Since <= common && common < p.Until {
				before[p.Path] = p.entry
			}
		}
		found[i].Files = nil
		for _, e := range x.Files {
			if was, ok := before[e.Path]; ok && e.Since > common {
				e = was
			} else if e.Since > common {
				found[i].later = append(found[i].later, string(e.Path))
			}
			delete(before, e.Path)
			found[i].Files = append(found[i].Files, e)
		}
		found[i].Files = slices.AppendSeq(found[i].Files, maps.Values(before))
	}
	return found
}

// markLater marks files that a restore leaves out because another host has not saved its outputs since they were written.
func markLater(indexes []index, files map[string]File) {
	for _, x := range indexes {
		for _, name := range x.later {
			if f, ok := files[name]; ok && !f.Incomplete {
				f.Incomplete, f.Reason = true, "the other hosts have not saved their outputs of that time yet"
				files[name] = f
			}
		}
	}
}

// markUnfinished marks what a restore leaves out because not every host has finished its part of a directory.
func markUnfinished(indexes []index, files map[string]File) {
	lacking := lackingHosts(indexes)
	if len(lacking) == 0 {
		return
	}
	for name, f := range files {
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			if host, ok := lacking[folder]; ok {
				f.Incomplete, f.Reason = true, fmt.Sprintf("host %d had not finished its part of %s", host, folder)
				files[name] = f
			}
		}
	}
}

// lackingHosts returns the directories that some hosts have finished, each with another host that has not. A host is
// missed if it is still writing there, or if it writes to another directory of the kind. If all hosts have ended in
// order, only the first counts.
func lackingHosts(indexes []index) map[string]int {
	if len(indexes) < 2 {
		return nil
	}
	writers := map[string][]int{} // sorted
	for _, x := range indexes {
		for _, e := range x.Files {
			for folder := path.Dir(string(e.Path)); folder != "." && !e.Directory; folder = path.Dir(folder) {
				if !slices.Contains(writers[folder], x.number) {
					writers[folder] = append(writers[folder], x.number)
				}
			}
		}
	}
	lacking := map[string]int{}
	if slices.ContainsFunc(indexes, func(x index) bool { return !x.InOrder }) {
		kinds := map[string][][]int{}
		for folder, hosts := range writers {
			kind := kindOf(folder)
			if !slices.ContainsFunc(kinds[kind], func(others []int) bool { return slices.Equal(others, hosts) }) {
				kinds[kind] = append(kinds[kind], hosts)
			}
		}
		for folder, hosts := range writers {
			for _, others := range kinds[kindOf(folder)] {
				if host, ok := oneMore(hosts, others); ok {
					lacking[folder] = host
				}
			}
		}
	}
	for _, x := range indexes {
		for _, folder := range x.Pending {
			if slices.ContainsFunc(writers[string(folder)], func(host int) bool { return host != x.number }) {
				lacking[string(folder)] = x.number
			}
		}
	}
	return lacking
}

const digits = "[0-9]+"

// kindOf returns what the paths of directories of one kind have in common: their names differ only in their digits, as
// checkpoint-100 and checkpoint-200.
func kindOf(folder string) string {
	return path.Join(path.Dir(folder), lazyregexp.Of(digits).ReplaceAllString(path.Base(folder), "0"))
}

// oneMore returns a host that is among others and not among hosts, if others has all of these.
func oneMore(hosts, others []int) (int, bool) {
	if slices.ContainsFunc(hosts, func(host int) bool { return !slices.Contains(others, host) }) {
		return 0, false
	}
	i := slices.IndexFunc(others, func(host int) bool { return !slices.Contains(hosts, host) })
	if i < 0 {
		return 0, false
	}
	return others[i], true
}
