// Package cli is what surrounds the command of a binary: streams and signals, help, how an error
// becomes an exit code and a line, and how a value is printed as JSON or YAML.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/event"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/version"
)

// Main runs the command of one binary with the process's arguments and streams and returns
// its exit code. The first of Interrupts cancels the command's context; after that, signals
// have their default effect, so that a second Ctrl-C never waits for anything. If the reader of our output goes away, the write fails, but the process goes
// on. A word at the beginning of the arguments, by which the front door chooses one of others, is
// removed.
func Main(newCommand NewCommand, others ...Other) int {
	if slices.Equal(os.Args[1:], []string{version.Word}) {
		_, err := fmt.Fprintln(os.Stdout, version.String())
		return CodeOf(err)
	}
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, in := withHangup(interrupted)
	context.AfterFunc(ctx, stop)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // caught, not ignored: children don't inherit that
	if os.Getenv("GOGC") == "" {
		usual := debug.SetGCPercent(shortGCPercent)
		restore := func() { debug.SetGCPercent(usual) }
		time.AfterFunc(shortLife, restore)
		onLargeHeap(restore)
	}
	args := os.Args[1:]
	for _, o := range others {
		if rest, chosen := o.chosen(args); chosen {
			newCommand, args = o.New, rest
			break
		}
	}
	if completes(args) {
		silence()
	}
	klog.SetLogger(klog.Logger{}) // client-go's messages for developers appear with -v
	streams, settle := genericiooptions.IOStreams{In: in, Out: os.Stdout, ErrOut: os.Stderr}, func() {}
	if wantsEvents(args) && !completes(args) {
		streams.ErrOut, settle = divert()
	}
	root := newCommand(streams, clock.RealClock{})
	err := execute(ctx, root, args, streams)
	settle()
	return end(args, streams, err)
}

// Interrupts returns the signals that end a command: SIGINT, SIGTERM, and SIGHUP unless the
// process was started with nohup.
func Interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// NewCommand makes a command with the process's streams and clock.
type NewCommand func(genericiooptions.IOStreams, clock.PassiveClock) *cobra.Command

// Other is one more command of a binary.
type Other struct {
	Word string
	New  NewCommand
}

// chosen returns the arguments without the word, if it is their first, or the first to be completed.
func (o Other) chosen(args []string) ([]string, bool) {
	at := 0
	if completes(args) {
		at = 1
	}
	if len(args) <= at || args[at] != o.Word {
		return nil, false
	}
	return slices.Delete(slices.Clone(args), at, at+1), true // never nil, which cobra takes for os.Args
}

// Most commands run for milliseconds and hold little memory, and garbage collection took a
// fifth of a dry-run's time. So their heap may at first grow to five times the live memory
// before a collection. Long-running commands, which may follow a job for days, go back to
// the default: a quarter of their memory was garbage. So do commands that hold much, whose
// garbage stays below 128 MiB then.
const (
	shortGCPercent = 400
	shortLife      = 2 * time.Second
	largeHeap      = 32 << 20 // live bytes
)

// onLargeHeap calls do when the garbage collector finds more than largeHeap live bytes.
func onLargeHeap(do func()) {
	type sentinel struct{ _ [64]byte } // large enough to be an allocation of its own
	var collected func(*sentinel)
	collected = func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Uint64() > largeHeap {
			do()
			return
		}
		runtime.SetFinalizer(&sentinel{}, collected)
	}
	runtime.SetFinalizer(&sentinel{}, collected)
}

// Run executes a root command, prints its error on ErrOut and returns its exit code.
func Run(ctx context.Context, root *cobra.Command, args []string, streams genericiooptions.IOStreams) int {
	return end(args, streams, execute(ctx, root, args, streams))
}

func end(args []string, streams genericiooptions.IOStreams, err error) int {
	if completes(args) {
		return 0 // else kubectl ignores the answer and the shell offers files
	}
	report(streams.ErrOut, err)
	return CodeOf(err)
}

func execute(ctx context.Context, root *cobra.Command, args []string, streams genericiooptions.IOStreams) error {
	prepare(root)
	completing := completes(args)
	if completing {
		unquote(root)
		streams.ErrOut = io.Discard
	}
	root.SetArgs(args)
	root.SetIn(streams.In)
	help := &helpWriter{Writer: streams.Out}
	root.SetOut(help)
	var answer bytes.Buffer
	if completing {
		root.SetOut(&answer)
	}
	root.SetErr(streams.ErrOut)
	cmd, err := root.ExecuteContextC(ctx)
	if completing {
		_, _ = help.Write(corrected(answer.Bytes(), root, args[1:]))
	}
	return cmp.Or(help.err, classify(ctx, cmd, err))
}

// helpWriter is what cobra writes help and completions to. It remembers an error, which cobra
// drops or takes for a mistake of the user's.
type helpWriter struct {
	io.Writer
	err error
}

func (w *helpWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// prepare makes cobra quiet about errors, which report prints, and turns its complaints
// about flags and arguments into usage errors. A command that knows more about a wrong flag
// can return a usage error from its own FlagErrorFunc.
func prepare(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().AddFlagSet(eventsSection().Flags) // for cobra's own commands
	own := root.FlagErrorFunc()
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if err = own(c, err); errors.As(err, new(*Error)) {
			return err
		}
		err = plainValue(err)
		if meant := cmp.Or(otherForm(c, err), MeantFlag(c, err)); meant != "" {
			return Usagef("%w; %s See %s --help", err, meant, typedPath(c))
		}
		return Usagef("%w; see %s --help", err, typedPath(c))
	})
}

// plainValue replaces the message of strconv about the value of a boolean flag.
func plainValue(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) || invalid.GetFlag().Value.Type() != "bool" {
		return err
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: expected true or false", invalid.GetValue(), invalid.GetFlag().Name)
}

// PathAnnotation is for a command that users don't type by its own path: it has the words
// that they type.
const PathAnnotation = "kinetic_path"

// typedPath returns the words that users type for a command.
func typedPath(c *cobra.Command) string {
	return cmp.Or(c.Annotations[PathAnnotation], c.CommandPath())
}

// unquote removes the backquotes around value names from the usage texts of flags, because
// a shell would show them.
func unquote(c *cobra.Command) {
	plain := func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) }
	c.Flags().VisitAll(plain)
	c.PersistentFlags().VisitAll(plain)
	for _, sub := range c.Commands() {
		unquote(sub)
	}
}

// MeantFlag returns a question that suggests the flag that a mistyped one may mean; "" for
// other errors or if no flag is similar.
func MeantFlag(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	typed := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // -queue is read as letters
	if len(typed) == 1 {
		return ""
	}
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	return human.DidYouMeanFlag(typed, flags)
}

// classify gives exit code 2 to errors that cobra found before a RunE started. Anything
// that a signal cut short counts as interrupted, even if the command chose another exit
// code.
func classify(ctx context.Context, cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return &Error{Code: ExitInterrupted, Err: errors.New("interrupted")}
	}
	if errors.As(err, new(*Error)) {
		return err
	}
	if cmd != nil && cmd.Context().Value(startedKey{}) == nil {
		return Usagef("%w; see %s --help", err, typedPath(cmd))
	}
	return err
}

type startedKey struct{}

// RunE adapts a function to cobra and records that the command line was accepted: later
// errors are not usage errors unless they say so.
func RunE(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		c.SetContext(context.WithValue(c.Context(), startedKey{}, true))
		return run(c.Context(), args)
	}
}

// report prints an error once. It prints nothing for people if the reader of our output went away.
func report(w io.Writer, err error) {
	if events := event.Of(w); events != nil {
		if err == nil {
			events.End()
		} else {
			events.End(errorEvent(err))
		}
		return
	}
	var e *Error
	if err == nil || platform.IsClosedPipe(err) || errors.As(err, &e) && e.Printed() {
		return
	}
	fmt.Fprintln(w, "error: "+strings.TrimRight(explained(err).Error(), "\n"))
}

func explained(err error) error {
	if unwritten, ok := errors.AsType[*fs.PathError](err); ok && unwritten.Path == os.Stdout.Name() { // whatever was to be written
		return fmt.Errorf("writing standard output: %w", unwritten.Err)
	}
	return err
}
