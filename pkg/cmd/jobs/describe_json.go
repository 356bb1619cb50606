package jobs

import (
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/accelerator/price"
	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// description is what describe prints for programs, with the names of `list -o json`. All
// output is in camelCase, the documents in the store are in snake_case.
type description struct {
	ID          string       `json:"id"`
	Namespace   string       `json:"namespace,omitempty"`
	Function    string       `json:"function"`
	CallKind    api.CallKind `json:"callKind,omitempty"`
	Accelerator string       `json:"accelerator"`
	Spot        bool         `json:"spot,omitempty"`
	Created     time.Time    `json:"created"`
	Store       string       `json:"store"`
	api.JobDetails
	// ImageMode is bundled, prebuilt or custom.
	ImageMode string `json:"imageMode,omitempty"`
	// ImageDigest is that of the image that the pods run.
	ImageDigest string `json:"imageDigest,omitempty"`
	// Payload is the pickle of the call, null for any other call.
	Payload *api.Payload `json:"payload"`
	// Data are the job's inputs; empty if it has none.
	Data []api.Data `json:"data"`
	// Packages are what is installed for the job; null if that is not known.
	Packages []report.Package `json:"packages"`
	Backend  api.Backend      `json:"backend"`
	// Workload is the name of the Job or LeaderWorkerSet.
	Workload  string     `json:"workload,omitempty"`
	Project   string     `json:"project,omitempty"`
	Zone      string     `json:"zone,omitempty"`
	Cluster   string     `json:"cluster,omitempty"`
	Debug     bool       `json:"debug,omitempty"`
	Env       []string   `json:"env,omitempty"`
	SecretEnv []string   `json:"secretEnv,omitempty"`
	Client    string     `json:"client,omitempty"`
	Status    api.Status `json:"status"`
	// End is null before the job has ended.
	End *end `json:"end"`
	// Error is null if the call succeeded or left no result.
	Error    *api.ResultError `json:"error"`
	Warnings []string         `json:"warnings,omitempty"`
	Timeline []job.Event      `json:"timeline"`
	// HostCount is the number of the job's hosts; Hosts are those that have a pod.
	HostCount int        `json:"hostCount"`
	Hosts     []api.Host `json:"hosts,omitempty"`
	// Parts are those of the Pathways runtime that have a pod.
	Parts       []api.Part           `json:"parts,omitempty"`
	Map         bool                 `json:"map,omitempty"`
	Inputs      *records.MapProgress `json:"inputs,omitempty"`
	HasResult   bool                 `json:"hasResult"`
	Pickle      string               `json:"pickle,omitempty"`
	LogBytes    *int64               `json:"logBytes"` // null before the job has ended, when only a part is stored
	Outputs     int                  `json:"outputs"`
	OutputBytes int64                `json:"outputBytes"`
	// Cost is null for a job that holds no accelerators or has not started.
	Cost *price.Cost `json:"cost"`
	// Budget is how many seconds MaxCost pays for, all attempts together.
	Budget int `json:"budgetSeconds,omitempty"`
}

// end is how a job ended, and who recorded that.
type end struct {
	State    api.State  `json:"state"`
	Reason   api.Reason `json:"reason"`
	Message  string     `json:"message,omitempty"`
	ExitCode int        `json:"exitCode"`
	Host     int        `json:"host"`
	Attempt  int        `json:"attempt"`
	Started  time.Time  `json:"started,omitzero"`
	Finished time.Time  `json:"finished,omitzero"`
	By       string     `json:"by"`
}

func describeJSON(d job.Description, costs price.Meter) description {
	h := d.Handle
	j := description{ID: h.JobID, Namespace: h.Namespace, Function: h.FuncName, CallKind: h.CallKind, Accelerator: h.Accelerator, Spot: h.Spot,
		Created: h.CreatedAt, Store: h.Store, JobDetails: d.JobDetails,
		ImageMode: h.ImageMode, ImageDigest: digest(d), Payload: h.Payload, Data: append([]api.Data{}, h.Data...), Packages: report.Packages(d.Packages), Backend: h.Backend, Workload: h.K8sName, Project: h.Project, Zone: h.Zone, Cluster: h.ClusterName, Debug: h.Debug,
		Env: h.Env, SecretEnv: h.SecretEnv, Client: h.Client, Status: d.Status, Error: d.Error, Warnings: d.Warnings, Timeline: d.Timeline,
		HostCount: h.Hosts, Hosts: d.Hosts, Parts: d.Parts, Map: h.Map != nil, Inputs: d.Inputs, HasResult: d.HasResult, Pickle: d.Pickle,
		Outputs: d.Outputs, OutputBytes: d.OutputBytes, Cost: costs.OfHistory(h, d.Status, d.Attempts, d.Disruptions), Budget: h.Budget}
	if e := d.End; e != nil {
		j.End = &end{State: e.State, Reason: e.Reason, Message: e.Message, ExitCode: e.ExitCode, Host: e.Host, Attempt: e.Attempt,
			Started: e.Started, Finished: e.Finished, By: e.By}
	}
	if d.Status.State.Ended() || d.End != nil {
		j.LogBytes = &d.LogBytes
	}
	return j
}
