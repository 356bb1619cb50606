package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// makeBucket creates a bucket in the Cloud Storage emulator, which holds objects in
// memory.
func makeBucket(storage, name string) error {
	err := ask(http.MethodPost, storage+"/storage/v1/b?project=e2e", fmt.Sprintf(`{"name": %q}`, name), nil)
	if err != nil {
		return fmt.Errorf("making bucket %s: %w", name, err)
	}
	return nil
}

// removeBucket deletes a bucket and its content. Pods of a finished script may write
// another object meanwhile.
func removeBucket(storage, name string) error {
	bucket := storage + "/storage/v1/b/" + name
	for {
		var list struct{ Items []struct{ Name string } }
		if err := ask(http.MethodGet, bucket+"/o", "", &list); err != nil {
			return fmt.Errorf("listing bucket %s: %w", name, err)
		}
		if len(list.Items) == 0 {
			return ask(http.MethodDelete, bucket, "", nil)
		}
		for _, o := range list.Items {
			if err := ask(http.MethodDelete, bucket+"/o/"+url.PathEscape(o.Name), "", nil); err != nil {
				return fmt.Errorf("emptying bucket %s: %w", name, err)
			}
		}
	}
}

// ask makes a request, and decodes the answer into a value if there is one.
func ask(method, url, body string, into any) error {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("%s: %s", answer.Status, said)
	case into == nil:
		return nil
	}
	return json.Unmarshal(said, into)
}

// faults is a proxy between the store and a script with the pods of its jobs, which can
// be made to fail.
type faults struct {
	backend string // URL

	mu      sync.Mutex
	lasting time.Duration // of the failure that the next request begins
	until   time.Time     // the end of the failure that has begun
	refused int
}

type faultsKey struct{}

// storeWord implements the scripts' command store:
//
//	store proxied           from here on the script and its jobs reach the store through faults
//	store fails DURATION    it fails for that long, beginning with the next request
//	store failed            checks that it failed more than once, and works again
//	store put NAME TEXT     makes an object in the script's bucket, with a line of text
//	store get NAME          prints an object of it
func storeWord(ts *testscript.TestScript, neg bool, args []string) {
	f := ts.Value(faultsKey{}).(*faults)
	switch {
	case neg || len(args) == 0:
	case args[0] == "proxied" && len(args) == 1:
		ts.Check(f.listen(ts))
		return
	case args[0] == "fails" && len(args) == 2:
		lasting, err := time.ParseDuration(args[1])
		ts.Check(err)
		f.fail(lasting)
		return
	case args[0] == "failed" && len(args) == 1:
		ts.Check(f.over())
		return
	case args[0] == "put" && len(args) == 3:
		name := url.QueryEscape(args[1])
		ts.Check(ask(http.MethodPost, f.backend+"/upload/storage/v1/b/"+ts.Getenv("NAMESPACE")+"/o?uploadType=media&name="+name, args[2]+"\n", nil))
		return
	case args[0] == "get" && len(args) == 2:
		answer, err := http.Get(f.backend + "/storage/v1/b/" + ts.Getenv("NAMESPACE") + "/o/" + url.PathEscape(args[1]) + "?alt=media")
		ts.Check(err)
		defer answer.Body.Close()
		_, err = io.Copy(ts.Stdout(), answer.Body)
		ts.Check(err)
		return
	}
	ts.Fatalf("usage: store proxied, store fails DURATION, store failed, store put NAME TEXT, or store get NAME")
}

// listen starts the proxy at the address of the store, which pods can reach, with another
// port.
func (f *faults) listen(ts *testscript.TestScript) error {
	backend, err := url.Parse(f.backend)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(backend.Hostname(), "0"))
	if err != nil {
		return err
	}
	front := "http://" + listener.Addr().String()
	server := &http.Server{Handler: f.handler(backend, front), ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv("STORAGE_EMULATOR_HOST", front)
	return nil
}

func (f *faults) handler(backend *url.URL, front string) http.Handler {
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(backend) },
		// The URL at which an upload continues is an address, too.
		ModifyResponse: func(answer *http.Response) error {
			if next, ok := strings.CutPrefix(answer.Header.Get("Location"), backend.String()); ok {
				answer.Header.Set("Location", front+next)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := f.refuse(time.Now()); {
		case n == 0:
			pass.ServeHTTP(w, r)
		case n%2 == 1:
			http.Error(w, "the service is overloaded", http.StatusServiceUnavailable)
		default:
			reset(w)
		}
	})
}

// reset ends a connection without an answer, as a crash of the server would.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (f *faults) fail(lasting time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lasting, f.until, f.refused = lasting, time.Time{}, 0
}

// refuse decides whether a request fails: it returns its number among the failed ones,
// else 0.
func (f *faults) refuse(now time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lasting > 0 {
		f.lasting, f.until = 0, now.Add(f.lasting)
	}
	if !now.Before(f.until) {
		return 0
	}
	f.refused++
	return f.refused
}

func (f *faults) over() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused < 2 || time.Now().Before(f.until) {
		return fmt.Errorf("%d requests failed until %v: want some, and an end of it", f.refused, f.until)
	}
	return nil
}
