package call

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// project makes empty files in a new directory.
func project(t testing.TB, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		write(t, filepath.Join(dir, file), "")
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// words makes an Invocation of a command line without flags that take a value.
func words(line ...string) api.Invocation {
	var w api.Invocation
	for i, word := range line {
		switch word {
		case "-m":
			w.Module = true
		case "--command":
			w.Command = true
		case "--":
			w.Args = line[i+1:]
			return w
		default:
			w.Target = word
		}
	}
	return w
}

func TestParse(t *testing.T) {
	dir := project(t, "train.py", "my-train.py", "tool", "pkg/mod.py", "2024-01-01T10:00.py", "größe.py")
	join := func(name string) string { return filepath.Join(dir, name) }
	tests := map[string]struct {
		words api.Invocation
		want  Target
		entry string
	}{
		"a script":                            {words("train.py"), Target{Kind: api.CallFile, Path: join("train.py")}, dir},
		"a script with ARGS":                  {words("train.py", "--", "--lr", "3"), Target{Kind: api.CallFile, Path: join("train.py"), Args: []string{"--lr", "3"}}, dir},
		"a script elsewhere":                  {words("./pkg/../pkg/mod.py"), Target{Kind: api.CallFile, Path: join("pkg/mod.py")}, join("pkg")},
		"an absolute path":                    {words(join("pkg/mod.py")), Target{Kind: api.CallFile, Path: join("pkg/mod.py")}, join("pkg")},
		"a script without .py":                {words("tool"), Target{Kind: api.CallFile, Path: join("tool")}, dir},
		"a script with a colon":               {words("2024-01-01T10:00.py"), Target{Kind: api.CallFile, Path: join("2024-01-01T10:00.py")}, dir},
		"a module":                            {words("-m", "pkg.mod"), Target{Kind: api.CallModule, Module: "pkg.mod"}, dir},
		"a module with ARGS":                  {words("-m", "torch.distributed.run", "--", "x"), Target{Kind: api.CallModule, Module: "torch.distributed.run", Args: []string{"x"}}, dir},
		"a function of a file":                {words("train.py:train"), Target{Kind: api.CallFunction, Path: join("train.py"), Function: "train"}, dir},
		"one of a file in a package":          {words("pkg/mod.py:train"), Target{Kind: api.CallFunction, Path: join("pkg/mod.py"), Function: "train"}, join("pkg")},
		"one of a file that is no identifier": {words("my-train.py:train"), Target{Kind: api.CallFunction, Path: join("my-train.py"), Function: "train"}, dir},
		"a function of a module":              {words("pkg.mod:train"), Target{Kind: api.CallFunction, Module: "pkg.mod", Function: "train"}, dir},
		"one of a module that is not here":    {words("keras.applications:ResNet50"), Target{Kind: api.CallFunction, Module: "keras.applications", Function: "ResNet50"}, dir},
		"a soft keyword":                      {words("train.py:match"), Target{Kind: api.CallFunction, Path: join("train.py"), Function: "match"}, dir},
		"letters of another script":           {words("größe.py:größe_1"), Target{Kind: api.CallFunction, Path: join("größe.py"), Function: "größe_1"}, dir},
		"a command":                           {words("--command", "--", "nvidia-smi", "-L"), Target{Kind: api.CallCommand, Args: []string{"nvidia-smi", "-L"}}, dir},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tt.words, dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Target{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.EntryDir() != tt.entry {
				t.Errorf("EntryDir() = %s, want %s", got.EntryDir(), tt.entry)
			}
		})
	}
}

func TestParseRejects(t *testing.T) {
	dir := project(t, "train.py", "my-train.py", "run.sh", "demo.ipynb", "tool", "pkg/__init__.py", "pkg/mod.py", "app/__main__.py", "src/train.py")
	with := func(kwarg string, w api.Invocation) api.Invocation {
		w.KWArgs = []string{kwarg}
		return w
	}
	tests := map[string]struct {
		words api.Invocation
		want  []string
	}{
		"nothing":                              {words(), []string{"TARGET required", "train.py:train"}},
		"only ARGS":                            {words("--", "python", "train.py"), []string{"no TARGET before --", "--command"}},
		"-m alone":                             {words("-m"), []string{"-m: name the module"}},
		"a missing file":                       {words("trian.py"), []string{"there is no file trian.py in " + dir, `did you mean "train.py"`}},
		"one without .py":                      {words("train"), []string{`did you mean "train.py"`}},
		"a program":                            {words("ls"), []string{"there is no file ls in " + dir, "; to run the program ls, use --command -- ls"}},
		"an argument that is not UTF-8":        {words("train.py", "--", "caf\xe9"), []string{`argument "caf\xe9" after -- is not UTF-8`}},
		"one like nothing here":                {words("zebra.txt"), []string{"there is no file zebra.txt", "TARGET is a file"}},
		"one in a directory":                   {words("src/trane.py"), []string{"no file trane.py in " + filepath.Join(dir, "src"), `did you mean "train.py"`}},
		"one in a missing directory":           {words("scr/train.py"), []string{"there is no file scr/train.py: its directory does not exist"}},
		"one on a drive of Windows":            {words(`C:\x\missing.py`), []string{`no file C:\x\missing.py in`}},
		"a function of one there":              {words(`c:/x/missing.py:f`), []string{"there is no file c:/x/missing.py: its directory"}},
		"a module without -m":                  {words("pkg.mod"), []string{"there is no file pkg.mod", "use -m pkg.mod"}},
		"a directory":                          {words("src"), []string{"src is a directory: name a Python file in it, as in src/train.py"}},
		"a directory that can be run":          {words("./app/"), []string{"./app/ is a directory", "use -m app"}},
		"a notebook":                           {words("demo.ipynb"), []string{"demo.ipynb", "nbconvert"}},
		"a shell script":                       {words("run.sh"), []string{"run.sh", "--command -- sh"}},
		"a device":                             {words(os.DevNull), []string{"is not a regular file"}},
		"-m with a file":                       {words("-m", "src/train.py"), []string{"-m src/train.py", "use -m src.train"}},
		"-m with a path":                       {words("-m", "pkg/mod"), []string{"-m pkg/mod: not a module name"}},
		"-m with a function":                   {words("-m", "pkg.mod:train"), []string{"omit -m to run a function: pkg.mod:train"}},
		"-m with an empty part":                {words("-m", "pkg..mod"), []string{"-m pkg..mod: not a module name"}},
		"-m cannot be combined with --command": {words("-m", "--command", "--", "x"), []string{"-m cannot be combined with --command"}},
		"--command before the command":         {words("--command", "python", "--", "x.py"), []string{"--command -- python x.py"}},
		"--command alone":                      {words("--command"), []string{"no command after --"}},
		"--command with an empty word":         {words("--command", "--", "", "x"), []string{"the first word after --"}},
		"no function":                          {words("train.py:"), []string{"train.py:: name the function after the colon, as in train.py:train"}},
		"no file":                              {words(":train"), []string{":train: name the file or module before the colon"}},
		"only a colon":                         {words(":"), []string{"before the colon"}},
		"a keyword":                            {words("train.py:class"), []string{`"class" is a Python keyword`}},
		"a function that is no name":           {words("train.py:1st"), []string{`"1st" is not a Python function name`}},
		"a method":                             {words("train.py:Trainer.fit"), []string{"methods cannot be run directly"}},
		"a call":                               {words("train.py:train(lr=1)"), []string{"name only the function", "--arg"}},
		"a function of a missing file":         {words("trian.py:train"), []string{"there is no file trian.py", `did you mean "train.py"`}},
		"a function of a directory":            {words("./src:train"), []string{"./src is a directory"}},
		"a function of no Python file":         {words("./tool:train"), []string{"./tool:train: a function must be in a file", "ends in .py"}},
		"a function of a notebook":             {words("n.ipynb:f"), []string{"n.ipynb:f: a notebook cannot be run", "nbconvert"}},
		"a function of a program":              {words("tool:f"), []string{"tool:f: a function must be in a file", "ends in .py"}},
		"a function of a file's stem":          {words("my-train:train"), []string{"use the file: my-train.py:train"}},
		"a function of neither":                {words("my-other:train"), []string{`"my-other" is neither a Python file nor a module name`}},
		"a URL":                                {words("gs://bucket/train.py"), []string{"not a Python function name"}},
		"a function with ARGS":                 {words("train.py:train", "--", "3"), []string{"train.py:train is a function: pass arguments with --arg NAME=VALUE", `["3"]`}},
		"--arg with a script":                  {with("lr=3", words("train.py")), []string{"--arg lr=3: only functions", "-- ARGS"}},
		"--arg with a module":                  {with("lr=3", words("-m", "pkg.mod")), []string{"--arg lr=3: only functions"}},
		"--arg with a command":                 {with("lr=3", words("--command", "--", "x")), []string{"--arg lr=3: only functions", "the command after --"}},
		"a bad --arg":                          {with("lr", words("train.py:train")), []string{"--arg lr: expected NAME=VALUE"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tt.words, dir)
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
		})
	}
}

func TestFilesInAreThoseToSuggest(t *testing.T) {
	dir := project(t, "train.py", ".hidden.py", "src/train.py")
	if diff := cmp.Diff([]string{"train.py"}, filesIn(dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"train.py", "train.py:train", "pkg.mod:f", "pkg.mod", "a:b:c", "./x/", "..", ":", "-", "é.py:é", "a\x00b:c", "\xff:f"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	dir := project(f, "train.py", "pkg/mod.py", "a:b")
	f.Fuzz(func(t *testing.T, word string, module bool) {
		got, err := Parse(api.Invocation{Target: word, Module: module}, dir)
		if err != nil {
			return
		}
		switch got.Kind {
		case api.CallFile:
			if !platform.IsFile(got.Path) || got.Function != "" || got.Module != "" {
				t.Errorf("%q: %+v", word, got)
			}
		case api.CallModule:
			if got.Module != word || !isDottedName(word) {
				t.Errorf("%q: %+v", word, got)
			}
		case api.CallFunction:
			if !isIdentifier(got.Function) || isKeyword(got.Function) || platform.IsFile(got.Path) == (got.Module != "") {
				t.Errorf("%q: %+v", word, got)
			}
		default:
			t.Errorf("%q: %+v", word, got)
		}
		if !filepath.IsAbs(got.EntryDir()) {
			t.Errorf("%q: entry directory %q", word, got.EntryDir())
		}
	})
}
