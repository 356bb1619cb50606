package up

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
)

// printed is a plan for programs.
type printed struct {
	Project string     `json:"project"`
	Zone    string     `json:"zone"`
	Cluster string     `json:"cluster"`
	Plan    infra.Plan `json:"plan"`
	Price   cost       `json:"listPrice"`
}

func (o *upOptions) print(plan infra.Plan) error {
	if o.output == "" {
		if err := plan.Write(o.Streams.Out); err != nil {
			return err
		}
		_, err := fmt.Fprintln(o.Streams.Out, o.cost)
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
