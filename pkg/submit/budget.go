package submit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator"
	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// validateMaxCost rejects amounts that can't limit a job, and jobs that an amount can't limit.
func validateMaxCost(r api.Request) error {
	switch {
	case r.MaxCost == 0:
		return nil
	case r.MaxCost < 0 || math.IsNaN(r.MaxCost) || math.IsInf(r.MaxCost, 0):
		return fmt.Errorf("--max-cost %g: must be positive", r.MaxCost)
	case r.Map != "":
		return errors.New("--max-cost cannot be combined with --map: limit the pods with --parallelism, and the time of a chunk with --max-runtime")
	}
	return nil
}

// priceDoubts warns of a pod that only fits on a machine with more GPUs than it gets: the price, which --max-cost counts too, is
// for a machine with as many.
func priceDoubts(r api.Request, s api.Spec) []string {
	if s.Accelerator.Kind != api.GPU || s.Capacity.Kind == api.CapacityFlexStart || s.Capacity.Kind == api.CapacityClass {
		return nil
	}
	most := accelerator.Own(s.Accelerator)
	var asked []string
	for _, ask := range []struct{ flag, value, has string }{{"--cpu", r.CPU, strconv.Itoa(most.CPUs)}, {"--memory", r.Memory, strconv.Itoa(most.GiB) + "Gi"}} {
		if ask.value == "" {
			continue
		}
		if value := resource.MustParse(ask.value); value.Cmp(resource.MustParse(ask.has)) > 0 {
			asked = append(asked, ask.flag+" "+ask.value)
		}
	}
	if asked == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: the pod needs a machine with more GPUs than %s, which costs more; the prices shown and --max-cost are those of %[2]s",
		strings.Join(asked, " and "), accelerator.Text(s.Accelerator))}
}

// leastBudget is the shortest time to which a cost can limit a job: the runner counts in minutes.
const leastBudget = time.Minute

// budget returns how long --max-cost pays for all hosts of a job at their list price, 0 without a limit.
func budget(s api.Spec, prices price.Table) (time.Duration, error) {
	if s.MaxCost == 0 {
		return 0, nil
	}
	perHour, _ := price.Rate(prices, s.Accelerator, s.Capacity.Kind, s.Zone)
	if perHour == nil || *perHour <= 0 {
		return 0, fmt.Errorf("--max-cost %s: the price of %s is unknown: use --max-runtime, or put the price into the file that %s names", price.Dollars(s.MaxCost), s.AcceleratorText, price.Variable)
	}
	count, what := s.Machines()/s.Accelerator.Hosts, s.AcceleratorText
	if count > 1 {
		what = fmt.Sprintf("%d × %s", count, what)
	}
	all := *perHour * float64(count)
	hours := min(s.MaxCost/all, math.MaxInt64/float64(time.Hour)/2)
	d := time.Duration(hours * float64(time.Hour)).Truncate(time.Second)
	if d < leastBudget {
		return 0, fmt.Errorf("--max-cost %g pays for less than a minute of %s, which costs %s an hour: use a larger amount", s.MaxCost, what, price.Dollars(all))
	}
	return d, nil
}
