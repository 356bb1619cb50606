package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// usesStorage reports whether the runner makes requests to Cloud Storage.
func usesStorage(spec api.Spec) bool {
	if strings.HasPrefix(spec.Store, "gs://") {
		return true
	}
	for _, d := range spec.Data {
		if strings.HasPrefix(d.URL, "gs://") {
			return true
		}
	}
	return false
}

// isOfGoogle reports whether this machine is one of Google Cloud, whose metadata server has tokens.
func isOfGoogle() bool {
	name, err := os.ReadFile("/sys/class/dmi/id/product_name")
	return err == nil && strings.HasPrefix(string(name), "Google")
}

// storageArguments returns the flags with which the runner reaches Cloud Storage. env is the environment
// of the job, and ofGoogle is what isOfGoogle reports. Without credentials, the runner would try until
// its time is over.
func storageArguments(env []string, ofGoogle bool) ([]string, error) {
	var args []string
	for _, f := range api.StoreFlags {
		if value := lookup(env, f.Variable); value != "" {
			args = append(args, f.Flag, value)
		}
	}
	if lookup(env, api.EnvStorageEmulator)+lookup(env, api.EnvMetadataHost) != "" {
		return args, nil
	}
	if file := lookup(env, api.EnvCredentials); file != "" {
		return args, checkCredentials(file, api.EnvCredentials)
	}
	if file := gcloudCredentials(env); file != "" {
		return append(args, "--credentials", file), checkCredentials(file, "gcloud")
	}
	if ofGoogle {
		return args, nil
	}
	return nil, fmt.Errorf("this machine has no credentials for Cloud Storage: %s", principal.Login)
}

// gcloudCredentials returns the file that principal.Login makes, "" if there is none.
func gcloudCredentials(env []string) string {
	dir := lookup(env, "CLOUDSDK_CONFIG")
	if dir == "" {
		home := platform.HomeDir(func(name string) string { return lookup(env, name) })
		dir = filepath.Join(home, ".config", "gcloud")
	}
	file := filepath.Join(dir, "application_default_credentials.json")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// checkCredentials returns an error for a file that the runner can't get tokens with.
func checkCredentials(file, from string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the credentials of %s: %w", from, err)
	}
	var fields struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("the credentials of %s, %s, are not JSON: %w", from, file, err)
	}
	switch fields.Type {
	case "authorized_user", "service_account":
		return nil
	}
	err = fmt.Errorf("the credentials of %s, %s, have the type %q: a local job reads Cloud Storage with your own (%s) or with the key of a service account", from, file, fields.Type, principal.Login)
	if from == api.EnvCredentials {
		return fmt.Errorf("%w; unset %s to use your own", err, from)
	}
	return err
}
