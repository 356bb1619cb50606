package jobs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/top"
)

// handle handles a key, or another size of the terminal. The error is errLeave, or something to show.
func (s *topScreen) handle(ctx context.Context, event tcell.Event) error {
	switch event := event.(type) {
	case nil: // the terminal is gone
		return errLeave
	case *tcell.EventError:
		return errLeave
	case *tcell.EventResize:
		s.screen.Sync()
	case *tcell.EventKey:
		return s.press(ctx, event)
	}
	return nil
}

// press handles a key. A question takes any key for no, but one for yes.
func (s *topScreen) press(ctx context.Context, key *tcell.EventKey) error {
	if s.toCancel != nil && key.Key() != tcell.KeyCtrlC {
		row := *s.toCancel
		s.toCancel, s.model.Question = nil, ""
		if key.Rune() == 'y' || key.Rune() == 'Y' {
			s.cancelJob(ctx, row)
		}
		return nil
	}
	s.model.Notice = ""
	switch key.Key() {
	case tcell.KeyCtrlC, tcell.KeyEscape:
		return errLeave
	case tcell.KeyUp:
		s.model.Move(-1, s.now())
	case tcell.KeyDown:
		s.model.Move(1, s.now())
	case tcell.KeyPgUp:
		s.model.Page(-1, s.now())
	case tcell.KeyPgDn:
		s.model.Page(1, s.now())
	case tcell.KeyHome, tcell.KeyEnd:
		s.model.MoveToEnd(key.Key() == tcell.KeyEnd, s.now())
	case tcell.KeyEnter:
		s.model.Toggle(s.now())
	case tcell.KeyCtrlL:
		s.screen.Sync()
	case tcell.KeyRune:
		return s.letter(ctx, key.Rune())
	}
	return nil
}

func (s *topScreen) letter(ctx context.Context, key rune) error {
	switch key {
	case 'q', 'Q':
		return errLeave
	case 'k':
		s.model.Move(-1, s.now())
	case 'j':
		s.model.Move(1, s.now())
	case 'g', 'G':
		s.model.MoveToEnd(key == 'G', s.now())
	case ' ':
		s.model.Toggle(s.now())
	case 'l', 's', 'x', 'c':
		row, found := s.model.Selected(s.now())
		if !found {
			return nil
		}
		if key == 'c' {
			return s.confirmCancel(row)
		}
		return s.open(ctx, row, key)
	}
	return nil
}

func (s *topScreen) confirmCancel(row top.Row) error {
	if row.Entry.State.Ended() {
		return fmt.Errorf("job %s has ended already: %s", row.ID, row.Entry.Word())
	}
	row.Host = top.WholeJob // jobs are cancelled, not hosts
	s.toCancel = &row
	s.model.Question = fmt.Sprintf("Cancel job %s? y or n", row.ID)
	return nil
}

func (s *topScreen) cancelJob(ctx context.Context, row top.Row) {
	s.model.Notice = "cancelling " + row.ID
	line := s.child(row, "cancel", "--yes")
	go func() {
		said := "cancelled " + row.ID
		if out, err := exec.CommandContext(ctx, s.program, line...).CombinedOutput(); err != nil {
			said = strings.TrimSpace(string(out))
		}
		_ = send(ctx, s.cancelled, said)
	}()
}

// lastLines is how many lines of a log are shown that is opened.
const lastLines = "--tail=200"

// open leaves the terminal to the command that shows a log or stacks, or is a shell, and comes back when it has ended.
func (s *topScreen) open(ctx context.Context, row top.Row, key rune) error {
	words := map[rune][]string{'l': {"logs", lastLines, "--follow"}, 's': {"stacks"}, 'x': {"shell"}}[key]
	if key == 'l' && row.Entry.State.Ended() {
		words = words[:len(words)-1]
	}
	if err := s.screen.Suspend(); err != nil {
		return fmt.Errorf("leaving the screen: %w", err)
	}
	out, errOut := s.streams.Out, s.streams.ErrOut
	program := exec.CommandContext(ctx, s.program, s.child(row, words...)...)
	program.Stdin, program.Stdout, program.Stderr = s.streams.In, out, errOut
	err := program.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		fmt.Fprintf(errOut, "error: running %s: %v\n", words[0], err)
	}
	if key != 'x' || err != nil {
		fmt.Fprint(out, "\nPress Enter to go back. ")
		_, _ = cli.ReadLine(ctx, s.streams.In) // the end of the input is an answer, too
	}
	if err := s.screen.Resume(); err != nil {
		return fmt.Errorf("coming back to the screen: %w", err)
	}
	s.screen.Sync()
	return nil
}
