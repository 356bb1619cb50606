package pack

import (
	"path/filepath"
	"strings"
)

// list holds the entries of a data set in little memory: about 80 bytes for each of a
// million files, without pointers.
type list struct {
	names  [][]byte // of all entries and directories, one after the other
	dirs   []listedDir
	blocks [][]entry
	count  int
	// elsewhere has the real paths of directories that aren't in their parent's: the root,
	// and those that links out of the tree lead to.
	elsewhere map[uint32]string
	targets   map[uint32]string   // of links, by their numbers
	parts     map[uint32][]digest // of large files
}

// blockSize is how many entries are allocated at once: a list that grows is never copied.
const blockSize = 1 << 14

// nameBlock is how many bytes of names are allocated at once.
const nameBlock = 1 << 18

// listedName is where a name is.
type listedName struct {
	block  uint32
	offset uint32
	size   uint16
}

// listedDir is a directory. The first is the root.
type listedDir struct {
	parent  uint32
	name    listedName
	entries uint32 // how many it has of its own
}

// The kinds of entries.
const (
	listedFile   = iota
	followedFile // a link to a file that is out of the tree
	listedLink
	emptyDir // the entry's name is "": it stands for its directory
)

// entry is one file, link or empty directory.
type entry struct {
	size   int64
	digest digest
	dir    uint32
	name   listedName
	mode   uint16
	kind   uint8
}

func newList(root string) *list {
	return &list{
		dirs: []listedDir{{}}, elsewhere: map[uint32]string{0: root},
		targets: map[uint32]string{}, parts: map[uint32][]digest{},
	}
}

func (l *list) at(number uint32) *entry { return &l.blocks[number/blockSize][number%blockSize] }

func (l *list) addName(name string) listedName {
	last := len(l.names) - 1
	if last < 0 || len(l.names[last])+len(name) > nameBlock {
		l.names = append(l.names, make([]byte, 0, max(nameBlock, len(name))))
		last++
	}
	n := listedName{block: uint32(last), offset: uint32(len(l.names[last])), size: uint16(len(name))}
	l.names[last] = append(l.names[last], name...)
	return n
}

func (l *list) text(n listedName) []byte { return l.names[n.block][n.offset:][:n.size] }

func (l *list) add(dir uint32, name string, kind uint8) uint32 {
	if l.count%blockSize == 0 {
		l.blocks = append(l.blocks, make([]entry, blockSize))
	}
	number := uint32(l.count)
	l.count++
	*l.at(number) = entry{dir: dir, name: l.addName(name), kind: kind}
	if kind != emptyDir {
		l.dirs[dir].entries++
	}
	return number
}

func (l *list) addDir(parent uint32, name string) uint32 {
	l.dirs[parent].entries++
	l.dirs = append(l.dirs, listedDir{parent: parent, name: l.addName(name)})
	return uint32(len(l.dirs) - 1)
}

// fillEmptyDirs adds an entry for each directory that has none.
func (l *list) fillEmptyDirs() {
	for dir := 1; dir < len(l.dirs); dir++ {
		if l.dirs[dir].entries == 0 {
			l.add(uint32(dir), "", emptyDir)
		}
	}
}

// appendDir appends the path of a directory, with a "/" at its end; nothing for the root.
func (l *list) appendDir(path []byte, dir uint32) []byte {
	if dir == 0 {
		return path
	}
	d := l.dirs[dir]
	return append(append(l.appendDir(path, d.parent), l.text(d.name)...), '/')
}

// file returns what the list knows about a file, by its number and its path.
func (l *list) file(number uint32, rel string) file {
	e := l.at(number)
	return file{rel: rel, abs: l.abs(e), number: number, mode: uint32(e.mode), stamp: stamp{Size: e.size}, digest: e.digest, parts: l.parts[number]}
}

func (l *list) appendRel(path []byte, e *entry) []byte {
	path = append(l.appendDir(path, e.dir), l.text(e.name)...)
	if e.kind == emptyDir {
		path = path[:len(path)-1]
	}
	return path
}

// abs returns the path by which an entry can be opened.
func (l *list) abs(e *entry) string {
	var names []string
	dir := e.dir
	for ; l.elsewhere[dir] == ""; dir = l.dirs[dir].parent {
		names = append(names, string(l.text(l.dirs[dir].name)))
	}
	var path strings.Builder
	path.WriteString(l.elsewhere[dir])
	for i := len(names) - 1; i >= 0; i-- {
		path.WriteByte(filepath.Separator)
		path.WriteString(names[i])
	}
	path.WriteByte(filepath.Separator)
	path.Write(l.text(e.name))
	return path.String()
}
