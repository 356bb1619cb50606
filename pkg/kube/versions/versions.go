// Package versions finds out which versions a cluster has of what jobs need: the API
// server, LeaderWorkerSet, Kueue, and the runners in a namespace.
package versions

import (
	"context"
	"time"

	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kinetic/kinetic/pkg/kube/apiserver"
)

// Inventory is what a cluster has. Parts that could not be read are missing, and Errors
// says why, by the name of the part in JSON.
type Inventory struct {
	// Error says why nothing could be read.
	Error           string            `json:"error,omitempty"`
	Server          *apiversion.Info  `json:"serverVersion,omitempty"`
	LeaderWorkerSet *AddOn            `json:"leaderWorkerSet,omitempty"`
	Kueue           *AddOn            `json:"kueue,omitempty"`
	Runners         []Runner          `json:"runners,omitzero"`
	Errors          map[string]string `json:"errors,omitempty"`
}

// The names of the parts.
const (
	PartServer          = "serverVersion"
	PartLeaderWorkerSet = "leaderWorkerSet"
	PartKueue           = "kueue"
	PartRunners         = "runners"
)

// Options say what to read.
type Options struct {
	Namespace string
	Client    Client
	// Within limits the time for everything.
	Within time.Duration
}

// Read asks a cluster for all parts at once. It does not wait for a program that gets
// credentials longer than for the cluster.
func Read(ctx context.Context, config *rest.Config, o Options) Inventory {
	r, err := newReader(config, o)
	if err != nil {
		return Inventory{Error: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Within)
	defer cancel()
	parts := r.parts()
	answers := make(chan answer, len(parts))
	for name, p := range parts {
		go func() {
			add, err := p.read(ctx)
			if err != nil && ctx.Err() != nil { // however the connection says it
				err = ctx.Err()
			}
			answers <- answer{name, add, err}
		}()
	}
	inventory := Inventory{Errors: map[string]string{}}
	for missing := len(parts); missing > 0; missing-- {
		select {
		case a := <-answers:
			if a.err == nil {
				a.add(&inventory)
			} else {
				inventory.Errors[a.part] = parts[a.part].request.Reason(a.err, o.Within)
			}
			delete(parts, a.part)
		case <-ctx.Done():
			for name, p := range parts {
				inventory.Errors[name] = p.request.Reason(ctx.Err(), o.Within)
			}
			return inventory.summarized()
		}
	}
	return inventory.summarized()
}

type answer struct {
	part string
	add  func(*Inventory)
	err  error
}

// summarized returns the inventory with one error instead of the same error for all parts.
func (i Inventory) summarized() Inventory {
	if i.Server != nil || i.LeaderWorkerSet != nil || i.Kueue != nil || i.Runners != nil {
		return i
	}
	why := i.Errors[PartServer]
	for _, other := range i.Errors {
		if other != why {
			return i
		}
	}
	return Inventory{Error: why}
}

// part is a part of the inventory, which takes one request, or several at once.
type part struct {
	request apiserver.Request
	read    func(context.Context) (func(*Inventory), error)
}

type reader struct {
	server    *apiserver.Client
	namespace string
	client    Client
}

func newReader(config *rest.Config, o Options) (reader, error) {
	client, err := apiserver.NewClient(config, nil)
	return reader{client, o.Namespace, o.Client}, err
}

func (r reader) parts() map[string]part {
	return map[string]part{
		PartServer: {apiserver.Request{Verb: "get", Resource: "/version"}, r.version},
		PartLeaderWorkerSet: {leaderWorkerSet().request(), func(ctx context.Context) (func(*Inventory), error) {
			found, err := r.addOn(ctx, leaderWorkerSet())
			return func(i *Inventory) { i.LeaderWorkerSet = found }, err
		}},
		PartKueue: {kueueController().request(), func(ctx context.Context) (func(*Inventory), error) {
			found, err := r.addOn(ctx, kueueController())
			return func(i *Inventory) { i.Kueue = found }, err
		}},
		PartRunners: {apiserver.Request{Verb: "list", Resource: "configmaps", Namespace: r.namespace}, r.runners},
	}
}

func (r reader) version(ctx context.Context) (func(*Inventory), error) {
	var info apiversion.Info
	if err := r.server.Get(ctx, &info, nil, "/version"); err != nil {
		return nil, err
	}
	return func(i *Inventory) { i.Server = &info }, nil
}
