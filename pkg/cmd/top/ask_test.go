package top

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// However many rows can be seen, no more than five questions are asked in a second, and every row has its turn.
func TestAFewQuestionsASecond(t *testing.T) {
	m := New(Model{})
	for n := range 40 {
		m.Put([]api.JobSummary{running(fmt.Sprintf("job-%02d", n), n, 1)}, noon)
	}
	m.Put([]api.JobSummary{pending("waits", 1, "")}, noon)
	rows := m.Rows(noon)
	a := NewAsker(func(_ Row, kind Kind) bool { return kind == LastLine })
	asked, perSecondMost := map[string]int{}, 0
	for second := range 20 {
		inThis := 0
		for tick := range 100 {
			at := noon.Add(time.Duration(second)*time.Second + time.Duration(tick)*10*time.Millisecond)
			if q, found := a.Next(rows, at); found {
				inThis++
				asked[q.ID]++
				a.Answered(q)
			}
		}
		perSecondMost = max(perSecondMost, inThis)
	}
	if perSecondMost > perSecond || asked["waits"] > 0 {
		t.Errorf("asked %d times in a second, and a job that waits %d times", perSecondMost, asked["waits"])
	}
	for n := range 40 {
		if id := fmt.Sprintf("job-%02d", n); asked[id] < 2 {
			t.Errorf("%s was asked %d times", id, asked[id])
		}
	}
}

func TestAQuestionIsNotAskedTwiceAtATime(t *testing.T) {
	m := New(Model{Hosts: true})
	m.Put([]api.JobSummary{running("two", 1, 2)}, noon)
	rows := m.Rows(noon)
	a := NewAsker(func(_ Row, kind Kind) bool { return kind == LastLine })
	a.Once = true
	var asked []Ask
	for tick := range 50 {
		if q, found := a.Next(rows, noon.Add(time.Duration(tick)*time.Second)); found {
			asked = append(asked, q)
		}
	}
	if len(asked) != 2 || asked[0].Pod.Host == asked[1].Pod.Host {
		t.Errorf("asked %v", asked)
	}
	if a.Done(rows, noon.Add(time.Hour)) {
		t.Error("done before the answers")
	}
	for _, q := range asked {
		a.Answered(q)
	}
	if !a.Done(rows, noon.Add(time.Hour)) {
		t.Error("not done after the answers")
	}
}
