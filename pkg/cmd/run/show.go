package run

import (
	"context"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/backend"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/explain"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/submit/render"
)

// serverDryRun prints the objects as the API server would create them.
func (o *options) serverDryRun(ctx context.Context, p submit.Planned, rendered render.Rendered) error {
	cluster, err := backend.Cluster(o.connection, o.target, p.Spec.Namespace)
	if err != nil {
		return err
	}
	made, err := cluster.Submission(rendered.Objects()).DryRun(ctx)
	if err != nil {
		return err
	}
	answered, err := render.Rewrite(made)
	if err != nil {
		return err
	}
	return o.print(answered, o.output, " created (server dry run)")
}

func (o *options) warn(warnings []string) {
	for _, w := range warnings {
		o.ui.Warn(w)
	}
}

// print writes objects in a format, as kubectl does; without a format, it says what was
// done to each.
func (o *options) print(r render.Rendered, format, done string) error {
	switch format {
	case "json":
		data, err := r.JSON()
		if err != nil {
			return err
		}
		_, err = o.streams.Out.Write(data)
		return err
	case "yaml":
		return r.WriteYAML(o.streams.Out)
	case "name":
		done = ""
	}
	for _, name := range r.Names() {
		if _, err := fmt.Fprintln(o.streams.Out, name+done); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) explain(ctx context.Context, p submit.Planned) error {
	e := explain.New(p, o.provider(ctx, p).Estimate(ctx, p.Environment), o.prices)
	e.Job.Outputs.FetchTo = explain.Optional(o.wait.outputs)
	if o.output == "json" {
		return cli.Write(o.streams.Out, cli.JSON, e)
	}
	_, err := fmt.Fprint(o.streams.Out, ui.WrapBelow(ui.Detect(o.streams.Out), explain.Indent, ui.Clean(e.Text())))
	return err
}

func (o *options) overlay(p submit.Planned) error {
	files, err := render.Files(p.Spec, p.Overlay)
	if err != nil {
		return cli.Usage(err)
	}
	if err := render.WriteOverlay(o.writeOverlay, files); err != nil {
		return cli.Usage(err)
	}
	if o.output == "json" {
		return cli.Write(o.streams.Out, cli.JSON, map[string]any{"directory": o.writeOverlay})
	}
	_, err = fmt.Fprintf(o.streams.Out, "%s written; render it with kubectl kustomize %s\n", o.writeOverlay, o.writeOverlay)
	return err
}
