package local

import (
	"context"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// useMoment is how long the processes of a job are watched to know how much of the processors they use.
const useMoment = 500 * time.Millisecond

// Use returns what the processes of a job of this machine use; nothing where the system does not tell that, or if the
// job has ended. Processes that have left the job's session don't count.
func (m *Machine) Use(ctx context.Context, id string) (api.Use, error) {
	r, err := m.read(id)
	if err != nil || r.Process.life() != alive {
		return api.Use{}, err
	}
	begin := time.Now()
	before, _, known := usedBy(r.Process.PID)
	if !known {
		return api.Use{}, nil
	}
	select {
	case <-ctx.Done():
		return api.Use{}, ctx.Err()
	case <-time.After(useMoment):
	}
	after, memory, _ := usedBy(r.Process.PID)
	cores := max(0, (after-before).Seconds()/time.Since(begin).Seconds()) // less if a process has ended
	return api.Use{CPU: &cores, Memory: &memory}, nil
}
