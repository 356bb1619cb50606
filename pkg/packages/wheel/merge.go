package wheel

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Large is the size in bytes above which a wheel always has a layer of its own, whoever makes the
// image, and above which few are sent at a time.
const Large = 100 << 20

// Group distributes wheels of the given sizes over at most most layers. It returns the
// indexes of the wheels of each layer, in the order of the layers: the largest wheel first,
// since a node unpacks again everything above a layer that has changed. The smallest wheels
// beyond the limit share the last layer. Wheels of one size keep their order.
func Group(sizes []int64, most int) [][]int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	var groups [][]int
	for at, i := range order {
		if at < max(most, 1) {
			groups = append(groups, []int{i})
		} else {
			groups[len(groups)-1] = append(groups[len(groups)-1], i)
		}
	}
	return groups
}

// merge returns the files of wheels. Of a path that several have, the file of the last one counts.
func merge(wheels []*Wheel) ([]file, error) {
	merged := map[string]file{}
	for _, w := range wheels {
		record, err := w.record()
		if err != nil {
			return nil, err
		}
		for _, f := range append(slices.Clip(w.files), record) {
			merged[f.name] = f
		}
	}
	files := make([]file, 0, len(merged))
	for _, f := range merged {
		// Nothing compares bytecode with its module when that is imported.
		if f.source != "" && merged[f.source].wheel != f.wheel {
			continue
		}
		files = append(files, f)
	}
	return files, nil
}

// whiteouts returns what hides the bytecode that a layer below may have for the modules of a layer:
// nothing compares it with the module when that is imported. Modules that have bytecode need none.
func (l Layout) whiteouts(files []file) (hidden []file) {
	names := make(map[string]bool, len(files))
	for _, f := range files {
		names[f.name] = true
	}
	for _, f := range files {
		if !strings.HasPrefix(f.name, l.site()+"/") || !strings.HasSuffix(f.name, ".py") {
			continue
		}
		if name := l.bytecode(f.name); !names[name] && l.checkPlace(name) == nil {
			dir, base := path.Split(name)
			hidden = append(hidden, textFile(dir+whiteout+base, nil))
		}
	}
	return hidden
}

// whiteout begins the name of a file that deletes one of a layer below.
const whiteout = ".wh."

func (w *Wheel) record() (file, error) {
	name := w.layout.site() + "/" + w.info + "/RECORD"
	text, err := formatRecord(w.layout, w.files, name)
	f := textFile(name, text)
	f.wheel = w.Name.File
	return f, err
}
