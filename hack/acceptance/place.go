package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
)

// place is a cluster that a run makes. Its namespace has the same name.
type place struct{ project, zone, cluster string }

// newPlace returns a place with a name that nobody else has.
func newPlace(project, zone string) place {
	suffix := make([]byte, 2)
	_, _ = rand.Read(suffix) // it never fails
	return place{project, zone, "acceptance-" + hex.EncodeToString(suffix)}
}

// autopilot returns the place of the Autopilot cluster beside this one, which is in the whole region.
func (p place) autopilot() place {
	if parts := strings.Split(p.zone, "-"); len(parts) > 2 {
		p.zone = strings.Join(parts[:2], "-")
	}
	p.cluster += "-ap"
	return p
}

// context returns its name in the kubeconfig.
func (p place) context() string {
	return fmt.Sprintf("gke_%s_%s_%s", p.project, p.zone, p.cluster)
}

// environment returns the variables that lead kubectl kinetic there.
func (p place) environment() []string {
	return []string{"KINETIC_PROJECT=" + p.project, "KINETIC_ZONE=" + p.zone, "KINETIC_CLUSTER=" + p.cluster, "KINETIC_NAMESPACE=" + p.cluster}
}

// down returns the arguments that take it down.
func (p place) down() []string {
	return []string{"down", "--delete-data", "--yes=" + p.cluster}
}

// typed returns what a user types to take it down.
func (p place) typed() string {
	return fmt.Sprintf("kubectl kinetic %s --force --project %s --zone %s --cluster %s --namespace %[4]s",
		strings.Join(p.down(), " "), p.project, p.zone, p.cluster)
}
