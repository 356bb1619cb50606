package infra

// Server is an address of a cluster's API server. Authority is the certificate of the server's authority,
// nil if every machine trusts it. Closing means that it is to be closed, or is already: no kubeconfig should
// lead there.
type Server struct {
	URL       string
	Authority []byte
	Closing   bool
}
