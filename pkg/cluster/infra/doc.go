// Package infra is what a project needs to run jobs on GKE, as a list of resources: what each is
// called, what it depends on, and what is to be done about it. It keeps no record: it looks at what
// exists, so that it can be cut off anywhere and repeated. It has the
// objects in the cluster and the files on this machine; package google makes the requests to Google Cloud.
package infra
