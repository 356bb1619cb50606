package job

import "os/user"

// CurrentUser returns the name of this machine's account, as in api.JobDetails.User; "" if it is
// not known.
func CurrentUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
