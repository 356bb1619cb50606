package job

import "os/user"

// CurrentUser is the name of this machine's account, as api.JobDetails.User has it; "" where it is
// not known.
func CurrentUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
