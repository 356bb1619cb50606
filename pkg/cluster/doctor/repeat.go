package doctor

import (
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/transport"
)

// Repeating returns a config whose requests are made again if a busy or restarting API server has not answered
// them. All that the checks create can be created twice: the second time, it exists.
func Repeating(config *rest.Config) *rest.Config {
	repeating := rest.CopyConfig(config)
	repeating.Wrap(func(base http.RoundTripper) http.RoundTripper { return repeater{base} })
	return repeating
}

// attempts is how often a request is made. All of them take less than a check may.
const attempts = 4

type repeater struct{ base http.RoundTripper }

func (r repeater) RoundTrip(request *http.Request) (*http.Response, error) {
	var timer backoff.Timer
	for n := 1; ; n++ {
		once := request.Clone(request.Context())
		if request.GetBody != nil {
			body, err := request.GetBody()
			if err != nil {
				return nil, err
			}
			once.Body = body
		}
		answer, err := r.base.RoundTrip(once)
		repeatable := request.Body == nil || request.GetBody != nil
		if !repeatable || !passing(answer, err) || n == attempts || timer.Sleep(request.Context()) != nil {
			return answer, err
		}
		if answer != nil {
			_ = answer.Body.Close() // it is not read
		}
	}
}

// passing reports whether another attempt may succeed at once.
func passing(answer *http.Response, err error) bool {
	if err != nil {
		return !transport.Dialing(err) && !transport.Untrusted(err)
	}
	return answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable
}
