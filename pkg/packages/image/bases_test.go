package image_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layoutProgram prints the version of an interpreter, the interpreter itself, and its standard library.
const layoutProgram = "import os, sys, sysconfig; print('%d.%d' % sys.version_info[:2]); print(os.path.realpath(sys.executable)); print(sysconfig.get_path('stdlib'))"

// newBases makes the bases of projects, with the interpreter of this machine and with Debian's.
func newBases(t *testing.T, root, python string) map[string]*baseDir {
	t.Helper()
	b := maker{t: t, python: python}
	bases := map[string]*baseDir{"plain": b.install(root + "/plain")}
	bases["plain"].bin = root + "/plain/bin"

	full := b.install(root + "/full")
	b.module(full.site, "pkg_resources", "65.5", "base")
	b.module(full.site, "numpy", "1.0", "base")
	b.write(full.site+"/zzz.pth", "import sys; sys.of_base = True\n")
	bases["with packages"] = full

	// A virtual environment that can't see the packages of its interpreter.
	venv := b.install(root + "/venv")
	b.module(venv.site, "system", "1.0", "system")
	b.module(b.venv(venv, root+"/venv/opt/venv", false), "torch", "2.0", "venv")
	b.module(root+"/venv/opt/venv/lib/"+b.name+"/site-packages", "numpy", "1.0", "venv")
	bases["a virtual environment"] = venv

	seeing := b.install(root + "/seeing")
	b.module(seeing.site, "system", "1.0", "system")
	b.module(seeing.site, "numpy", "1.0", "system")
	b.module(b.venv(seeing, root+"/seeing/opt/venv", true), "torch", "2.0", "venv")
	bases["a virtual environment with system packages"] = seeing

	// uv's layout: the directory of the version is a link, and the interpreter is called by a link to it.
	managed := b.install(root + "/managed/uv/python/cpython-3-linux.1")
	managed.root = root + "/managed"
	b.link("cpython-3-linux.1", root+"/managed/uv/python/cpython-3-linux")
	b.link("../uv/python/cpython-3-linux/bin/"+b.name, root+"/managed/bin/python3")
	b.module(managed.site, "numpy", "1.0", "base")
	managed.bin = root + "/managed/bin"
	bases["a linked interpreter"] = managed

	uv := b.install(root + "/uv/python/cpython-3-linux.1")
	uv.root = root + "/uv"
	b.link("cpython-3-linux.1", root+"/uv/python/cpython-3-linux")
	through := *uv
	through.python = root + "/uv/python/cpython-3-linux/bin/" + b.name
	b.module(b.venv(&through, root+"/uv/app/.venv", false), "torch", "2.0", "venv")
	uv.bin = through.bin
	bases["uv's virtual environment"] = uv

	alternatives := b.install(root + "/alternatives/usr")
	alternatives.root = root + "/alternatives"
	b.link(root+"/alternatives/usr/bin/"+b.name, root+"/alternatives/etc/alternatives/python3")
	b.link("../../etc/alternatives/python3", root+"/alternatives/usr/local/python3")
	alternatives.bin = root + "/alternatives/usr/local"
	bases["alternatives"] = alternatives

	b.debian(root, bases)
	return bases
}

// debian adds bases with Debian's interpreter, which has its packages in other directories.
func (b maker) debian(root string, bases map[string]*baseDir) {
	b.t.Helper()
	b.python = "/usr/bin/python3"
	out, err := exec.Command(b.python, "-I", "-c", "import site; print(site.getsitepackages())").Output()
	if err != nil || !strings.Contains(string(out), "dist-packages") {
		return
	}
	debian := b.install(root + "/debian/usr")
	debian.root = root + "/debian"
	b.module(root+"/debian/usr/lib/python3/dist-packages", "numpy", "1.0", "Debian")
	b.module(root+"/debian/usr/lib/python3/dist-packages", "setuptools", "65", "Debian")
	bases["Debian"] = debian

	venv := b.install(root + "/denv/usr")
	venv.root = root + "/denv"
	b.module(root+"/denv/usr/lib/python3/dist-packages", "system", "1.0", "Debian")
	b.module(b.venv(venv, root+"/denv/opt/venv", false), "torch", "2.0", "venv")
	bases["Debian's virtual environment"] = venv
}

// A maker makes bases with an interpreter.
type maker struct {
	t      *testing.T
	python string
	name   string // "python3.12"
}

func (b *maker) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// install makes a directory an installation of the interpreter, with no packages.
func (b *maker) install(prefix string) *baseDir {
	b.t.Helper()
	out, err := exec.Command(b.python, "-I", "-c", layoutProgram).Output()
	b.must(err)
	words := strings.Fields(string(out))
	b.name = "python" + words[0]
	d := &baseDir{root: prefix, bin: prefix + "/bin", python: prefix + "/bin/" + b.name, site: prefix + "/lib/" + b.name + "/site-packages"}
	b.must(os.MkdirAll(d.bin, 0o755))
	b.must(os.MkdirAll(d.site, 0o755))
	b.copy(words[1], d.python)
	b.link(b.name, d.bin+"/python3")
	entries, err := os.ReadDir(words[2])
	b.must(err)
	for _, e := range entries { // Debian's sitecustomize.py would hide that of a wheel
		if !slices.Contains([]string{"site-packages", "dist-packages", "__pycache__", "sitecustomize.py"}, e.Name()) {
			b.link(filepath.Join(words[2], e.Name()), prefix+"/lib/"+b.name+"/"+e.Name())
		}
	}
	return d
}

// copy copies an interpreter: Python looks for its library beside the file itself. Another process does it,
// since a file that a forked test has open for writing can't be run.
func (b *maker) copy(from, to string) {
	b.t.Helper()
	run(b.t, "cp", from, to)
}

func (b *maker) link(target, name string) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(name), 0o755))
	b.must(os.Symlink(target, name))
}

func (b *maker) write(name, text string) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(name), 0o755))
	b.must(os.WriteFile(name, []byte(text), 0o644))
}

// module installs a package of one module.
func (b *maker) module(site, project, version, value string) {
	b.t.Helper()
	info := site + "/" + project + "-" + version + ".dist-info/"
	b.write(site+"/"+project+".py", "VALUE = '"+value+"'\n")
	b.write(info+"METADATA", "Metadata-Version: 2.1\nName: "+project+"\nVersion: "+version+"\n")
	b.write(info+"RECORD", project+".py,,\n")
}

// venv makes a virtual environment the first on the PATH of a base. It returns its directory of packages.
func (b *maker) venv(d *baseDir, prefix string, system bool) string {
	b.t.Helper()
	d.bin = prefix + "/bin"
	b.link(d.python, d.bin+"/python")
	b.link("python", d.bin+"/python3")
	text := "home = " + filepath.Dir(d.python) + "\ninclude-system-site-packages = false\n"
	if system {
		text = strings.Replace(text, "false", "true", 1)
	}
	b.write(prefix+"/pyvenv.cfg", text)
	site := prefix + "/lib/" + b.name + "/site-packages"
	b.must(os.MkdirAll(site, 0o755))
	return site
}
