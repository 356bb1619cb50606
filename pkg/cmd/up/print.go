package up

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

type printed struct {
	Project string     `json:"project"`
	Zone    string     `json:"zone"`
	Cluster string     `json:"cluster"`
	Plan    infra.Plan `json:"plan"`
	Price   cost       `json:"listPrice"`
}

func (o *upOptions) print(plan infra.Plan) error {
	if o.output == "" {
		var text strings.Builder
		if err := plan.Write(&text); err != nil {
			return err
		}
		fmt.Fprintln(&text, o.cost)
		_, err := io.WriteString(o.Streams.Out, ui.Wrap(ui.Detect(o.Streams.Out), text.String()))
		return err
	}
	n := o.wanted.Names
	return cli.Write(o.Streams.Out, o.output, printed{n.Project, n.Zone, n.Cluster, plan, o.cost})
}

// words returns what is said of those resources that exist when their change is done.
func words(plan infra.Plan) map[infra.ID]string {
	all := map[infra.ID]string{}
	for _, s := range plan {
		switch s.Action {
		case infra.Change:
			all[s.ID] = "changed"
		case infra.Complete:
			all[s.ID] = "completed"
		}
	}
	return all
}
