package submit

import (
	"fmt"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// checkCall rejects a call that is too large for the runner.
func checkCall(size int64) error {
	if size <= api.Contract.Limits.Call {
		return nil
	}
	return fmt.Errorf("the arguments take %d MiB, but a call may have at most %d MiB: put large data into a file of the project or into the store, and pass its name",
		size>>20, api.Contract.Limits.Call>>20)
}
