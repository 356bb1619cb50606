package gcptest

import (
	"encoding/json"
	"strings"

	"google.golang.org/api/container/v1"
)

// updated returns a cluster with what an update calls desiredSomething. Objects are merged.
func updated(c *container.Cluster, update *container.ClusterUpdate) (*container.Cluster, error) {
	var fields, wanted map[string]any
	if err := recode(c, &fields); err != nil {
		return nil, err
	}
	if err := recode(update, &wanted); err != nil {
		return nil, err
	}
	// otherFields are the fields of a cluster that an update names differently.
	otherFields := map[string]string{
		"ClusterAutoscaling": "autoscaling", "MasterVersion": "currentMasterVersion", "LoggingService": "loggingService",
	}
	for name, value := range wanted {
		desired, found := strings.CutPrefix(name, "desired")
		if !found || strings.HasPrefix(desired, "NodePool") {
			continue
		}
		field := otherFields[desired]
		if field == "" {
			field = strings.ToLower(desired[:1]) + desired[1:]
		}
		fields[field] = merged(fields[field], value)
	}
	changed := &container.Cluster{}
	if err := recode(fields, changed); err != nil {
		return nil, err
	}
	if e := update.DesiredControlPlaneEndpointsConfig; e != nil && e.IpEndpointsConfig != nil { // what it leaves out is off
		changed.ControlPlaneEndpointsConfig.IpEndpointsConfig = e.IpEndpointsConfig
	}
	if err := checkCluster(changed); err != nil {
		return nil, err
	}
	if update.DesiredNodePoolAutoscaling == nil {
		return changed, nil
	}
	for _, p := range changed.NodePools {
		if p.Name == update.DesiredNodePoolId {
			p.Autoscaling = update.DesiredNodePoolAutoscaling
			return changed, checkAutoscaling(p)
		}
	}
	return nil, notFound("Not found: node pool %q.", update.DesiredNodePoolId)
}

func merged(old, value any) any {
	before, isObject := old.(map[string]any)
	after, isAlso := value.(map[string]any)
	if !isObject || !isAlso {
		return value
	}
	for name, each := range after {
		before[name] = merged(before[name], each)
	}
	return before
}

func recode(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
