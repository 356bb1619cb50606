package packaging

import (
	"context"
	"sync"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/principal"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/cloudbuild"
)

// googleScope lets a token be used for all services that the account may use.
const googleScope = "https://www.googleapis.com/auth/cloud-platform"

// googleToken returns a function that returns access tokens of the application default
// credentials. It looks for them when it is called first.
func googleToken() func(context.Context) (string, error) {
	find := sync.OnceValues(func() (*auth.Credentials, error) {
		return credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{googleScope}})
	})
	return func(ctx context.Context) (string, error) {
		found, err := find()
		if err != nil {
			return "", err
		}
		token, err := found.Token(ctx)
		if err != nil {
			return "", err
		}
		return token.Value, nil
	}
}

// cloudBuild returns a function that opens Cloud Build where the images of a cluster are built, nil
// if the cluster is not in a project.
func cloudBuild(p Place) func(context.Context) (*cloudbuild.Client, error) {
	if p.Project == "" || p.Cluster == "" {
		return nil
	}
	return func(ctx context.Context) (*cloudbuild.Client, error) {
		client, err := cloudbuild.New(ctx, cloudbuild.PlaceOf(p.Project, config.Region(p.Zone), p.Cluster))
		if err != nil {
			return nil, err
		}
		if found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{googleScope}}); err == nil {
			client.User = principal.Of(found.JSON())
			client.Charged, _ = found.QuotaProjectID(ctx)
		}
		return client, nil
	}
}
