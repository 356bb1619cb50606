package gcptest

import (
	"slices"

	"google.golang.org/api/storage/v1"
)

// testPermissions answers which of some permissions the account has on a bucket: all that were not
// denied.
func (s *Server) testPermissions(r *request, _ *bucket) (any, error) {
	asked := slices.Clone(r.query["permissions"])
	return &storage.TestIamPermissionsResponse{Kind: "storage#testIamPermissionsResponse",
		Permissions: slices.DeleteFunc(asked, func(p string) bool { return s.denied[p] })}, nil
}
