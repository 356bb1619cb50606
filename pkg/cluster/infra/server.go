package infra

// Server is an address of a cluster's API server. Authority is the certificate of the server's authority,
// nil if every machine trusts it.
type Server struct {
	URL       string
	Authority []byte
}
