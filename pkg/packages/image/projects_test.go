package image_test

import (
	"fmt"
	"strings"
)

// module is a module that has a value.
func module(name, value string) file {
	return file{name: name, data: fmt.Sprintf("VALUE = %q\n", value)}
}

// simple returns a wheel of version 1.
func simple(project string, files ...file) made { return made{project, "1", files} }

// padded returns a wheel that is larger than others.
func padded(project string, files ...file) made {
	return simple(project, append(files, file{name: project + ".bin", data: noise(project[0], 3000)})...)
}

// commands is entry_points.txt of a wheel of version 1.
func commands(project, text string) file {
	return file{name: project + "-1.dist-info/entry_points.txt", data: text}
}

const mainModule = "import sys\nVALUE = 'main'\ndef main():\n    print('main', sys.argv[1:], sys.prefix == __import__('os').environ['VIRTUAL_ENV'])\n    return 3\nclass Tool:\n    run = staticmethod(main)\n"

// projects are those of TestModes, for a version of Python.
func projects(python string) map[string]project {
	const data = "demo-1.data/"
	tag := "cpython-" + strings.ReplaceAll(python, ".", "")
	numpy := made{"numpy", "2.0", []file{module("numpy.py", "2.0")}}
	all := map[string]project{
		"a module":  {wheels: []made{simple("plain", module("plain.py", "1"))}, values: map[string]string{"plain": "1"}},
		"a package": {wheels: []made{simple("demo", module("demo/__init__.py", "1"), module("demo/sub/deep.py", "2"), file{name: "demo/data.json", data: "{}"})}, values: map[string]string{"demo": "1", "demo.sub.deep": "2"}},
		"a namespace": {wheels: []made{simple("ns_one", module("ns/one.py", "1")), simple("ns_two", module("ns/two/__init__.py", "2"))},
			values: map[string]string{"ns.one": "1", "ns.two": "2"}},
		"a namespace with __init__.py": {wheels: []made{
			simple("ns_one", file{name: "ns/__init__.py", data: "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"}, module("ns/one.py", "1")),
			simple("ns_two", file{name: "ns/__init__.py", data: "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"}, module("ns/two.py", "2"))},
			values: map[string]string{"ns.one": "1", "ns.two": "2"}},
		"a shared directory": {wheels: []made{simple("one", module("tests/__init__.py", ""), module("tests/test_one.py", "1")), simple("two", module("tests/__init__.py", ""), module("tests/test_two.py", "2"))},
			values: map[string]string{"tests.test_one": "1", "tests.test_two": "2"}},
		"one file of two wheels, the first one larger":  {wheels: []made{padded("aaa", module("both.py", "a")), simple("bbb", module("both.py", "b"))}, values: map[string]string{"both": "b"}},
		"one file of two wheels, the second one larger": {wheels: []made{simple("aaa", module("both.py", "a")), padded("bbb", module("both.py", "b"))}, values: map[string]string{"both": "a"}},
		// Layers have bytecode: which of them is larger is not which of the wheels is.
		"one file of two wheels, of much bytecode": {bytecode: true, wheels: []made{
			simple("aaa", module("both.py", "a"), file{name: "large.py", data: strings.Repeat("def f(x): return [x, x + 1, x - 1]\n", 4000)}),
			simple("bbb", module("both.py", "b"), file{name: "bbb.bin", data: noise('b', 2500)})}, values: map[string]string{"both": "a"}},
		"compiled": {bytecode: true, wheels: []made{simple("demo", module("demo/__init__.py", "1"), file{name: "demo/wrong.py", data: "VALUE = (\n"})},
			values: map[string]string{"demo": "1", "demo.wrong": ""}},
		"compiled, with one file of two wheels": {bytecode: true, wheels: []made{padded("aaa", module("both.py", "a")), simple("bbb", file{name: "both.py", data: "VALUE = (\n"})}, values: map[string]string{"both": ""}},
		"bytecode of the wheel": {wheels: []made{simple("demo", module("demo.py", "1"), file{name: "__pycache__/demo." + tag + ".pyc", data: "old"}, file{name: "__pycache__/demo.cpython-20.pyc", data: "old"}, file{name: "bare.pyc", data: "old"})},
			values: map[string]string{"demo": "1", "bare": ""}},
		"console scripts": {wheels: []made{simple("demo", file{name: "demo/__init__.py", data: mainModule},
			commands("demo", "[console_scripts]\ndemo = demo:main\ndemo-tool = demo:Tool.run [extra]\n\n# more\n[gui_scripts]\ndemo-gui=demo:main\n[other.group]\nx = y\n"))}, values: map[string]string{"demo": "main"}},
		"odd console scripts": {wheels: []made{simple("demo", file{name: "demo.py", data: mainModule}, commands("demo", "[console_scripts]\r\nmy demo = demo:main # calls it\r\ndemo.x = demo : main\r\n"))},
			values: map[string]string{"demo": "main"}},
		"scripts": {wheels: []made{simple("demo", file{name: data + "scripts/demo-python", data: "#!python\nimport sys; print(sys.prefix == __import__('os').environ['VIRTUAL_ENV'])\n"},
			file{name: data + "scripts/demo-window", data: "#!pythonw -x\nprint(1)\n"}, file{name: data + "scripts/demo-shell", data: "#!/bin/sh\necho $0\n", mode: 0o111},
			file{name: data + "scripts/wrapped-script.py", data: "#!python\n"}, commands("demo", "[console_scripts]\nwrapped = json:loads\n"))}},
		"directories of .data": {wheels: []made{simple("demo", module(data+"purelib/pure.py", "1"), module(data+"platlib/plat.py", "2"), file{name: data + "headers/demo.h", data: "int demo;\n"},
			file{name: data + "data/share/demo/data.txt", data: "data"}, file{name: data + "data/etc/jupyter/demo.json", data: "{}"}, module(data+"data/lib/python"+python+"/site-packages/late.py", "3"))},
			values: map[string]string{"pure": "1", "plat": "2", "late": "3"}},
		".data of another name": {wheels: []made{simple("demo", module("other-2.data/purelib/pure.py", "1"))}, values: map[string]string{"pure": "1"}},
		"an extension":          {wheels: []made{simple("demo", file{name: "demo/_native." + tag + "-x86_64-linux-gnu.so", data: "\x7fELF", mode: 0o111}, module("demo/__init__.py", "1"))}, values: map[string]string{"demo": "1", "demo._native": ""}},
		"a .pth file":           {wheels: []made{simple("demo", file{name: "demo.pth", data: "vendored\n# a comment\nimport sys; sys.of_pth = 1\n"}, module("vendored/inside.py", "1"))}, values: map[string]string{"inside": "1"}},
		"a .pth file that names a place elsewhere": {wheels: []made{simple("demo", file{name: "__editable__.demo.pth", data: "/usr/share\n/does/not/exist\n"})}},
		"a .pth file that fails":                   {wheels: []made{simple("demo", file{name: "demo.pth", data: "import does_not_exist\nvendored\n"}, module("vendored/inside.py", "1"))}, values: map[string]string{}},
		"sitecustomize":                            {wheels: []made{simple("demo", file{name: "sitecustomize.py", data: "import sys; sys.customized = VALUE = 'yes'\n"})}, values: map[string]string{"sitecustomize": "yes"}},
		"deep names":                               {wheels: []made{simple("demo", module(strings.Repeat(strings.Repeat("d", 60)+"/", 20)+"deep.py", "1"), file{name: "demo/" + strings.Repeat("n", 255), data: "x"})}},
		"names that are not ASCII":                 {wheels: []made{simple("demo", module("größe/модуль.py", "1"), file{name: "größe/日本 x.txt", data: "日本"})}, values: map[string]string{"größe.модуль": "1"}},
		"names in an old encoding":                 {wheels: []made{simple("demo", file{name: "größe.txt", data: "x", link: "no UTF-8"})}},
		"modes": {wheels: []made{simple("demo", file{name: "demo/tool.sh", data: "#!/bin/sh\n", mode: 0o111}, file{name: "demo/group.sh", data: "#!/bin/sh\n", mode: 0o010}, file{name: "demo/wide.txt", data: "x", mode: 0o022},
			file{name: "demo/link", data: "tool.sh", mode: 0o020777})}},
		"an odd project name":      {wheels: []made{simple("Foo.Bar_baz", module("foo_bar.py", "1"))}, values: map[string]string{"foo_bar": "1"}},
		"RECORD with wrong hashes": {wheels: []made{simple("demo", module("demo.py", "1"), file{name: "demo-1.dist-info/RECORD", data: "demo.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,5\ngone.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"})}, values: map[string]string{"demo": "1"}},
		"RECORD that is empty":     {wheels: []made{simple("demo", module("demo.py", "1"), file{name: "demo-1.dist-info/RECORD"})}, values: map[string]string{"demo": "1"}},
		"RECORD with a weak hash":  {wheels: []made{simple("demo", module("demo.py", "1"), file{name: "demo-1.dist-info/RECORD", data: "./demo.py,md5=1B2M2Y8AsgTpgAmY7PhCfg,0\n\"\n"})}, values: map[string]string{"demo": "1"}},
		"a member twice":           {wheels: []made{simple("demo", module("demo.py", "1"), module("demo.py", "2"))}, values: map[string]string{"demo": "2"}},
		"two files for one place":  {wheels: []made{simple("demo", module(data+"purelib/demo.py", "purelib"), module("demo.py", "root"), module("x.py", "root"), module(data+"data/lib/python"+python+"/site-packages/x.py", "data"))}, values: map[string]string{"demo": "purelib", "x": "data"}},
		"what others leave":        {wheels: []made{simple("demo", module("demo.py", "1"), file{name: "demo-1.dist-info/INSTALLER", data: "uv"}, file{name: "demo-1.dist-info/RECORD.jws", data: "{}"}, file{name: "demo-1.dist-info/direct_url.json", data: "{}"}, file{name: "empty/"})}, values: map[string]string{"demo": "1"}},

		"packages of the base":                             {base: "with packages", wheels: []made{simple("demo", file{name: "demo.py", data: "import pkg_resources\nVALUE = pkg_resources.VALUE\n"})}, values: map[string]string{"demo": "base", "numpy": "base"}},
		"a package that the base has in another version":   {base: "with packages", wheels: []made{numpy}, values: map[string]string{"numpy": "2.0"}},
		"above a virtual environment":                      {base: "a virtual environment", wheels: []made{simple("demo", module("demo.py", "1"))}, values: map[string]string{"torch": "venv", "numpy": "venv", "demo": "1"}},
		"another version, above a virtual environment":     {base: "a virtual environment", wheels: []made{numpy}, values: map[string]string{"torch": "venv", "numpy": "2.0"}},
		"above a virtual environment with system packages": {base: "a virtual environment with system packages", wheels: []made{simple("demo", module("demo.py", "1"))}, values: map[string]string{"torch": "venv", "numpy": "system", "system": "system"}},
		"above a linked interpreter":                       {base: "a linked interpreter", wheels: []made{simple("demo", module("demo.py", "1"))}, values: map[string]string{"numpy": "base", "demo": "1"}},
		"above uv's virtual environment":                   {base: "uv's virtual environment", wheels: []made{numpy}, values: map[string]string{"torch": "venv", "numpy": "2.0"}},
		"above Debian's alternatives":                      {base: "alternatives", wheels: []made{numpy}, values: map[string]string{"numpy": "2.0"}},
		"above Debian's packages":                          {base: "Debian", wheels: []made{numpy}, values: map[string]string{"numpy": "2.0", "setuptools": "Debian"}},
		"above a virtual environment of Debian":            {base: "Debian's virtual environment", wheels: []made{numpy}, values: map[string]string{"torch": "venv", "numpy": "2.0"}},
	}
	return all
}
