package config

import (
	"errors"
	"testing"
)

// The error about a value that was not typed as a flag names no flag.
func TestInvalidErrorHasItsReasonApart(t *testing.T) {
	for name, tt := range map[string]struct {
		flags        Flags
		from, reason string
	}{
		"project":   {Flags{Project: "My Project"}, "--project", `"My Project": expected a project id, as in my-project-123, not its name or number`},
		"namespace": {Flags{Namespace: "A_b"}, "--namespace", `"A_b": not a namespace: expected at most 63 lower-case letters, digits and '-', with a letter or digit first and last`},
		"store":     {Flags{Store: "bucket"}, "--store", "bucket: expected gs://BUCKET or gs://BUCKET/PREFIX, or for local jobs file:///DIR"},
		"directory": {Flags{Store: "file:///srv"}, "--store", "file:///srv: pods can't access a local directory: use a bucket, gs://BUCKET"},
	} {
		t.Run(name, func(t *testing.T) {
			config, _ := kubeconfig(t, ctxMain)
			_, err := Resolve(tt.flags, variables{}.get, config, Need{Jobs: true})
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v", err)
			}
			if reason := invalid.Reason.Error(); invalid.From != tt.from || reason != tt.reason || err.Error() != tt.from+" "+tt.reason {
				t.Errorf("got %q, %q of %q", invalid.From, reason, err)
			}
		})
	}
}
