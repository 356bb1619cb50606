package contract

import (
	"reflect"
	"testing"
)

// TestEveryFactIsThere: a fact that contract.json lacks would be "" or 0, and one that Facts lacks is refused.
func TestEveryFactIsThere(t *testing.T) {
	facts := reflect.ValueOf(Read())
	for i := range facts.NumField() {
		part := facts.Field(i)
		if part.Kind() != reflect.Struct {
			if part.Len() == 0 {
				t.Errorf("contract.json has no %s", facts.Type().Field(i).Name)
			}
			continue
		}
		for j := range part.NumField() {
			if part.Field(j).IsZero() {
				t.Errorf("contract.json has no %s.%s", facts.Type().Field(i).Name, part.Type().Field(j).Name)
			}
		}
	}
	if ages := Read().Ages; ages.Set >= ages.Blob {
		t.Errorf("the runner renews blobs after %d s, want less than a client's %d s", ages.Set, ages.Blob)
	}
	for name, mark := range map[string]string{"stderr": Read().Marks.Stderr, "stdout": Read().Marks.Stdout, "piece": Read().Marks.Piece, "report": Read().Marks.Report} {
		if len(mark) != 1 {
			t.Errorf("the mark %s is %q, want one byte", name, mark)
		}
	}
}
