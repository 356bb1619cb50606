package backend

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// lookEvery is how often a port is tried until something answers: nothing reports when that happens.
const lookEvery = 300 * time.Millisecond

// LocalPortNote says where a port of a job of this machine is.
func LocalPortNote(id string, port int) string {
	return fmt.Sprintf("job %s runs on this machine: its port %d is here already, at http://127.0.0.1:%d", id, port, port)
}

// OpenBrowser opens the browser once something on this machine answers at a port as a web server does.
func OpenBrowser(ctx context.Context, port int) error {
	at := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true}}
	err := wait.PollUntilContextCancel(ctx, lookEvery, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodHead, at, nil)
		if err != nil {
			return false, err
		}
		answer, unanswered := client.Do(request)
		if unanswered == nil {
			_ = answer.Body.Close()
		}
		return unanswered == nil, nil
	})
	if err != nil {
		return err
	}
	if err := platform.OpenBrowser(ctx, at); err != nil {
		return fmt.Errorf("opening %s in a browser: %w: open it yourself", at, err)
	}
	return nil
}
