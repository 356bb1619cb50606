// Package amount checks amounts as Kubernetes writes them, such as 500m, 4 or 16Gi. Its functions
// accept "", which is no amount; from is where a value comes from, such as a flag or a variable.
package amount

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// leastSize is what Python itself needs of memory, and its files of disk: a smaller value
// probably lacks its unit.
const leastSize = 16 << 20

// leastCache is less than what a compiled program takes: a smaller number probably lacks its unit.
const leastCache = 1 << 20

// Positive rejects a value that is not a positive amount.
func Positive(from, value string) error {
	_, err := parse(from, value)
	return err
}

// Size rejects a value that is no amount of memory or disk with which Python can start.
func Size(from, value string) error {
	bytes, err := parse(from, value)
	switch number := strings.TrimRight(value, "gGbB"); {
	case err != nil && number != "" && strings.Trim(number, "0123456789.") == "" && Size(from, number+"Gi") == nil:
		return fmt.Errorf("%s %q: did you mean %sGi?", from, value, number)
	case err != nil || value == "" || bytes.CmpInt64(leastSize) >= 0:
		return err
	case strings.Trim(value, "0123456789") == "":
		return fmt.Errorf("%s %q: that is %s bytes; did you mean %sGi?", from, value, value, value)
	default:
		return fmt.Errorf("%s %q: Python needs at least 16Mi", from, value)
	}
}

// parse parses an amount, which must be positive if given.
func parse(from, value string) (resource.Quantity, error) {
	if value == "" {
		return resource.Quantity{}, nil
	}
	q, err := resource.ParseQuantity(value)
	if err != nil {
		return q, fmt.Errorf("%s %q: not a Kubernetes quantity such as 500m, 4 or 16Gi", from, value)
	}
	if q.Sign() <= 0 {
		return q, fmt.Errorf("%s %q: must be positive", from, value)
	}
	return q, nil
}

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
