package google

import (
	"reflect"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
)

// The names of other things may be those of our service accounts.
func TestActorOfTheKind(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[infra.Kind]infra.Actor{
		infra.KindAccount: account{}, infra.KindRoles: access{}, infra.KindIdentity: access{}, infra.KindPool: pool{},
		infra.KindProfile: nil, infra.KindNamespace: nil, infra.KindQueue: nil,
	} {
		for _, of := range []string{config.NodesAccount, config.JobsAccount} {
			id := infra.ID{Kind: kind, Name: names.Account(of)}
			actor := w.project.Actor(id, w.cluster, nil)
			if p, is := actor.(patient); is {
				actor = p.Actor
			}
			if reflect.TypeOf(actor) != reflect.TypeOf(want) {
				t.Errorf("%s: got a %T, want a %T", id, actor, want)
			}
		}
	}
}
