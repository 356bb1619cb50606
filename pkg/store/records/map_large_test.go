package records

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// manyResults is a bucket with a result for each of many inputs but the last, which it
// makes up, a page at a time. It measures the memory that is in use meanwhile.
type manyResults struct {
	names []string // sorted

	mu    sync.Mutex
	pages int
	most  uint64 // bytes on the heap
}

const (
	pageOfBucket = 1000
	manyInputs   = 20_000
	// roomForMany is a fifth of what all objects take together.
	roomForMany = 4 << 20
)

func (b *manyResults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages++
	if b.pages%2 == 0 {
		b.most = max(b.most, heap())
	}
	query := r.URL.Query()
	first := sort.SearchStrings(b.names, max(query.Get("startOffset"), query.Get("pageToken")))
	page := b.names[first:min(first+pageOfBucket, len(b.names))]
	type object map[string]any
	answer := object{"kind": "storage#objects"}
	items := make([]object, len(page))
	for i, name := range page {
		items[i] = object{"name": name, "size": "30", "updated": "2026-01-01T00:00:00Z", "crc32c": "AAAAAA==",
			"metadata": api.Verdict{OK: true}.Metadata()}
	}
	answer["items"] = items
	if next := first + len(page); next < len(b.names) {
		answer["nextPageToken"] = b.names[next]
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// take returns how many pages were read since the last time.
func (b *manyResults) take() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	pages := b.pages
	b.pages = 0
	return pages
}

// heap is how much memory is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A map of however many inputs is looked at a page of its results at a time, and what
// is known of it is skipped.
func TestALargeMapTakesLittleMemory(t *testing.T) {
	b := &manyResults{}
	for i := range manyInputs - 1 {
		b.names = append(b.names, store.ResultOf("m1", i))
	}
	slices.Sort(b.names)
	server := httptest.NewServer(b)
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	s, err := store.Open("gs://acme-jobs")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := MapResults{Store: s, JobID: "m1", Inputs: manyInputs}
	before := heap()

	progress, err := r.Progress(t.Context())
	if err != nil || progress != (MapProgress{Done: manyInputs - 1, Total: manyInputs}) {
		t.Errorf("got %+v, %v", progress, err)
	}
	b.take()
	m := r.gathering(io.Discard, func(MapProgress) {})
	if _, err := m.look(t.Context()); err != nil || m.progress.Done != manyInputs-1 {
		t.Errorf("got %+v, %v", m.progress, err)
	}
	if pages := b.take(); pages != manyInputs/pageOfBucket {
		t.Errorf("the first look read %d pages, want %d", pages, manyInputs/pageOfBucket)
	}
	if grown := b.most - min(before, b.most); b.most == 0 || grown > roomForMany {
		t.Errorf("looking at %d results took %d MB", manyInputs, grown>>20)
	}
	b.names = append(b.names, store.ResultOf("m1", manyInputs-1))
	slices.Sort(b.names)
	if _, err := m.look(t.Context()); err != nil || m.progress.Done != manyInputs {
		t.Errorf("got %+v, %v", m.progress, err)
	}
	if pages := b.take(); pages > 2 {
		t.Errorf("the next look, for one result, read %d pages", pages)
	}
}

func TestNextByNameIsTheOrderOfNames(t *testing.T) {
	for _, total := range []int{1, 2, 9, 10, 11, 99, 100, 101, 110, 1234} {
		var want []string
		for i := range total {
			want = append(want, fmt.Sprintf("%d.json", i))
		}
		slices.Sort(want)
		var got []string
		for i := 0; i >= 0 && len(got) <= total; i = nextByName(i, total) {
			got = append(got, fmt.Sprintf("%d.json", i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: %s", total, strings.Join(got, " "))
		}
	}
}
