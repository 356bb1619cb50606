package cli

// DryRun is the flag --dry-run as kubectl has it, for a command whose requests go to Google Cloud, which
// can't check a request without carrying it out.
type DryRun struct{ mode string }

// The values of the flag.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
)

// Add adds the flag and its completion to a section.
func (d *DryRun) Add(s Section, usage string) {
	s.Flags.StringVar(&d.mode, "dry-run", dryRunNone, usage)
	s.Flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	s.Offer("dry-run", dryRunNone, dryRunClient)
}

// On reports whether nothing is to be changed. It returns an error for a value that doesn't exist.
func (d *DryRun) On() (bool, error) {
	if d.mode == "server" {
		return false, Usagef("--dry-run %q: expected one of %s, %s; Google Cloud can't check a request without carrying it out", d.mode, dryRunNone, dryRunClient)
	}
	return d.mode == dryRunClient, OneOf("--dry-run", d.mode, []string{dryRunNone, dryRunClient})
}
