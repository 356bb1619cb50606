package submit

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/prune"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/pack"
)

// mounted is a bucket with the files of a directory, which somebody prunes between the requests of
// an upload.
type mounted struct {
	t    *testing.T
	fake *fakestorage.Server
	data *pack.Set
	s    store.Store // whose requests nobody counts

	mu       sync.Mutex
	requests int
	before   func(request int) // counted from 1
}

// unused is the age from which the test deletes files.
const unused = 30 * 24 * time.Hour

// newMounted makes a bucket with files that nobody has used lately, and returns it with a store for
// the upload.
func newMounted(t *testing.T) (*mounted, store.Store) {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := pack.NewSet(t.Context(), pack.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "acme"})
	m := &mounted{t: t, fake: fake, data: data, before: func(int) {}}
	m.s = m.open(fake.HTTPHandler())
	if _, err := data.UploadTree(t.Context(), m.s, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range m.names() {
		o, err := fake.GetObject("acme", name)
		if err != nil {
			t.Fatal(err)
		}
		o.Created, o.Updated = o.Created.Add(-2*unused), o.Updated.Add(-2*unused)
		fake.CreateObject(o)
	}
	return m, m.open(m)
}

// open opens the bucket through a handler of requests.
func (m *mounted) open(h http.Handler) store.Store {
	m.t.Helper()
	server := httptest.NewServer(h)
	m.t.Cleanup(server.Close)
	m.t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	s, err := store.Open("gs://acme")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Dirs(m.t.Context(), ""); err != nil { // from now on it uses this server
		m.t.Fatal(err)
	}
	return s
}

func (m *mounted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.requests++
	m.before(m.requests)
	m.mu.Unlock()
	m.fake.HTTPHandler().ServeHTTP(w, r)
}

func (m *mounted) names() []string {
	m.t.Helper()
	listed, err := m.fake.ListObjectsWithOptionsPaginated("acme", fakestorage.ListOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	var names []string
	for _, o := range listed.Objects {
		names = append(names, o.Name)
	}
	return names
}

// Files that a submit has found or sent are there when it ends, and their record with them, whenever
// others are pruned meanwhile.
func TestPruneBetweenTheRequestsOfATree(t *testing.T) {
	const last = 12 // more than there are
	deleted := 0
	for finds := 2; finds <= last; finds++ {
		for deletes := finds; deletes <= last; deletes += 2 {
			t.Run(fmt.Sprintf("found at %d, deleted at %d", finds, deletes), func(t *testing.T) {
				m, s := newMounted(t)
				var plan *prune.Plan
				m.before = func(request int) {
					var err error
					if request == finds {
						plan, err = prune.Find(t.Context(), m.s, unused, false)
					}
					if request == deletes {
						done, failed := plan.Delete(t.Context(), func(prune.Done) {})
						deleted += done.Objects
						err = errors.Join(err, failed)
					}
					if err != nil {
						t.Error(err)
					}
				}
				if _, err := m.data.UploadTree(t.Context(), s, nil); err != nil {
					t.Fatal(err)
				}
				tree := store.DataTree(m.data.SHA256)
				want := strings.Join([]string{store.DataRecord(m.data.SHA256), tree + "a", tree + "b", tree + "c"}, " ")
				if got := strings.Join(m.names(), " "); got != want {
					t.Errorf("the bucket has %s, want %s", got, want)
				}
			})
		}
	}
	if deleted == 0 {
		t.Error("nothing was ever deleted")
	}
}
