package top

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

var noon = time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)

// running is a job that was created some minutes before noon, with hosts.
func running(id string, minutes, hosts int) api.JobSummary {
	began := noon.Add(-time.Duration(minutes) * time.Minute)
	e := api.JobSummary{ID: id, Namespace: "ml", State: api.Running, Accelerator: "cpu", Created: began, Hosts: hosts,
		Status: api.Status{State: api.Running, Started: began}}
	for n := range hosts {
		e.Workload.Hosts = append(e.Workload.Hosts, api.Host{Host: n, Pod: id + "-" + string(rune('a'+n)), State: api.Running, Scheduled: began, Started: began})
	}
	return e
}

func pending(id string, minutes int, why string) api.JobSummary {
	return api.JobSummary{ID: id, Namespace: "ml", State: api.Pending, Accelerator: "cpu", Created: noon.Add(-time.Duration(minutes) * time.Minute), Hosts: 1,
		Status: api.Status{State: api.Pending, Message: why}}
}

// names are the rows in their order.
func names(rows []Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, strings.TrimSpace(nameOf(r)))
	}
	return strings.Join(all, ", ")
}

func selected(m *Model) string {
	r, _ := m.Selected(noon)
	return strings.TrimSpace(nameOf(r))
}

func TestOrder(t *testing.T) {
	m := New(Model{})
	m.Put([]api.JobSummary{running("old", 30, 1), running("new", 1, 1), pending("mid", 10, "")}, noon)
	if got := names(m.Rows(noon)); got != "new, mid, old" {
		t.Errorf("got %s", got)
	}
	old := running("old", 30, 1)
	old.State, old.Status.State = api.Succeeded, api.Succeeded
	m.Put([]api.JobSummary{old}, noon)
	if got := names(m.Rows(noon)); got != "new, mid, old" {
		t.Errorf("after a change of state: %s", got)
	}
}

func TestAJobWhoseWorkloadIsGoneStaysForAMoment(t *testing.T) {
	m := New(Model{})
	m.Put([]api.JobSummary{running("a", 1, 1)}, noon)
	gone := running("a", 1, 1)
	gone.State = api.NotFound
	m.Put([]api.JobSummary{gone}, noon)
	m.Put([]api.JobSummary{gone}, noon.Add(stays/2))
	if got := names(m.Rows(noon.Add(stays - 1))); got != "a" {
		t.Errorf("before: %q", got)
	}
	if got := names(m.Rows(noon.Add(stays))); got != "" {
		t.Errorf("after: %q", got)
	}
}

func TestHosts(t *testing.T) {
	for name, tt := range map[string]struct {
		all    bool
		toggle bool
		want   string
	}{
		"none":            {false, false, "two, one"},
		"of one job":      {false, true, "two, host 0, host 1, one"},
		"of all":          {true, false, "two, host 0, host 1, one"},
		"of all but this": {true, true, "two, one"},
	} {
		m := New(Model{Hosts: tt.all})
		m.Put([]api.JobSummary{running("two", 1, 2), running("one", 2, 1)}, noon)
		if tt.toggle && !m.Toggle(noon) {
			t.Errorf("%s: nothing was toggled", name)
		}
		if got := names(m.Rows(noon)); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	m := New(Model{})
	m.Put([]api.JobSummary{running("one", 2, 1)}, noon)
	if m.Toggle(noon) {
		t.Error("a job on one host was opened")
	}
}

// Whoever is on a row stays on it, and the row on its line, whatever comes and goes.
func TestTheSelectionStays(t *testing.T) {
	const height = 4 + above + below
	m := New(Model{})
	var jobs []api.JobSummary
	for n := range 10 {
		jobs = append(jobs, running("job-"+string(rune('a'+n)), 10+n, 1))
	}
	m.Put(jobs, noon)
	line := func() int {
		s := m.Screen(80, height, noon)
		return slices.IndexFunc(s.Lines, func(l Line) bool { return l.Selected })
	}
	if at := line(); at != above || selected(m) != "job-a" {
		t.Fatalf("at first: %s on line %d", selected(m), at)
	}
	m.Move(2, noon)
	before := line()
	m.Put([]api.JobSummary{running("newer", 1, 1), running("newest", 0, 1)}, noon)
	if at := line(); selected(m) != "job-c" || at != before {
		t.Errorf("after jobs came: %s on line %d, not %d", selected(m), at, before)
	}
	m.MoveToEnd(true, noon)
	if at := line(); selected(m) != "job-j" || at != above+3 {
		t.Errorf("the last: %s on line %d", selected(m), at)
	}
	m.Page(-1, noon)
	line()
	if selected(m) != "job-g" {
		t.Errorf("a page up: %s", selected(m))
	}
	gone := running("job-g", 16, 1)
	gone.State = api.NotFound
	m.Put([]api.JobSummary{gone}, noon.Add(-2*stays))
	line()
	if selected(m) != "job-h" {
		t.Errorf("after its row has gone: %s", selected(m))
	}
	m.MoveToEnd(false, noon)
	m.Put([]api.JobSummary{running("last", -1, 1)}, noon)
	if at := line(); selected(m) != "last" || at != above {
		t.Errorf("at the top, new jobs come first: %s on line %d", selected(m), at)
	}
	m.Move(100, noon)
	m.Move(-1000, noon)
	if selected(m) != "last" {
		t.Errorf("beyond the ends: %s", selected(m))
	}
}

func TestNothingToSelect(t *testing.T) {
	m := New(Model{Empty: "no jobs"})
	m.Move(1, noon)
	if _, found := m.Selected(noon); found || m.Toggle(noon) {
		t.Error("something was selected")
	}
	if got := m.Screen(80, 10, noon).Lines[above].Text(); got != "no jobs" {
		t.Errorf("got %q", got)
	}
}

func TestUses(t *testing.T) {
	use := func(cpu float64, memory int64) api.Use { return api.Use{CPU: &cpu, Memory: &memory} }
	duty := func(d float64) api.Use { return api.Use{Duty: &d} }
	of := func(m *Model) string {
		u := m.Rows(noon)[0].Use
		return strings.Join([]string{cores(u.CPU), size(u.Memory), percent(u.Duty)}, " ")
	}
	m := New(Model{})
	key := Key{"ml", "two"}
	m.Put([]api.JobSummary{running("two", 1, 2)}, noon)
	m.SetUse(Place{key, 0}, use(1.5, 3<<30))
	if got := of(m); got != "  " {
		t.Errorf("with one of two hosts: %q", got)
	}
	m.SetUses(func(namespace, pod string) (api.Use, bool) { return use(2, 1<<30), namespace == "ml" && pod == "two-b" })
	m.SetUse(Place{key, 0}, duty(80))
	m.SetUse(Place{key, 1}, duty(40))
	if got := of(m); got != "3.50 4.0Gi 60%" {
		t.Errorf("with both: %q", got)
	}
	m.SetUse(Place{Key{"ml", "another"}, 0}, duty(1)) // of a job that has gone
	m.Put([]api.JobSummary{pending("two", 1, "again")}, noon)
	if got := of(m); got != "  " {
		t.Errorf("while it waits: %q", got)
	}
}

// What a host printed before it was lost hides neither what its next pod waits for, nor what the job says of that.
func TestWhatIsSaid(t *testing.T) {
	two, waits := running("two", 1, 2), running("two", 1, 2)
	waits.Status.Message = "1 of 2 hosts are running; host 1: no node has room"
	waits.Workload.Hosts[1] = api.Host{Host: 1, Pod: "two-b", State: api.Pending, Message: "no node yet"}
	silent, again, done := running("two", 1, 2), running("two", 1, 2), running("two", 1, 2)
	silent.Workload.Hosts[1] = api.Host{Host: 1, Pod: "two-b", State: api.Pending}
	again.Workload.Hosts[1].Pod = "two-c"
	done.Workload.Hosts[1].State = api.Succeeded
	failed := running("two", 1, 2)
	failed.Workload.Hosts[1].State, failed.Workload.Hosts[1].Message = api.Failed, "exit code 1"
	chunks := running("two", 1, 2)
	chunks.Map, chunks.Status.Message = true, "map, 1 of 4 chunks done"
	for name, tt := range map[string]struct {
		then []api.JobSummary
		want string
	}{
		"both run":                {nil, "step 8|step 8|step 9"},
		"one waits":               {[]api.JobSummary{waits}, waits.Status.Message + "|step 8|no node yet"},
		"one waits and is silent": {[]api.JobSummary{silent}, "step 8|step 8|"},
		"it runs again":           {[]api.JobSummary{waits, two}, "step 8|step 8|"},
		"it has another pod":      {[]api.JobSummary{again}, "step 8|step 8|"},
		"one has ended":           {[]api.JobSummary{done}, "step 8|step 8|step 9"},
		"one has failed":          {[]api.JobSummary{failed}, "step 8|step 8|exit code 1"},
		"the last line of a map":  {[]api.JobSummary{chunks}, "step 8|step 8|step 9"},
	} {
		m := New(Model{Hosts: true})
		m.Put([]api.JobSummary{two}, noon)
		m.SetLine(Place{Key{"ml", "two"}, 0}, "step 8")
		m.SetLine(Place{Key{"ml", "two"}, 1}, "step 9")
		for _, e := range tt.then {
			m.Put([]api.JobSummary{e}, noon)
		}
		var said []string
		for _, r := range m.Rows(noon) {
			said = append(said, Said(r))
		}
		if got := strings.Join(said, "|"); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
