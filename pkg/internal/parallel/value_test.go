package parallel

import (
	"errors"
	"sync"
	"testing"
)

func TestValue(t *testing.T) {
	v := NewValue(1)
	now, changed := v.Get()
	if now.Set || now.Closed || now.Value != 1 {
		t.Errorf("a new value is %+v", now)
	}
	v.Set(7)
	<-changed
	if now, changed = v.Get(); !now.Set || now.Value != 7 || now.Closed {
		t.Errorf("after Set it is %+v", now)
	}
	failure := errors.New("over")
	v.Close(failure)
	<-changed
	if now, _ = v.Get(); !now.Closed || now.Value != 7 || !errors.Is(now.Err, failure) {
		t.Errorf("after Close it is %+v", now)
	}
}

// Every reader sees the last value, even if it misses some before.
func TestEveryReaderSeesTheLastValue(t *testing.T) {
	v := NewValue(1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for now, changed := v.Get(); now.Value < 1000; now, changed = v.Get() {
				<-changed
			}
		})
	}
	for n := range 1001 {
		v.Set(n)
	}
	all.Wait()
}
