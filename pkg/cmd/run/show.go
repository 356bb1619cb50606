package run

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/render"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
	"github.com/kubectl-kinetic/kinetic/pkg/ui"
)

// dryRun prints what would be applied.
func (o *options) dryRun(p submit.Planned) error {
	rendered, err := render.Objects(p.Spec, p.Overlay)
	if err != nil {
		return cli.Usage(err)
	}
	switch o.output {
	case "json":
		data, err := rendered.JSON()
		if err != nil {
			return err
		}
		_, err = o.streams.Out.Write(data)
		return err
	case "yaml":
		_, err := o.streams.Out.Write(rendered.YAML())
		return err
	}
	suffix := " created (dry run)"
	if o.output == "name" {
		suffix = ""
	}
	for _, name := range rendered.Names() {
		if _, err := fmt.Fprintln(o.streams.Out, name+suffix); err != nil {
			return err
		}
	}
	return nil
}

// explain says what a run would do.
func (o *options) explain(p submit.Planned) error {
	if p.Spec.Backend != api.BackendLocal {
		// What can't be rendered can't be run: say so now.
		if _, err := render.Objects(p.Spec, p.Overlay); err != nil {
			return cli.Usage(err)
		}
	}
	e := p.Explain()
	if o.output == "json" {
		enc := json.NewEncoder(o.streams.Out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	_, err := fmt.Fprint(o.streams.Out, ui.Clean(e.Sentences(ui.Bytes)))
	return err
}

// overlay writes the kustomization to a directory.
func (o *options) overlay(p submit.Planned) error {
	files, err := render.Files(p.Spec, p.Overlay)
	if err != nil {
		return cli.Usage(err)
	}
	if err := render.WriteOverlay(o.writeOverlay, files); err != nil {
		return cli.Usage(err)
	}
	_, err = fmt.Fprintf(o.streams.Out, "%s written; kubectl kustomize %s prints it\n", o.writeOverlay, o.writeOverlay)
	return err
}
