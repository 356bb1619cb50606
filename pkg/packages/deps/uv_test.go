package deps

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUVToml: the settings of uv.toml take the place of those in [tool.uv], and none is left out without a word.
func TestUVToml(t *testing.T) {
	const app, sources, two = "-- pyproject.toml --\n[project]\nname = 'app'\ndependencies = ['a']\n", "[tool.uv.sources]\na.index = 'inner'\n",
		"[tool.uv]\nindex-url = 'https://two'\nprerelease = 'allow'\nconstraint-dependencies = ['b<2']\n"
	const file = "-- uv.toml --\nindex-url = 'https://one'\n"
	const all = "-- uv.toml --\nextra-index-url = ['https://e']\nfind-links = ['https://l', 'wheels']\nno-index = true\nconstraint-dependencies = ['a<2']\noverride-dependencies = ['c==1']\n" +
		"[[index]]\nname = 'inner'\nurl = 'https://me:hush@i'\ndefault = true\n[[index]]\nname = 'only'\nurl = 'https://x'\nexplicit = true\n"
	for name, c := range map[string]struct {
		archive, entry, named string
		options, limits       []string
		warnings              []string // their beginnings
		err                   string
	}{
		"alone":           {archive: app + file, options: []string{"--index-url https://one"}},
		"every setting":   {archive: app + all, options: []string{"--index-url https://me:hush@i", "--extra-index-url https://e", "--find-links https://l", "--find-links DIR/wheels", "--no-index"}, limits: []string{"uv.toml a<2"}, warnings: []string{"uv.toml: without a lock, these settings of uv are ignored: override-dependencies: run", "uv.toml has credentials in a URL"}},
		"it wins":         {archive: app + two + file, options: []string{"--index-url https://one"}, limits: []string{"pyproject.toml b<2"}, warnings: []string{"pyproject.toml: these settings of uv are ignored, because uv.toml takes their place: index-url, prerelease"}},
		"for uv pip":      {archive: app + "[tool.uv]\nindex-url = 'https://one'\n[tool.uv.pip]\nindex-url = 'https://two'\nextra-index-url = ['https://e']\nfind-links = ['wheels']\nno-index = true\n", options: []string{"--index-url https://one", "--index-url https://two", "--extra-index-url https://e", "--find-links DIR/wheels", "--no-index"}},
		"for uv pip too":  {archive: app + "[tool.uv.pip]\nno-index = true\n-- uv.toml --\n[pip]\nextra-index-url = ['https://e']\n", options: []string{"--extra-index-url https://e"}, warnings: []string{"pyproject.toml: these settings of uv are ignored, because uv.toml takes their place: pip"}},
		"but with a lock": {archive: app + "[tool.uv.pip]\nindex-url = 'https://two'\n-- uv.lock --\n"},
		"for a lock": {archive: app + "[tool.uv]\nresolution = 'lowest'\nexclude-dependencies = ['z']\nexclude-newer-package = {a = '2026-01-01'}\nno-build = true\nno-build-package = ['a']\nno-binary = true\nno-binary-package = ['a']\ntorch-backend = 'auto'\nenvironments = ['x']\n",
			warnings: []string{"pyproject.toml: without a lock, these settings of uv are ignored: environments, exclude-dependencies, exclude-newer-package, no-binary, no-binary-package, no-build, no-build-package, resolution, torch-backend: run uv lock"}},
		"it wins empty":   {archive: app + two + "-- uv.toml --\n", limits: []string{"pyproject.toml b<2"}, warnings: []string{"pyproject.toml: these settings of uv are ignored"}},
		"beside a lock":   {archive: app + two + all + "-- uv.lock --\n", options: []string{"--index-url https://me:hush@i", "--extra-index-url https://x", "--extra-index-url https://e", "--find-links https://l", "--find-links DIR/wheels", "--no-index"}, warnings: []string{"uv.toml has credentials"}},
		"above":           {archive: strings.ReplaceAll(app, "-- ", "-- sub/") + file, entry: "sub", options: []string{"--index-url https://one"}},
		"the nearest":     {archive: strings.ReplaceAll(app+two, "-- ", "-- sub/") + file, entry: "sub", options: []string{"--index-url https://two"}, limits: []string{"sub/pyproject.toml b<2"}, warnings: []string{"sub/pyproject.toml: without a lock"}},
		"no project's":    {archive: strings.ReplaceAll(app, "-- ", "-- sub/") + "-- sub/.git/HEAD --\n" + file, entry: "sub"},
		"of a member":     {archive: "-- pyproject.toml --\n[tool.uv.workspace]\nmembers = ['sub']\n" + strings.ReplaceAll(app+file, "-- ", "-- sub/"), entry: "sub"},
		"of a workspace":  {archive: "-- pyproject.toml --\n[tool.uv.workspace]\nmembers = ['sub']\n" + file + strings.ReplaceAll(app, "-- ", "-- sub/"), entry: "sub", options: []string{"--index-url https://one"}},
		"a package of it": {archive: app + sources + file, err: `"a" comes from the index inner, as [tool.uv.sources] says`},
		"sources in it":   {archive: app + file + "[sources]\na.index = 'inner'\n", err: "uv.toml: the setting sources is allowed only in pyproject.toml: move it to [tool.uv] there"},
		"groups in it":    {archive: app + file + "default-groups = ['x']\n", err: "uv.toml: the setting default-groups is allowed only"},
		"not TOML":        {archive: app + "-- uv.toml --\nindex-url\n", err: "uv.toml:1:"},
		"bad constraint":  {archive: app + "-- uv.toml --\nconstraint-dependencies = ['a b']\n", err: `uv.toml: column 3 of "a b"`},

		"requirements.txt":          {archive: "-- requirements.txt --\na\n" + file, warnings: []string{"requirements.txt does not name what uv.toml has: add the lines that the job needs: --index-url https://one"}},
		"requirements.txt has it":   {archive: "-- requirements.txt --\n--index-url https://one\na\n" + file, options: []string{"--index-url https://one"}},
		"one that is named":         {archive: "-- sub/all.txt --\na\n-- uv.toml --\nindex-url = 'https://me:hush@i'\n", named: "sub/all.txt", warnings: []string{"sub/all.txt does not name what uv.toml has: add the lines that the job needs: --index-url https://***@i"}},
		"requirements and tool.uv":  {archive: "-- requirements.txt --\na\n" + app + two, warnings: []string{"requirements.txt does not name what pyproject.toml has: add the lines that the job needs: --index-url https://two"}},
		"nothing is required":       {archive: "-- requirements.txt --\n" + file},
		"requirements, no settings": {archive: "-- requirements.txt --\na\n-- uv.toml --\nnot TOML\n"},
		"a script":                  {archive: "-- job.py --\n# /// script\n# dependencies = ['a']\n# ///\n" + file, named: "job.py", warnings: []string{"job.py does not name what uv.toml has: "}},
	} {
		dir := project(t, c.archive)
		o := at(dir, c.entry)
		o.File = c.named
		w, err := Find(o)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var options, limits, warnings []string
		for _, option := range w.Options {
			options = append(options, strings.Replace(option, dir+string(filepath.Separator), "DIR/", 1))
		}
		for _, l := range w.Constraints {
			limits = append(limits, l.File+" "+l.Text)
		}
		for i, warning := range w.Warnings {
			if i < len(c.warnings) && strings.HasPrefix(warning, c.warnings[i]) {
				warning = c.warnings[i]
			}
			warnings = append(warnings, warning)
		}
		if diff := cmp.Diff([][]string{c.options, c.limits, c.warnings}, [][]string{options, limits, warnings}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Contains(strings.Join(w.Warnings, ""), "hush") {
			t.Errorf("%s: credentials in %q", name, w.Warnings)
		}
	}
	for name, value := range map[string]string{
		"build-backend": "{module-root = ''}", "conflicts": "[]", "dependency-groups": "{}", "dev-dependencies": "[]", "environments": "[]",
		"managed": "true", "package": "false", "required-environments": "[]", "sources": "{}", "workspace": "{}",
	} {
		_, err := Find(at(project(t, app+"-- uv.toml --\n"+name+" = "+value+"\n"), ""))
		if err == nil || !strings.HasPrefix(err.Error(), "uv.toml: the setting "+name+" is allowed only in pyproject.toml") {
			t.Errorf("%s in uv.toml: got %v", name, err)
		}
	}
	w, err := Find(at(project(t, app+all), ""))
	if want := map[string]string{"https://me:hush@i": "inner"}; err != nil || !cmp.Equal(w.IndexNames, want) {
		t.Errorf("the names of indexes are %v, %v", w.IndexNames, err)
	}
}
