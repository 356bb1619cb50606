package gcptest

import "fmt"

// Refusal is what GKE says when it refuses a request.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func refused(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }
