package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
)

// DataText says what an input of a job is, and how it gets there.
func DataText(d api.Data) string {
	text := fmt.Sprintf("%s = %s, %s", cmp.Or(d.Name, d.Mount), d.Source, accessText(d.Access))
	if d.Writable {
		text += ", writable"
	}
	if d.Cache != "" {
		text += ", with a cache of " + d.Cache
	}
	if d.Set != "" {
		text += fmt.Sprintf(": %s, %s", human.Count(int(d.Files), "file"), human.Bytes(d.Bytes))
	}
	return text
}

// PayloadText says how large a payload is, and what made it.
func PayloadText(p api.Payload) string {
	if p.Python == "" {
		return human.Bytes(p.Size)
	}
	return fmt.Sprintf("%s, pickled by Python %s", human.Bytes(p.Size), p.Python)
}

func accessText(a api.Access) string {
	switch a {
	case api.AccessFUSE:
		return "mounted with Cloud Storage FUSE"
	case api.AccessClaim:
		return "mounted"
	case api.AccessHere:
		return "where it is"
	default:
		return "copied to the pod"
	}
}

// CostLimit returns the cost in USD at which a job ends, and how long that pays for.
func CostLimit(maxCost float64, budget time.Duration) string {
	return price.Dollars(maxCost) + ", which pays for " + ui.Took(budget) + ", all attempts together"
}
