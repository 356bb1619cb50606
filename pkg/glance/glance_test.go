package glance

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/table"
)

// server answers as an API server with the Jobs of a namespace.
type server struct {
	mu          sync.Mutex
	jobs        []served
	others      int      // Jobs that are not of jobs
	refuseField bool     // as one that does not know the field
	noCount     bool     // as one that does not count
	down        bool     // as one that fails
	asked       []string // the fields that lists selected, all or count
	listed      int      // how many Jobs there were at the last list
	then        func()   // happens after the next list, nil for nothing
}

// atList is the resource version of lists.
const atList = "7"

// served is a Job of a server.
type served struct {
	id                     string
	succeeded, completions int
	status                 string
}

// done is a Job that has succeeded.
func done(id string) served { return served{id, 1, 1, "Complete"} }

// running is a Job that runs.
func running(id string) served { return served{id, 0, 1, "Running"} }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	query, isTable := r.URL.Query(), r.Header.Get("Accept") == table.Accept
	if r.URL.Path != "/apis/batch/v1/namespaces/ml/jobs" || !isTable || query.Get("includeObject") != "None" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	asked, labels := cmp.Or(query.Get("fieldSelector"), "all"), query.Get("labelSelector")
	if query.Get("limit") == "1" && labels == "" { // a server does not count with a selector
		asked = "count"
	}
	s.asked = append(s.asked, asked)
	switch {
	case s.down:
		w.WriteHeader(http.StatusForbidden)
	case asked == "count" && query.Get("resourceVersion") == atList && query.Get("resourceVersionMatch") == "Exact":
		s.writePage(w, s.listed)
	case asked == "count":
		s.writePage(w, len(s.jobs)+s.others)
	case !strings.Contains(labels, "job-id"), s.refuseField && asked != "all":
		w.WriteHeader(http.StatusBadRequest)
	default:
		list := s.list(asked)
		s.listed = len(s.jobs) + s.others
		if s.then != nil {
			s.then()
			s.then = nil
		}
		fmt.Fprint(w, list) // last: who has read it does not wait for this function, and may change s
	}
}

// writePage writes the first page of one Job of all.
func (s *server) writePage(w http.ResponseWriter, all int) {
	switch {
	case all <= 1:
		fmt.Fprintf(w, `{"kind":"Table","metadata":{},"rows":[%s]}`, strings.Repeat("{}", all))
	case s.noCount:
		fmt.Fprint(w, `{"kind":"Table","metadata":{"continue":"x"},"rows":[{}]}`)
	default:
		fmt.Fprintf(w, `{"kind":"Table","metadata":{"continue":"x","remainingItemCount":%d},"rows":[{}]}`, all-1)
	}
}

// list returns the table of the Jobs that the fields select.
func (s *server) list(fields string) string {
	var rows []string
	for _, j := range s.jobs {
		if fields == "all" || fields == "status.successful=0" && j.succeeded == 0 {
			rows = append(rows, fmt.Sprintf(`{"cells":["kinetic-%s",%q,"%d/%d","5d7h","secret-image"]}`, j.id, j.status, j.succeeded, j.completions))
		}
	}
	return fmt.Sprintf(`{"kind":"Table","metadata":{"resourceVersion":%q},"columnDefinitions":[{"name":"Name"},{"name":"Status"},{"name":"Completions"},{"name":"Age"},{"name":"Images"}],"rows":[%s]}`,
		atList, strings.Join(rows, ","))
}

// hundreds returns as many Jobs that have succeeded as the file needs, d-0 and so on, and more.
func hundreds(more ...served) []served {
	var all []served
	for i := range many + 1 {
		all = append(all, done(fmt.Sprintf("d-%d", i)))
	}
	return append(all, more...)
}

// lister returns a Lister of a server with an empty file.
func lister(t *testing.T, s *server) Lister {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	scheme := k8sruntime.NewScheme()
	metav1.AddToGroupVersion(scheme, batchv1.SchemeGroupVersion)
	client, err := rest.RESTClientFor(&rest.Config{Host: web.URL, APIPath: "/apis", QPS: -1,
		ContentConfig: rest.ContentConfig{GroupVersion: &batchv1.SchemeGroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion()}})
	if err != nil {
		t.Fatal(err)
	}
	request := func(o *metav1.ListOptions) *rest.Request {
		return client.Get().Namespace("ml").Resource("jobs").VersionedParams(o, k8sruntime.NewParameterCodec(scheme))
	}
	return Lister{Request: request, Now: time.Now, File: FileOf(t.TempDir(), "c", "ml")}
}

// list lists Jobs. It returns a line for each but those of hundreds, and whether the server had to list
// them all.
func list(t *testing.T, l Lister, s *server) (lines []string, all bool) {
	t.Helper()
	s.asked = nil
	jobs, err := l.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, j := range jobs {
		if found[j.ID] {
			t.Errorf("%s is listed twice", j.ID)
		}
		found[j.ID] = true
		if age := time.Since(j.Created).Round(time.Hour); age != (5*24+7)*time.Hour {
			t.Errorf("the age of %s is %v", j.ID, age)
		}
		if !strings.HasPrefix(j.ID, "d-") {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s map=%v %s", j.ID, j.Map, j.State)))
		}
	}
	for _, j := range s.jobs {
		if !found[j.id] {
			t.Errorf("%s is not listed", j.id)
		}
	}
	return lines, slices.Contains(s.asked, "all")
}

// Every job is listed, whatever has happened since the file was written.
func TestListAgain(t *testing.T) {
	const a, b, c = "a map=false", "b map=true", "c map=false FAILED"
	for name, tt := range map[string]struct {
		change func(*server)
		want   []string
		all    bool // are listed again
	}{
		"nothing has happened":               {func(*server) {}, []string{a, b, c}, false},
		"a job has begun":                    {func(s *server) { s.jobs = append(s.jobs, running("new")) }, []string{a, b, c, "new map=false"}, false},
		"a job has succeeded":                {func(s *server) { s.jobs[many+1] = done("a") }, []string{a + " SUCCEEDED", b, c}, false},
		"a map has ended":                    {func(s *server) { s.jobs[many+2] = served{"b", 40, 40, "Complete"} }, []string{a, b, c}, false}, // it may run, too
		"a job has failed":                   {func(s *server) { s.jobs[many+1].status = "Failed" }, []string{a + " FAILED", b, c}, false},
		"one with an old ID has begun":       {func(s *server) { s.jobs[0] = running("d-0") }, []string{a, b, c}, false},
		"a job has begun and succeeded":      {func(s *server) { s.jobs = append(s.jobs, done("new")) }, []string{a, b, c, "new map=false SUCCEEDED"}, true},
		"a map has begun, and partly ended":  {func(s *server) { s.jobs = append(s.jobs, served{"new", 1, 40, "Running"}) }, []string{a, b, c, "new map=true"}, true},
		"a job was removed":                  {func(s *server) { s.jobs = s.jobs[1:] }, []string{a, b, c}, true},
		"a Job of others was removed":        {func(s *server) { s.others-- }, []string{a, b, c}, true},
		"all but one were removed":           {func(s *server) { s.jobs, s.others = s.jobs[many+1:many+2], 0 }, []string{a}, true},
		"the server does not know the field": {func(s *server) { s.refuseField = true }, []string{a, b, c}, true},
		"the server does not count":          {func(s *server) { s.noCount = true }, []string{a, b, c}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{jobs: hundreds(running("a"), served{"b", 2, 40, "Running"}, served{"c", 0, 1, "Failed"}), others: 3}
			l := lister(t, s)
			if lines, all := list(t, l, s); !slices.Equal(lines, []string{a, b, c}) || !all {
				t.Errorf("at first: %q, all=%v", lines, all)
			}
			tt.change(s)
			lines, all := list(t, l, s)
			if diff := gocmp.Diff(tt.want, lines); diff != "" || all != tt.all {
				t.Errorf("all=%v (-want +got):\n%s", all, diff)
			}
		})
	}
}

// A Job that is created between a list and its count is no Job of others.
func TestJobsAreCountedAsTheyWereListed(t *testing.T) {
	s := &server{jobs: hundreds(), others: 3}
	l := lister(t, s)
	s.then = func() { s.jobs = append(s.jobs, running("new")) }
	if _, err := l.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.jobs[len(s.jobs)-1] = done("new")
	if lines, all := list(t, l, s); !slices.Equal(lines, []string{"new map=false SUCCEEDED"}) || !all {
		t.Errorf("got %q, all=%v", lines, all)
	}
}

func TestFewJobsAreNotRemembered(t *testing.T) {
	s := &server{jobs: hundreds()[:many], others: 1000}
	l := lister(t, s)
	for _, s.jobs = range [][]served{s.jobs, s.jobs, nil} {
		if _, all := list(t, l, s); !all || slices.Contains(s.asked, "count") {
			t.Errorf("asked for %q", s.asked)
		}
	}
	if _, err := os.Stat(filepath.Dir(l.File.path)); err == nil {
		t.Error("there is a directory")
	}
}

func TestListFails(t *testing.T) {
	s := &server{jobs: hundreds()}
	l := lister(t, s)
	list(t, l, s)
	s.down = true
	if jobs, err := l.List(t.Context()); err == nil || jobs != nil {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

// The file has nothing but IDs, ages, ends and maps, and only its owner can read it.
func TestFileIsDiscreet(t *testing.T) {
	s := &server{jobs: hundreds(served{"a", 1, 40, "Complete"})}
	l := lister(t, s)
	list(t, l, s)
	text, err := os.ReadFile(l.File.path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !regexp.MustCompile(`^(jobs 1 \d+ 0 [0-9a-f]{8}|d-\d+ \d+ s |a \d+ s m)\n$`).MatchString(line) {
			t.Errorf("it has the line %q", line)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{l.File.path: 0o600, filepath.Dir(l.File.path): fs.ModeDir | 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// resum gives a file the checksum of its lines.
func resum(text string) string {
	head, lines, _ := strings.Cut(text, "\n")
	return head[:strings.LastIndexByte(head, ' ')] + fmt.Sprintf(" %08x\n", crc32.ChecksumIEEE([]byte(lines))) + lines
}

// A file that can't be used is replaced.
func TestUselessFiles(t *testing.T) {
	const at = `^jobs 1 \d+ `
	written := func(ago time.Duration) func(string) string {
		return func(text string) string {
			return regexp.MustCompile(at).ReplaceAllLiteralString(text, fmt.Sprintf("jobs 1 %d ", time.Now().Add(-ago).Unix()))
		}
	}
	for name, change := range map[string]func(string) string{
		"empty":                 func(string) string { return "" },
		"cut off":               func(text string) string { return text[:len(text)/2] },
		"garbled":               func(text string) string { return strings.Replace(text, "d-7", "e-7", 1) },
		"of another version":    func(text string) string { return strings.Replace(text, "jobs 1 ", "jobs 2 ", 1) },
		"with other text":       func(text string) string { return resum(strings.Replace(text, "d-7 ", "d-7\x1b ", 1)) },
		"not of this program":   func(string) string { return strings.Repeat("\x00", 10_000) },
		"old":                   written(validity + time.Minute),
		"written in the future": written(-time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{jobs: hundreds(running("a"))}
			l := lister(t, s)
			list(t, l, s)
			text, err := os.ReadFile(l.File.path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(l.File.path, []byte(change(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, all := list(t, l, s); !all {
				t.Error("the file is used")
			}
			if _, all := list(t, l, s); all {
				t.Error("the file is not replaced")
			}
		})
	}
}

// Several completions at once use the same file.
func TestListAtOnce(t *testing.T) {
	s := &server{jobs: hundreds()}
	l := lister(t, s)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 4 {
				if jobs, err := l.List(t.Context()); err != nil || len(jobs) != many+1 {
					t.Errorf("%d jobs, %v", len(jobs), err)
				}
			}
		})
	}
	group.Wait()
	if _, all := list(t, l, s); all {
		t.Error("there is no file")
	}
	if entries, err := os.ReadDir(filepath.Dir(l.File.path)); len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// Where nothing can be written, everything is listed each time.
func TestUnwritableDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // may also run as root, who can write anywhere
		t.Fatal(err)
	}
	s := &server{jobs: hundreds()}
	l := lister(t, s)
	for _, l.File = range []File{FileOf(dir, "c", "ml"), FileOf("", "c", "ml"), FileOf(t.TempDir(), "", "ml"), {}} {
		for range 2 {
			if _, all := list(t, l, s); !all {
				t.Errorf("%s: asked for %q", l.File.path, s.asked)
			}
		}
	}
}

func TestFilesAreRemoved(t *testing.T) {
	s := &server{jobs: hundreds()}
	l := lister(t, s)
	list(t, l, s)
	old := l.File.path
	long := time.Now().Add(-2 * validity)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	l.File = File{filepath.Join(filepath.Dir(old), "other")}
	list(t, l, s)
	if _, err := os.Stat(old); err == nil {
		t.Error("an old file is kept")
	}
	l.File.Forget()
	if _, err := os.Stat(l.File.path); err == nil {
		t.Error("the file is not forgotten")
	}
	var tooMany []job
	for i := range maxSize / 20 {
		tooMany = append(tooMany, job{id: fmt.Sprintf("job-%d", i)})
	}
	l.File.write(listing{jobs: tooMany})
	if _, err := os.Stat(l.File.path); err == nil {
		t.Error("there is a file that is too large")
	}
}

func TestFileOf(t *testing.T) {
	paths := map[string]bool{}
	for _, place := range [][2]string{{"a", "b"}, {"a", ""}, {"a b", ""}, {"ab", ""}} {
		paths[FileOf("/d", place[0], place[1]).path] = true
	}
	if len(paths) != 4 {
		t.Errorf("got %v", paths)
	}
}
