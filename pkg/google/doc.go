// Package google has no code of its own. Below it lies Google Cloud, as far as jobs need it.
//
//   - gcp gives access to the REST APIs: credentials, endpoints, retries, operations, and
//     errors that name the next step. principal names the account that makes requests.
//   - gke knows node pools: the request for a shape of the catalogue, the shape of an existing
//     pool, the price of its nodes, which zones have a machine type, the quotas of a region,
//     and GKE's API.
//   - gcptest serves these APIs in tests, with the delays and the refusals of the real ones.
//
// A request's way: gke builds it from an api.Accelerator, gcp sends it, waits for the
// operation and explains a refusal.
package google
