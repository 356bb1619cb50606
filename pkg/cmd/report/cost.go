package report

import (
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// CostLimit returns the cost in USD at which a job ends, and how long that pays for.
func CostLimit(maxCost float64, budget time.Duration) string {
	return price.Dollars(maxCost) + ", which pays for " + ui.Took(budget) + ", all attempts together"
}
