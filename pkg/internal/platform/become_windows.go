package platform

import "errors"

// Become replaces this process with another program, which Windows can't do.
func Become([]string) error { return errors.ErrUnsupported }
