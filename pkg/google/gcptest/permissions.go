package gcptest

import (
	"slices"

	"google.golang.org/api/storage/v1"
)

// testPermissions answers which of some permissions the account has on a bucket: all that were not
// denied.
func (s *Server) testPermissions(r *request) (any, error) {
	if _, err := s.bucket(r); err != nil {
		return nil, err
	}
	asked := slices.Clone(r.query["permissions"])
	return &storage.TestIamPermissionsResponse{Kind: "storage#testIamPermissionsResponse",
		Permissions: slices.DeleteFunc(asked, func(p string) bool { return s.denied[p] })}, nil
}
