package outputs

import (
	"fmt"
	"path"
	"regexp"
	"slices"
)

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
			for folder := path.Dir(e.Path); folder != "." && !e.Directory; folder = path.Dir(folder) {
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
			if slices.ContainsFunc(writers[folder], func(host int) bool { return host != x.number }) {
				lacking[folder] = x.number
			}
		}
	}
	return lacking
}

var digits = regexp.MustCompile("[0-9]+")

// kindOf returns what the paths of directories of one kind have in common: their names differ only in their digits, as
// checkpoint-100 and checkpoint-200.
func kindOf(folder string) string {
	return path.Join(path.Dir(folder), digits.ReplaceAllString(path.Base(folder), "0"))
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
