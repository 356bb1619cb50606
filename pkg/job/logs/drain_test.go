package logs

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// The output may be slow after the end of a job, too.
func TestAReaderWhoIsSlowAtTheEndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat(lineAt(1, 0, "a line"), 5*maxUnwritten/len(lineAt(1, 0, "a line")))
		s := newFakeSource(openLogs(map[string]string{"h0-1": text}))
		tracker := newPodTracker(nil, false)
		tracker.update([]Pod{member(0, 1, running(2))})
		r := newReader(s, withoutLog(), Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}, tracker)
		lines := 0
		err := r.readHosts(t.Context(), display.Both(writerFunc(func(p []byte) (int, error) {
			tracker.finish()
			<-time.After(3 * drainTime) // of the bubble
			lines += bytes.Count(p, []byte{'\n'})
			return len(p), nil
		})), r.followHost)
		if want := strings.Count(text, "\n"); err != nil || lines != want {
			t.Errorf("%d lines, %v; want %d", lines, err, want)
		}
	})
}

// A node that sends nothing more is given up after a while. The store is read instead, even if it
// is slow.
func TestAHostThatIsSilentAtTheEndIsGivenUp(t *testing.T) {
	for name, tt := range map[string]struct {
		archive bool
		want    string
	}{
		"with an archive": {true, "one\ntwo\n"},
		"without":         {false, "one\n"},
	} {
		inBubble(t, name, func(t *testing.T) {
			tracker := newPodTracker(nil, false)
			tracker.update([]Pod{member(0, 1, running(5))})
			time.AfterFunc(time.Minute, tracker.finish)
			s := newFakeSource(func(ctx context.Context, _ Pod, o OpenOptions) (io.ReadCloser, error) {
				if !o.Follow && !tracker.isFinished() {
					return body(lineAt(1, 0, "one")), nil
				}
				return io.NopCloser(silence{ctx}), nil
			})
			a, memory := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(lineAt(1, 0, "one") + lineAt(2, 0, "two"))})
			a.WithoutLog = !tt.archive
			memory.opening = func(string) { <-time.After(2 * drainTime) }
			o := Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}
			var out strings.Builder
			r := newReader(s, a, o, tracker)
			if err := r.readHosts(t.Context(), display.Both(&out), r.followHost); err != nil || out.String() != tt.want {
				t.Errorf("got %q, %v; want %q", out.String(), err, tt.want)
			}
			if warned := len(s.warned) > 0; warned == tt.archive {
				t.Errorf("warned of %q", s.warned)
			}
		})
	}
}

// A node may hang after the job has ended as it should. It does not even answer.
func TestANodeThatHangsAfterTheEndIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource(func(ctx context.Context, _ Pod, _ OpenOptions) (io.ReadCloser, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		s.pods.Set(Pods{List: []Pod{member(0, 1, ended)}, JobEnded: true, Grace: 30 * time.Second})
		a, _ := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(lineAt(1, 0, "one"))})
		began := time.Now()
		var out strings.Builder
		err := Read(t.Context(), s, a, Options{Follow: true, Tail: -1, Host: -1, Hosts: 1}, display.Both(&out))
		if out.String() != "one\n" || err != nil {
			t.Errorf("got %q, %v", out.String(), err)
		}
		if waited := time.Since(began); waited > 2*time.Minute {
			t.Errorf("waited for %v", waited)
		}
	})
}

// What a pod prints in its grace, after its job has ended, is read.
func TestAPodThatRunsAfterItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeSource(func(ctx context.Context, _ Pod, o OpenOptions) (io.ReadCloser, error) {
			if !o.Follow {
				return body(choosePart(busy, o)), nil
			}
			return io.NopCloser(io.MultiReader(lateReader(50*time.Second), strings.NewReader(lineAt(9, 0, "saved")), silence{ctx})), nil
		})
		s.pods.Set(Pods{List: []Pod{member(0, 1, running(2))}, JobEnded: true, Grace: time.Minute})
		out, err := readAll(t.Context(), s, withoutLog(), Options{Follow: true, Tail: -1, Timestamps: true})
		if diff := cmp.Diff(shown(t, busy+lineAt(9, 0, "saved")), out); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// lateReader is an empty reader that reports its end late.
type lateReader time.Duration

func (l lateReader) Read([]byte) (int, error) {
	<-time.After(time.Duration(l))
	return 0, io.EOF
}

// The pods of other hosts change all the time. That causes no requests to the archive.
func TestTheArchiveIsAskedNowAndThenAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, memory := archiveOf(map[string]string{attemptName(1): attemptRecord(1, "h0-1"), partName(0, 1, 1): stored(busy)})
		asks := func() (n int) {
			memory.mu.Lock()
			defer memory.mu.Unlock()
			for _, prefix := range memory.listed {
				if strings.Contains(prefix, "/logs/") {
					n++
				}
			}
			return n
		}
		expect := func(want int, when string) {
			t.Helper()
			if synctest.Wait(); asks() != want {
				t.Errorf("%s it was asked %d times, want %d", when, asks(), want)
			}
		}
		tracker := newPodTracker(nil, false)
		pod := member(0, 1, running(2))
		tracker.update([]Pod{pod})
		done := make(chan error, 1)
		l := newReader(newFakeSource(logsOf(nil)), a, wholeLog, tracker).podLog(&pod, wholeLog, NewDecoder(display.Both(io.Discard), wholeLog))
		go func() { done <- l.readArchive(t.Context(), t.Context()) }()
		expect(1, "at first")
		for made := range 10 {
			tracker.update([]Pod{pod, member(1, made, waiting)})
			expect(1, "when another pod has changed")
		}
		<-time.After(archiveInterval)
		expect(2, "a while later")
		tracker.update([]Pod{member(0, 1, ended)})
		expect(3, "when the container has ended")
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := []string{followed + "/" + attemptName(1), followed + "/" + partName(0, 1, 1)}
		if !slices.Equal(memory.opened, want) {
			t.Errorf("opened %q, want each object once: %q", memory.opened, want)
		}
	})
}
