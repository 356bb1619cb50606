// Package submit turns a user's request into a plan, without any network, looks up what
// the plan leaves open, and carries plans out.
//
// Below it, call reads TARGET and its arguments, pack finds and sends the code, and render makes
// objects from manifests/ and the user's overlay. The files data*.go say which files a job gets as
// its inputs, and how they get into its pods.
//
// A value's way: api.Request → Plan (no network) → Resolve (what the network decides) →
// render.Objects → Apply. A dry-run stops before Apply.
package submit
