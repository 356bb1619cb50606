package amount

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// leastCache is less than what a compiled program takes: a smaller number probably lacks its unit.
const leastCache = 1 << 20

// Cache returns the size of a cache in bytes: 0 if none is wanted, and -1 for "".
func Cache(from, value string) (int64, error) {
	if value == "" {
		return -1, nil
	}
	size, err := resource.ParseQuantity(value)
	if err != nil || size.Sign() < 0 || size.Sign() > 0 && size.CmpInt64(leastCache) < 0 {
		return 0, fmt.Errorf("%s %q: expected a size of at least 1Mi, such as 500Mi or 2Gi, or 0 for no cache", from, value)
	}
	return size.Value(), nil
}
