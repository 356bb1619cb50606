package warm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/logs"
)

// answerTime is how long a host may take to answer anything but a request for output.
const answerTime = 20 * time.Second

// CallLimit is the most bytes that a call may take, as JSON.
const CallLimit = payloadLimit

// Conn is a connection to a warm host, for one request at a time.
type Conn struct {
	// Slow means that it goes through the store, where an answer takes seconds.
	Slow bool
	// OnValue, unless nil, is called by Follow and Resume with the value of a call, as JSON, before the call's process has ended. The
	// value may be in no store yet. A large one, or one within an unfinished line of output, is left out.
	OnValue func(value string)
	// Code, unless "", is the hash of the package that a call must run: Follow and Resume return ErrOtherCode if it ran another.
	Code string

	way     io.ReadWriteCloser
	secret  []byte
	pod     string // its UID
	channel *channel
	// called is the call whose output the host sends already, since it was given on this connection.
	called string
	// next is the offset of the output that comes next.
	next int64
}

// State is what a host does.
type State struct {
	// Calls is how many calls the host has taken, Current the ID of the one that runs, if any.
	Calls   int    `json:"calls"`
	Current string `json:"current"`
	// Seconds is for how long that one has been running, Idle for how long none has, and Ends in how many the host ends if none comes.
	Seconds float64 `json:"seconds"`
	Idle    float64 `json:"idle"`
	Ends    float64 `json:"ends"`
	// Keeps is what the host has for a call that is like the last one, "" for nothing. Similar is a hash of what is like the last one.
	Keeps   string `json:"keeps"`
	Similar string `json:"similar"`
}

// BusyError means that a host runs another call.
type BusyError struct {
	ID      string  `json:"id"`
	Seconds float64 `json:"seconds"`
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("busy with job %s, %s so far", e.ID, time.Duration(e.Seconds)*time.Second)
}

// RefusedError means that a host takes no further call.
type RefusedError struct {
	Why string `json:"why"`
}

func (e *RefusedError) Error() string { return "it takes no further call: " + e.Why }

// ErrUnknown means that a host has no output of a call: it never got it, or has forgotten it.
var ErrUnknown = errors.New("the host does not know this call")

// ErrOtherCode means that a call ran another package than the one that was sent.
var ErrOtherCode = errors.New("ran other code than was sent")

// Connect makes a connection to a host out of one to its port. secret is the key of the host, podUID that of its pod.
func Connect(way io.ReadWriteCloser, secret []byte, podUID string) (*Conn, error) {
	c := &Conn{way: way, secret: secret, pod: podUID}
	err := c.within(func() (err error) {
		c.channel, err = greet(way, secret, podUID)
		return err
	})
	if err != nil {
		_ = way.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the connection. A call that has begun goes on.
func (c *Conn) Close() error { return c.way.Close() }

// Record returns the record, as JSON, of a call that is given to the host with this ID.
func (c *Conn) Record(call api.WarmCall, host string) ([]byte, error) {
	return NewRecord(call, host, c.secret)
}

// State asks what the host does. If the context ends before the answer comes, it closes the connection.
func (c *Conn) State(ctx context.Context) (s State, err error) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	return s, c.ask(kindStat, struct{}{}, &s)
}

// WhyNotKept returns why a call can't use what a host in this state keeps, "" if it can.
func (c *Conn) WhyNotKept(s State, call api.WarmCall) string {
	var words []string
	for name, value := range call.Environ {
		words = append(words, name+"="+value)
	}
	slices.Sort(words)
	packages := ""
	if i := slices.Index(call.Argv, "--environment"); i >= 0 {
		packages = call.Argv[i+1]
	}
	similar := hex.EncodeToString(sign(c.secret, []byte(wordsLabel), []byte(strings.Join(append(words, packages), "\x00"))))
	switch {
	case !slices.Contains(call.Argv, "--function"):
		return "a script or a command runs in a new process"
	case similar != s.Similar:
		return "the variables of -e or the packages differ"
	}
	return ""
}

// Reserve is State for a client that is about to give the host a call: for a minute, the host does not end while this connection lasts.
func (c *Conn) Reserve(ctx context.Context) (s State, err error) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	return s, c.ask(kindStat, map[string]bool{"reserve": true}, &s)
}

// Call gives the host a call, and returns once it has begun. If another call runs, the error is a BusyError, or, if the call is
// to wait for that, queued is called first. The error is ErrUnknown if the call is cancelled while it waits.
func (c *Conn) Call(call api.WarmCall, queued func()) error {
	var answer struct{ State, Why string }
	err := c.ask(kindCall, call, &answer)
	if err == nil && answer.State == "queued" {
		queued()
		err = c.answer(&answer)
	}
	switch {
	case err != nil:
		return err
	case answer.State == "refused":
		return &RefusedError{answer.Why}
	case answer.State == "unknown":
		return ErrUnknown
	}
	c.called = call.ID
	return nil
}

// Follow writes the output of a call, from the last lines on, or all with -1, until it has ended. It returns what the call
// reported, nil for no pickle.
func (c *Conn) Follow(id string, lines int, out io.Writer) (*api.Pickle, error) {
	if c.called == id && lines < 0 {
		c.called = ""
		return c.read(out)
	}
	return c.attach(attachment{ID: id, Lines: lines, Follow: true}, out)
}

// Resume is Follow from an offset on, after another connection was cut there.
func (c *Conn) Resume(id string, offset int64, out io.Writer) (*api.Pickle, error) {
	return c.attach(attachment{ID: id, Offset: &offset, Follow: true}, out)
}

// Next is the offset up to which output was written by Follow or Resume.
func (c *Conn) Next() int64 { return c.next }

// Output writes what a call has printed up to now, from the last lines on, or all with -1.
func (c *Conn) Output(id string, lines int, out io.Writer) error {
	_, err := c.attach(attachment{ID: id, Lines: lines}, out)
	return err
}

// LastLine returns the last line that a call has printed up to now, "" if there is none.
func (c *Conn) LastLine(id string) (string, error) {
	var printed bytes.Buffer
	if err := c.Output(id, 1, &printed); err != nil {
		return "", err
	}
	return logs.LastLine(&printed)
}

// attachment asks for the output of a call.
type attachment struct {
	ID     string `json:"id"`
	Lines  int    `json:"lines"`
	Offset *int64 `json:"offset,omitempty"` // where to begin, instead of Lines
	Follow bool   `json:"follow"`
}

func (c *Conn) attach(a attachment, out io.Writer) (*api.Pickle, error) {
	if err := c.send(kindAttach, a); err != nil {
		return nil, err
	}
	return c.read(out)
}

// read writes output until the host says how the call ended, or that it runs.
func (c *Conn) read(out io.Writer) (*api.Pickle, error) {
	for {
		k, payload, err := c.channel.receive()
		switch {
		case err != nil:
			return nil, err
		case k == kindOut && len(payload) >= offsetBytes:
			if _, err := out.Write(payload[offsetBytes:]); err != nil {
				return nil, &logs.WriteError{Err: err}
			}
			c.next = int64(binary.BigEndian.Uint64(payload)) + int64(len(payload)-offsetBytes)
		case k == kindValue && c.OnValue != nil:
			var returned struct{ Value string }
			if err := json.Unmarshal(payload, &returned); err != nil {
				return nil, err
			}
			c.OnValue(returned.Value)
		case k == kindEnd:
			return c.reported(payload)
		case k == kindState:
			var s struct{ State string }
			if err := json.Unmarshal(payload, &s); err != nil || s.State == "running" {
				return nil, err
			}
			return nil, ErrUnknown
		}
	}
}

// offsetBytes is the size of what precedes the output in a frame.
const offsetBytes = 8

// reported returns the pickle in the report of a call that has ended, nil if there is none.
func (c *Conn) reported(end []byte) (*api.Pickle, error) {
	var outer struct{ Report string }
	var inner struct {
		Pickle *api.Pickle
		Bundle string
	}
	if json.Unmarshal(end, &outer) != nil || json.Unmarshal([]byte(outer.Report), &inner) != nil {
		return nil, nil
	}
	if c.Code != "" && inner.Bundle != "" && inner.Bundle != c.Code {
		return nil, fmt.Errorf("%w: %s, not %s", ErrOtherCode, inner.Bundle, c.Code)
	}
	return inner.Pickle, nil
}

// Cancel tells the host to end a call.
func (c *Conn) Cancel(id string) error { return c.send(kindCancel, map[string]string{"id": id}) }

func (c *Conn) send(k kind, message any) error {
	payload, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(payload) > payloadLimit {
		return fmt.Errorf("a request of %d bytes is too large for a warm host", len(payload))
	}
	return c.channel.send(k, payload)
}

func (c *Conn) ask(k kind, message, into any) error {
	return c.within(func() error {
		if err := c.send(k, message); err != nil {
			return err
		}
		return c.answer(into)
	})
}

// answer reads frames up to a state.
func (c *Conn) answer(into any) error {
	for {
		got, payload, err := c.channel.receive()
		switch {
		case err != nil:
			return err
		case got == kindBusy:
			busy := &BusyError{}
			return errors.Join(json.Unmarshal(payload, busy), busy)
		case got == kindState:
			return json.Unmarshal(payload, into)
		}
	}
}

// within does an action, and closes the connection if it takes too long.
func (c *Conn) within(action func() error) error {
	timer := time.AfterFunc(answerTime, func() { _ = c.way.Close() })
	err := action()
	if !timer.Stop() && err != nil {
		return fmt.Errorf("no answer for %s", answerTime)
	}
	return err
}
