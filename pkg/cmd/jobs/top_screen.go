package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/top"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

const (
	// beat is how often the screen looks whether there is something to ask.
	beat = 200 * time.Millisecond
	// redraw is how often ages and costs are counted on.
	redraw = time.Second
	// usesEvery is how often the metrics API is asked: a cluster measures about as often.
	usesEvery = 15 * time.Second
)

// topScreen is the terminal, with what happens beside it.
type topScreen struct {
	*topOptions
	program string // the path of this one, for other commands
	screen  tcell.Screen
	asker   *top.Asker
	visible []top.Row
	drawn   time.Time

	keys      chan tcell.Event
	changes   chan []api.JobSummary
	over      chan error // the end of the watch
	uses      chan topUses
	cancelled chan string // what a cancellation has said
	nextUses  time.Time
	toCancel  *top.Row // what the question is about
}

// watch shows the screen until the user leaves it. That is no failure, whatever key it takes.
func (o *topOptions) watch(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return fmt.Errorf("opening the terminal: %w: add --once", err)
	}
	defer screen.Fini()
	screen.RegisterRuneFallback('…', ".")
	// A Ctrl-C in a program that was opened must not end this one.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := &topScreen{topOptions: o, program: program, screen: screen, asker: top.NewAsker(o.source.wants), keys: make(chan tcell.Event),
		changes: make(chan []api.JobSummary), over: make(chan error, 1), uses: make(chan topUses, 1), cancelled: make(chan string, 1)}
	go screen.ChannelEvents(s.keys, ctx.Done())
	go func() {
		s.over <- o.source.registry.WatchEntries(ctx, o.filter, api.ListReasons, func(entries []api.JobSummary) error {
			return send(ctx, s.changes, entries)
		})
	}()
	return s.loop(ctx)
}

// send sends a value unless the context ends first.
func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errLeave means that the user leaves the screen.
var errLeave = errors.New("left")

// loop handles one thing after the other: nothing else touches the model.
func (s *topScreen) loop(ctx context.Context) error {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	s.draw()
	for changed := false; ; {
		select {
		case <-ctx.Done():
			return cli.Exit(cli.ExitInterrupted)
		case err := <-s.over:
			return err
		case event := <-s.keys:
			err := s.handle(ctx, event)
			switch {
			case errors.Is(err, errLeave) && ctx.Err() == nil:
				return nil
			case err != nil:
				s.model.Notice = err.Error()
			}
			s.draw()
			continue
		case entries := <-s.changes:
			s.model.Put(entries, s.now())
		case a := <-s.source.answers:
			s.asker.Answered(a.Ask)
			s.source.take(s.model, a)
		case u := <-s.uses:
			s.source.takeUses(s.model, u)
		case s.model.Notice = <-s.notices:
		case s.model.Notice = <-s.cancelled:
		case <-ticks.C:
			s.ask(ctx)
			if changed || time.Since(s.drawn) >= redraw {
				s.draw()
				changed = false
			}
			continue
		}
		changed = true // which many things may do at a time
	}
}

// ask asks what may be asked now.
func (s *topScreen) ask(ctx context.Context) {
	now := time.Now()
	if s.source.cluster != nil && len(s.visible) > 0 && now.After(s.nextUses) && s.asker.Allow(now) {
		s.nextUses = now.Add(usesEvery)
		go func() { _ = send(ctx, s.uses, s.source.uses(ctx)) }()
		return
	}
	if s.source.cluster != nil && s.nextUses.IsZero() {
		return // the metrics API decides what pods are asked
	}
	if next, found := s.asker.Next(s.visible, now); found {
		s.source.ask(ctx, next)
	}
}

func (s *topScreen) draw() {
	s.drawn = time.Now()
	width, height := s.screen.Size()
	laidOut := s.model.Screen(width, height, s.now())
	s.visible = laidOut.Rows
	s.screen.Clear()
	for y, line := range laidOut.Lines {
		x := 0
		for _, part := range line.Parts {
			s.screen.PutStrStyled(x, y, part.Text, s.styleOf(part, line.Selected))
			x += uniseg.StringWidth(part.Text)
		}
		if line.Selected {
			for ; x < width; x++ {
				s.screen.PutStrStyled(x, y, " ", tcell.StyleDefault.Reverse(true))
			}
		}
	}
	s.screen.Show()
}

// styleOf returns how a part of a line looks. Without colours, what is selected is reversed all the same.
func (s *topScreen) styleOf(p top.Part, selected bool) tcell.Style {
	style := tcell.StyleDefault.Bold(p.Bold).Reverse(selected)
	color := -1
	if p.State != "" {
		color = ui.Palette(p.State)
	}
	if color >= 0 && s.style.Color && !selected {
		style = style.Foreground(tcell.PaletteColor(color))
	}
	return style.Dim(p.Dim && !selected)
}
