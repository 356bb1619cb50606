// Package packages has no code of its own. Below it lie the Python packages of a job: what a
// project needs, which wheels that is, and how they get into the pod.
//
//   - requirement and deps read what a project and its lock file say. No network.
//   - decide chooses the mode, the base image and the image's name from that. No network.
//   - resolve finds a wheel for each requirement, by a lock, by hashes, with uv or pip;
//     it asks package indexes itself.
//   - wheel turns wheels into layers, image puts them into a registry and knows the Pathways images, cloudbuild has an
//     image built where a builder is needed.
//   - provide carries out what decide has planned: an image, or a list that the pod installs.
//
// A value's way: requirements.txt → deps.Wanted → decide.Plan → resolve → provide → the
// image's digest, which package submit renders.
package packages
