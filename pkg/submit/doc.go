// Package submit turns a user's request into a plan, without any network, looks up what
// the plan leaves open, and carries plans out.
//
// Below it, call reads TARGET and its arguments, pack finds and sends the code, data finds and
// sends the inputs, and render makes objects from manifests/ and the user's overlay.
//
// A value's way: api.Request → Plan (no network) → Resolve (what the network decides) →
// render.Objects → Apply. A dry-run stops before Apply.
package submit
