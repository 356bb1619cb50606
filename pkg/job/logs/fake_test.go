package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// followed is the job of these tests.
const followed = "cpu-f"

// at returns a time at a second of the minute that these tests use.
func at(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }

// lineAt returns a line of a log as a kubelet sends it.
func lineAt(second, micro int, text string) string {
	return fmt.Sprintf("2026-01-01T00:00:%02d.%06d000Z %s\n", second, micro, text)
}

// stored returns the log of a kubelet in stored form, in which stamps have fewer digits.
func stored(log string) string { return strings.ReplaceAll(log, "000Z ", "Z ") }

// shown returns what is printed of the log of a kubelet with timestamps.
func shown(t testing.TB, log string) string {
	return decode(t, stored(log), Options{Timestamps: true}, 1<<30)
}

// member returns a pod of a host that was created at a second.
func member(host, created int, state func(*Pod)) Pod {
	name := fmt.Sprintf("h%d-%d", host, created)
	p := Pod{Name: name, UID: name, Host: host, Created: at(created)}
	state(&p)
	return p
}

func waiting(*Pod) {}

func running(second int) func(*Pod) {
	return func(p *Pod) { p.Running, p.Started = true, at(second) }
}

func ended(p *Pod) { p.Ended, p.Started, p.Finished = true, at(2), at(5) }

// fakeSource is a cluster whose logs are opened by a function.
type fakeSource struct {
	open func(context.Context, Pod, OpenOptions) (io.ReadCloser, error)
	pods *parallel.Value[Pods]

	mu     sync.Mutex
	opened int
	warned []string
}

func newFakeSource(open func(context.Context, Pod, OpenOptions) (io.ReadCloser, error), pods ...Pod) *fakeSource {
	return &fakeSource{open: open, pods: parallel.NewValue(Pods{List: pods})}
}

func (s *fakeSource) Pods(context.Context) (Pods, error) {
	now, _ := s.pods.Get()
	return now.Value, now.Err
}

func (s *fakeSource) WatchPods(ctx context.Context, seen func(Pods) bool) error {
	for {
		now, changed := s.pods.Get()
		if seen(now.Value) {
			return nil
		}
		if now.Closed {
			return now.Err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (s *fakeSource) Open(ctx context.Context, p Pod, o OpenOptions) (io.ReadCloser, error) {
	s.mu.Lock()
	s.opened++
	s.mu.Unlock()
	return s.open(ctx, p, o)
}

func (s *fakeSource) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

func (*fakeSource) Now() time.Time { return at(6) }

func (s *fakeSource) Warn(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warned = append(s.warned, line)
}

// logsOf opens the logs of pods that have ended.
func logsOf(logs map[string]string) func(context.Context, Pod, OpenOptions) (io.ReadCloser, error) {
	return func(_ context.Context, p Pod, o OpenOptions) (io.ReadCloser, error) {
		log, there := logs[p.Name]
		if !there {
			return nil, &SourceError{Gone, errors.New("pods not found")}
		}
		return body(choosePart(log, o)), nil
	}
}

// openLogs is logsOf for pods that are running: a log that is followed does not end.
func openLogs(logs map[string]string) func(context.Context, Pod, OpenOptions) (io.ReadCloser, error) {
	read := logsOf(logs)
	return func(ctx context.Context, p Pod, o OpenOptions) (io.ReadCloser, error) {
		r, err := read(ctx, p, o)
		if err == nil && o.Follow {
			r = io.NopCloser(io.MultiReader(r, silence{ctx}))
		}
		return r, err
	}
}

func body(log string) io.ReadCloser { return io.NopCloser(strings.NewReader(log)) }

// torn is a log whose connection breaks at its end.
func torn(log string) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(log), brokenReader{}))
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// silence is a connection that brings nothing more.
type silence struct{ ctx context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// choosePart returns the part of a log that options choose, as a kubelet does: from a whole second
// on, or the last lines. A line without a stamp belongs to the line before it.
func choosePart(log string, o OpenOptions) string {
	if !o.Since.IsZero() {
		since := o.Since.Truncate(time.Second)
		for line := range strings.Lines(log) {
			if stamp, _, ok := splitStamp([]byte(line)); ok && !stamp.Before(since) {
				break
			}
			log = log[len(line):]
		}
	}
	if o.Tail > 0 {
		log = lastEntries(log, o.Tail)
	}
	if o.Limit > 0 {
		log = log[:min(o.Limit, len(log))]
	}
	return log
}

// lastEntries returns the last entries of a log. The container runtime cuts a long line into
// several, each with a stamp; a kubelet sends only the first stamp.
func lastEntries(log string, n int) string {
	var entries, stamps []string
	for line := range strings.Lines(log) {
		_, text, _ := splitStamp([]byte(line))
		stamp := line[:len(line)-len(text)]
		for entry := range slices.Chunk(text, 16<<10) {
			entries, stamps = append(entries, string(entry)), append(stamps, stamp)
		}
	}
	first := max(0, len(entries)-n)
	var last strings.Builder
	for i, entry := range entries[first:] {
		if i == 0 || strings.HasSuffix(entries[first+i-1], "\n") {
			last.WriteString(stamps[first+i])
		}
		last.WriteString(entry)
	}
	return last.String()
}

// memoryStore is a store that only implements reading.
type memoryStore struct {
	store.Store
	mu      sync.Mutex
	objects map[string]string
	opening func(name string) // is called before an object is opened, unless nil
	opened  []string
	listed  []string // prefixes
}

// archiveOf returns an archive of the followed job with these objects below its id.
func archiveOf(objects map[string]string) (*Archive, *memoryStore) {
	s := &memoryStore{objects: map[string]string{}}
	for name, text := range objects {
		s.objects[followed+"/"+name] = text
	}
	return &Archive{Store: s, JobID: followed}, s
}

// endedArchive returns an archive that only says that the job has ended.
func endedArchive() *Archive {
	a, _ := archiveOf(map[string]string{"end.json": succeeded})
	a.WithoutLog = true
	return a
}

const succeeded = `{"version":1,"state":"SUCCEEDED","reason":"Completed"}`

func attemptRecord(number int, pod string) string {
	return fmt.Sprintf(`{"attempt":%d,"uid":%q}`, number, pod)
}

func (s *memoryStore) put(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[followed+"/"+name] = text
}

func (*memoryStore) URL() string { return "memory:" }

func (s *memoryStore) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if s.opening != nil {
		s.opening(name)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, name)
	text, there := s.objects[name]
	if !there {
		return nil, fmt.Errorf("%s: %w", name, store.ErrNotFound)
	}
	return body(text), nil
}

func (s *memoryStore) List(_ context.Context, prefix, start string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		s.mu.Lock()
		s.listed = append(s.listed, prefix)
		objects := maps.Clone(s.objects)
		s.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			o := store.Object{Name: name, Size: int64(len(objects[name]))}
			if strings.HasPrefix(name, prefix) && name >= start && !yield(o, nil) {
				return
			}
		}
	}
}

// container serves the log of one container as a kubelet does.
type container struct {
	log string // with stamps
	// printed is how much of it exists. It grows while the log is followed.
	printed int
	// ends are the ends of the first connections that follow the log. The container ends
	// with the last of them.
	ends []end
	// torn are the lengths after which the first answers break that are not followed.
	torn []int
	gone bool // together with its pod, when it has ended
	// rotated is what is left of the log when it is requested again.
	rotated *string
	tracker *podTracker

	mu       sync.Mutex
	followed int
}

// end is the end of an answer, after so many bytes.
type end struct {
	bytes  int
	broken bool // rather than clean
	silent bool // the connection stays, and nothing comes
}

func (c *container) open(ctx context.Context, _ Pod, o OpenOptions) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := c.followed == len(c.ends)
	if over && c.gone {
		return nil, &SourceError{Gone, errors.New("pods not found")}
	}
	if c.followed > 0 && c.rotated != nil {
		c.log, c.printed, c.rotated = *c.rotated, len(*c.rotated), nil
	}
	follow := o.Follow && !over
	log := c.log
	if !follow && !over {
		log = log[:c.printed]
	}
	log = choosePart(log, o)
	switch {
	case over:
		return body(log), nil
	case !follow && len(c.torn) > 0 && len(log) > 0:
		n := c.torn[0]
		c.torn = c.torn[1:]
		return torn(log[:min(n, len(log))]), nil
	case !follow:
		return body(log), nil
	}
	at := c.ends[c.followed]
	if c.followed++; c.followed == len(c.ends) {
		c.tracker.update([]Pod{member(0, 1, ended)})
	}
	sent := len(c.log) - len(log) + min(at.bytes, len(log))
	c.printed = max(c.printed, sent+strings.IndexByte(c.log[sent:], '\n')+1) // whole lines
	log = log[:min(at.bytes, len(log))]
	switch {
	case at.silent:
		return io.NopCloser(io.MultiReader(strings.NewReader(log), silence{ctx})), nil
	case at.broken:
		return torn(log), nil
	}
	return body(log), nil
}

// read reads the container's log over all its connections, and returns what is printed with
// timestamps.
func (c *container) read(t *testing.T, a *Archive, o Options) (string, *podLog, error) {
	t.Helper()
	var out bytes.Buffer
	l := c.podLog(a, o, &out)
	err := l.read(t.Context(), t.Context(), t.Context())
	return out.String(), l, err
}

func (c *container) podLog(a *Archive, o Options, out io.Writer) *podLog {
	c.tracker = newPodTracker(nil, false)
	pod := member(0, 1, running(1))
	c.tracker.update([]Pod{pod})
	r := newReader(newFakeSource(c.open), a, o, c.tracker)
	return r.podLog(&pod, o, NewDecoder(display.Both(out), Options{Since: o.Since, Timestamps: true}))
}

// withoutLog returns an archive that has nothing of a running job.
func withoutLog() *Archive {
	a, _ := archiveOf(nil)
	a.WithoutLog = true
	return a
}

func partName(host, attempt, number int) string {
	return strings.TrimPrefix(store.LogPart(followed, host, attempt, number), followed+"/")
}

func attemptName(n int) string { return "attempts/" + strconv.Itoa(n) + ".json" }
