package wheel

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A plan says what becomes of the members of one wheel.
type plan struct {
	layout   Layout
	name     Name
	info     string
	inflater *inflater

	rows     map[string]row
	commands map[string]command

	files []file
	taken map[string]string // where a file of the layer comes from
	odd   []string          // what is not as it should be, and does no harm
}

// readInfo reads the files of .dist-info that decide about others.
func (p *plan) readInfo(members []*zip.File) error {
	texts := map[string][]byte{"WHEEL": nil, "RECORD": nil, "entry_points.txt": nil}
	for _, f := range members {
		base, ok := strings.CutPrefix(f.Name, p.info+"/")
		if _, wanted := texts[base]; !ok || !wanted {
			continue
		}
		text, err := p.inflater.readAll(f, maxText)
		if err != nil {
			return fmt.Errorf("%q: %w", f.Name, err)
		}
		texts[base] = text
	}
	for _, base := range []string{"WHEEL", "RECORD"} {
		if texts[base] == nil {
			return fmt.Errorf("there is no %s/%s: this is not a wheel", p.info, base)
		}
	}
	if version := header(texts["WHEEL"], "Wheel-Version"); !strings.HasPrefix(version, "1.") {
		return fmt.Errorf("the format of the wheel is version %q, only 1.x is known", version)
	}
	var odd []string
	p.rows, odd = parseRecord(texts["RECORD"])
	p.odd = append(p.odd, odd...)
	var err error
	p.commands, err = parseEntryPoints(texts["entry_points.txt"])
	return err
}

// header returns the value of a header in a text such as WHEEL.
func header(text []byte, key string) string {
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(name), key) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// place finds the place of every member, and adds what an installation generates.
func (p *plan) place(members []*zip.File) error {
	known := make(map[string]bool, len(members))
	for _, inData := range []bool{false, true} { // in pip's order: of two files for one place, the last one stays
		for _, f := range members {
			top, _, _ := strings.Cut(f.Name, "/")
			if strings.HasSuffix(top, ".data") != inData {
				continue
			}
			known[f.Name] = true
			if err := p.member(f); err != nil {
				return fmt.Errorf("%q: %w", f.Name, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.rows)) {
		if p.rows[name].sum != "" && !known[name] {
			p.odd = append(p.odd, fmt.Sprintf("%q is not in the archive", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.commands)) {
		f := textFile(p.layout.bin()+"/"+name, p.commands[name].script(p.layout))
		f.executable = true
		if err := p.add(f, "entry point "+name); err != nil {
			return fmt.Errorf("entry point %q: %w", name, err)
		}
	}
	dist := p.layout.site() + "/" + p.info
	if err := p.add(textFile(dist+"/INSTALLER", []byte("kinetic\n")), "INSTALLER"); err != nil {
		return err
	}
	if other, ok := p.taken[dist+"/RECORD"]; ok {
		return fmt.Errorf("%q would replace RECORD", other)
	}
	slices.SortFunc(p.files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return checkFolders(p.files)
}

// member adds one member, unless an installation leaves it out.
func (p *plan) member(m *zip.File) error {
	name, kind, err := p.destination(m.Name)
	if name == "" || err != nil {
		return err
	}
	f := file{name: name, size: int64(m.UncompressedSize64), member: m, executable: executable(m)}
	if f.size < 0 {
		return fmt.Errorf("it has %d bytes", m.UncompressedSize64)
	}
	r, listed := p.rows[m.Name]
	if listed && r.size >= 0 && r.size != f.size {
		p.odd = append(p.odd, fmt.Sprintf("%q has %d bytes, and not %d", m.Name, f.size, r.size))
		r = unknown
	}
	f.sum = r.sum
	if kind == "scripts" {
		f.executable = true
		if err := p.script(&f); err != nil {
			return err
		}
	}
	if f.sum == "" {
		if f.sum, err = f.hash(p.inflater); err != nil {
			return err
		}
	}
	return p.add(f, m.Name)
}

// destination returns the place of a member in the layer, "" if it has none, and the
// directory of .data that it is in.
func (p *plan) destination(member string) (name, kind string, err error) {
	l := p.layout
	top, rest, _ := strings.Cut(member, "/")
	if top == p.info {
		switch rest {
		case "RECORD", "RECORD.jws", "RECORD.p7s", "INSTALLER":
			return "", "", nil
		}
	}
	if !strings.HasSuffix(top, ".data") || rest == "" {
		return l.site() + "/" + member, "", nil
	}
	kind, rest, _ = strings.Cut(rest, "/")
	if rest == "" {
		return "", "", fmt.Errorf("it is in no directory of %s", top)
	}
	switch kind {
	case "purelib", "platlib":
		return l.site() + "/" + rest, kind, nil
	case "data":
		return l.Prefix + "/" + rest, kind, nil
	case "headers":
		return l.headers(p.name.Distribution) + "/" + rest, kind, nil
	case "scripts":
		if wraps(rest, p.commands) {
			return "", "", nil
		}
		return l.bin() + "/" + rest, kind, nil
	}
	return "", "", fmt.Errorf("the directory %s/%s is not one of purelib, platlib, data, headers and scripts", top, kind)
}

// maxFirstLine bounds the first line of a script that is replaced.
const maxFirstLine = 4 << 10

// script has a script call the interpreter of the environment, if its first line begins with
// #!python. Nothing but that line is held in memory: some scripts are large archives.
func (p *plan) script(f *file) error {
	content, err := p.inflater.open(f.member, nil)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(content, maxFirstLine)
	first, err := lines.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	if !bytes.HasPrefix(first, []byte("#!python")) {
		return nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		return fmt.Errorf("its first line has more than %d bytes", maxFirstLine)
	}
	// RECORD states the hash of what is replaced, which the layer won't have.
	if f.sum != "" {
		original := newVerifier(f.sum)
		if err := f.writeTo(original, p.inflater); err != nil {
			return err
		}
		if err := original.check(); err != nil {
			p.odd = append(p.odd, fmt.Sprintf("%q: %v", f.member.Name, err))
		}
	}
	f.head, f.skip, f.sum = []byte(p.layout.shebang()), int64(len(first)), ""
	f.size += int64(len(f.head)) - f.skip
	return nil
}

// add adds a file of the layer, which comes from a member or is generated.
func (p *plan) add(f file, from string) error {
	if err := p.layout.checkPlace(f.name); err != nil {
		return err
	}
	f.wheel = p.name.File
	if other, ok := p.taken[f.name]; ok {
		p.odd = append(p.odd, fmt.Sprintf("%q and %q are one file", other, from))
		p.files = slices.DeleteFunc(p.files, func(o file) bool { return o.name == f.name })
	}
	p.taken[f.name] = from
	p.files = append(p.files, f)
	return nil
}
