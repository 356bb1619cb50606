package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
	"github.com/kubectl-kinetic/kinetic/pkg/config/target"
)

// create asks what to create, unless flags say it, and hands over to up, which shows its plan and asks.
func (s *setup) create(ctx context.Context) error {
	if s.asks {
		if err := s.askPlace(ctx); err != nil {
			return err
		}
	}
	return s.up(ctx)
}

// askPlace asks for the project, the zone and the name of a new cluster.
func (s *setup) askPlace(ctx context.Context) error {
	where, err := s.connection.ResolveNewProfile()
	if err != nil {
		return cli.Usage(err)
	}
	cluster := where.Cluster
	if strings.Contains(where.From.Cluster, "context ") { // it exists
		cluster = target.DefaultCluster
	}
	t := &s.connection.Target
	for _, q := range []struct {
		what, standard string
		answer         *string
	}{
		{"Google Cloud project", where.Project, &t.Project}, {"zone, or region of a regional cluster", where.Zone, &t.Zone}, {"name of the new cluster", cluster, &t.Cluster},
	} {
		if *q.answer != "" {
			continue
		}
		if _, err := cli.AskUntil(ctx, s.streams, q.what, q.standard, func(answer string) error {
			if answer == "" {
				return errors.New("init create needs a Google Cloud project with billing: name it, or use --project")
			}
			return s.connection.Accept(answer, connect.Set(q.answer))
		}); err != nil {
			return err
		}
	}
	return nil
}

// upArguments returns the arguments for kubectl kinetic up.
func (s *setup) upArguments() ([]string, error) {
	where, err := s.connection.ResolveNewProfile()
	if err != nil {
		return nil, cli.Usage(err)
	}
	namespace := ""
	if strings.HasPrefix(where.From.Namespace, "--") {
		namespace = where.Namespace
	}
	args, t := []string{"up"}, s.connection.Target
	for _, f := range []struct{ flag, value string }{
		{"--project", t.Project}, {"--zone", t.Zone}, {"--cluster", t.Cluster}, {"--namespace", namespace}, {"--profile-name", s.profile},
	} {
		if f.value != "" {
			args = append(args, f.flag+"="+f.value)
		}
	}
	if s.yes {
		args = append(args, "--yes")
	}
	return args, nil
}

// up becomes `kubectl kinetic up`, which asks its own questions.
func (s *setup) up(ctx context.Context) error {
	args, err := s.upArguments()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting kubectl kinetic up: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, args...) // a signal goes to both
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.streams.In, s.streams.Out, s.streams.ErrOut
	var ended *exec.ExitError
	if err := cmd.Run(); errors.As(err, &ended) {
		return cli.Exit(ended.ExitCode())
	} else if err != nil {
		return fmt.Errorf("starting kubectl kinetic up: %w", err)
	}
	return nil
}
