package lock

import "testing"

// TestFilesOfUV: uv writes only the names of wheels that are files of the project.
func TestFilesOfUV(t *testing.T) {
	const project = "version = 1\n[[package]]\nname = 'app'\nsource = { virtual = '.' }\ndependencies = [{ name = 'x' }]\n[[package]]\nname = 'x'\nversion = '1'\n"
	for name, c := range map[string]struct{ text, path, source string }{
		"a wheel":              {"source = { path = 'own/x-1-py3-none-any.whl' }\nwheels = [{ filename = 'x-1-py3-none-any.whl', hash = 'sha256:AAAA' }]", "/project/own/x-1-py3-none-any.whl", ""},
		"an absolute path":     {"source = { path = '/project/x-1-py3-none-any.whl' }\nwheels = [{ filename = 'x-1-py3-none-any.whl', hash = 'sha256:AAAA' }]", "/project/x-1-py3-none-any.whl", ""},
		"a directory of links": {"source = { registry = 'own' }\nwheels = [{ path = 'x-1-py3-none-any.whl', hash = 'sha256:AAAA' }]", "/project/own/x-1-py3-none-any.whl", ""},
		"a source archive":     {"source = { path = 'own/x-1.tar.gz' }\nsdist = { hash = 'sha256:AAAA' }", "", "own/x-1.tar.gz"},
		"one of the directory": {"source = { registry = 'own' }\nsdist = { path = 'x-1.tar.gz' }", "", "own/x-1.tar.gz"},
	} {
		l, err := ReadUV([]byte(withHashes(project+c.text)), "app", options())
		if err != nil || len(l.Packages) != 1 {
			t.Errorf("%s: %+v, %v", name, l, err)
			continue
		}
		var got File
		if p := l.Packages[0].Wheel; p != nil {
			got = *p
		}
		if got.Path != c.path || got.URL != "" || l.Packages[0].Source != c.source {
			t.Errorf("%s: the wheel is %+v, the source %q; want %q and %q", name, got, l.Packages[0].Source, c.path, c.source)
		}
	}
}
