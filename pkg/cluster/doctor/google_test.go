package doctor

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	infracloud "github.com/kubectl-kinetic/kinetic/pkg/cluster/infra/google"
	"github.com/kubectl-kinetic/kinetic/pkg/config"
	"github.com/kubectl-kinetic/kinetic/pkg/google/gcptest"
)

func TestGoogleChecksEndInTime(t *testing.T) {
	o := options(func(string) string { return "" })
	for name, set := range map[string]func(*GoogleOptions){"GKE": func(*GoogleOptions) {}, "elsewhere": func(o *GoogleOptions) { o.Target.GKE = false }} {
		set(&o)
		if longest := Longest(checks(o)); longest > 3*time.Second {
			t.Errorf("%s: all checks together may take %v", name, longest)
		}
	}
}

func TestACompleteProject(t *testing.T) {
	for _, r := range run(t, options(serve(t, nil).env)) {
		if r.State != OK {
			t.Errorf("%s is %s: %s", r.Name, r.State, r.Detail)
		}
	}
}

func TestChecks(t *testing.T) {
	denied := answerRefused(403, "Permission denied")
	const hidden = "you have no permissions on the bucket acme-kn-c-jobs, so its project is unknown: if it is in another project, choose another cluster with --cluster, or name another store with --store or KINETIC_STORE; if it is in project acme, ask for roles/storage.objectUser on it"
	rule := func(text string) map[string]string {
		return map[string]string{"GET " + bucketPath: `{"lifecycle":{"rule":[` + text + `]}}`}
	}
	tests := map[string]struct {
		check   string
		answers map[string]string
		set     func(*GoogleOptions)
		state   State
		detail  string
		fix     string
	}{
		"no credentials": {check: CredentialsCheck, set: func(o *GoogleOptions) {
			o.Env = func(name string) string { return map[string]string{api.EnvCredentials: "/nonexistent"}[name] }
		}, state: Wrong, detail: "finding credentials for Google Cloud", fix: "correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is /nonexistent"},
		"the account": {check: CredentialsCheck, state: OK, detail: "@acme.iam.gserviceaccount.com"},

		"a project that is deleted": {check: ProjectCheck, answers: map[string]string{projectPath: `{"state":"DELETE_REQUESTED"}`}, state: Wrong, detail: "its state is DELETE_REQUESTED",
			fix: "gcloud projects undelete acme"},
		"no project": {check: ProjectCheck, answers: map[string]string{projectPath: answerRefused(403, "Permission denied on resource project acme.")}, state: Wrong,
			detail: "reading the project acme: project acme doesn't exist, or ", fix: "gcloud projects list"},
		"a project without its API": {check: ProjectCheck, answers: map[string]string{projectPath: disabled("cloudresourcemanager")}, state: Skipped,
			detail: "the API cloudresourcemanager.googleapis.com is not enabled in project acme; enable it with: gcloud services enable cloudresourcemanager.googleapis.com --project acme"},
		"a project that no one shows": {check: ProjectCheck, answers: map[string]string{projectPath: denied}, state: Skipped, detail: "reading the project acme: "},
		"where the project is named":  {check: ProjectCheck, state: OK, detail: "acme (profile dev)"},

		"no billing": {check: "billing", answers: map[string]string{billingPath: `{"billingEnabled":false}`}, state: Wrong, detail: "billing is not enabled",
			fix: "gcloud billing projects link acme --billing-account=ACCOUNT"},
		"an account without a name": {check: "billing", answers: map[string]string{billingPath: `{"billingEnabled":true}`}, state: OK, detail: "enabled"},
		"billing is secret":         {check: "billing", answers: map[string]string{billingPath: denied}, state: Skipped, detail: "reading who pays for the project"},

		"an API is off": {check: "APIs", answers: map[string]string{apisPath: apisWithout("container.googleapis.com")},
			state: Wrong, detail: "not enabled: container.googleapis.com", fix: "gcloud services enable container.googleapis.com --project acme"},

		"no cluster": {check: "GKE cluster", answers: map[string]string{clusterPath: ""}, state: Wrong, detail: "project acme has no cluster c in us-central1-a",
			fix: "kubectl kinetic up --project acme --zone us-central1-a --cluster c"},
		"another cluster": {check: "GKE cluster", answers: map[string]string{clusterPath: "", clustersPath: `{"clusters":[{"name":"main","location":"us-east5"}]}`}, state: Wrong,
			detail: "project acme has no cluster c in us-central1-a; it has main in us-east5", fix: "kubectl kinetic up --project acme --zone us-central1-a --cluster c"},
		"another cluster of that name": {check: GKECheck, answers: map[string]string{clusterPath: "", clustersPath: `{"clusters":[{"name":"c","location":"us-east5-b"}]}`}, state: Wrong,
			detail: "project acme has no cluster c in us-central1-a; it has c in us-east5-b", fix: "kubectl kinetic doctor --project acme --zone us-east5-b --cluster c"},
		"GKE is not enabled": {check: GKECheck, answers: map[string]string{clusterPath: disabled("container")}, state: Wrong,
			detail: "project acme has no cluster c in us-central1-a: the API container.googleapis.com is not enabled", fix: "kubectl kinetic up --project acme --zone us-central1-a --cluster c"},
		"a cluster with an error": {check: "GKE cluster", answers: map[string]string{clusterPath: `{"status":"ERROR","statusMessage":"out of addresses"}`}, state: Wrong,
			detail: "c is ERROR: out of addresses"},
		"no Workload Identity": {check: "GKE cluster", answers: map[string]string{clusterPath: `{"status":"RUNNING"}`}, state: Wrong, detail: "c has no Workload Identity",
			fix: "gcloud container clusters update c --workload-pool=acme.svc.id.goog --location us-central1-a --project acme"},
		"a cluster that is secret": {check: "GKE cluster", answers: map[string]string{clusterPath: denied}, state: Skipped, detail: "reading cluster c in us-central1-a: "},

		"pods that act as the node": {check: "node metadata", state: Wrong, detail: "pods act as the service account of the node on cpus, v6e, so jobs can lack access to the bucket",
			answers: map[string]string{clusterPath: strings.NewReplacer(","+pods+"}},", "}},", "GKE_METADATA", "GCE_METADATA").Replace(running)},
			fix:     "gcloud container node-pools update cpus --cluster=c --location=us-central1-a --project=acme --workload-metadata=GKE_METADATA && gcloud container node-pools update v6e "},
		"pods on Autopilot":                         {check: "node metadata", answers: map[string]string{clusterPath: autopilot}, state: OK},
		"nodes of a cluster without pods' accounts": {check: "node metadata", answers: map[string]string{clusterPath: `{"status":"RUNNING",` + pools + `}`}, state: Skipped, detail: "needs: GKE cluster"},
		"nodes that are deleted": {check: "node lifetime", state: Skipped, detail: "GKE deletes the nodes of v6e 24h after their start, with the jobs on them; make node pools without that limit with: kubectl kinetic pool add ACCELERATOR --project acme",
			answers: map[string]string{clusterPath: strings.Replace(running, `"ct6e-standard-8t"`, `"ct6e-standard-8t","maxRunDuration":"86400s"`, 1)}},
		"nodes of flex-start": {check: "node lifetime", state: OK, detail: "no pool limits it",
			answers: map[string]string{clusterPath: strings.Replace(running, `"ct6e-standard-8t"`, `"ct6e-standard-8t","flexStart":true,"maxRunDuration":"604800s"`, 1)}},
		"nodes of no cluster": {check: "node lifetime", answers: map[string]string{clusterPath: ""}, state: Skipped, detail: "needs: GKE cluster"},

		"a pool with an error": {check: "node pools", answers: map[string]string{clusterPath: strings.Replace(running, `"status":"RUNNING","config":{"machineType":"ct6e`, `"status":"ERROR","statusMessage":"no capacity","config":{"machineType":"ct6e`, 1)},
			state: Wrong, detail: "v6e is ERROR: no capacity", fix: "gcloud container node-pools describe v6e --cluster c --location us-central1-a --project acme"},
		"what pools have":                       {check: "node pools", state: OK, detail: "2, with "},
		"a pool that fits":                      {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-8") }, state: OK, detail: "v6e has v6e-2x4"},
		"no pool":                               {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "l4:spot") }, state: Wrong, detail: "none has l4:spot", fix: "kubectl kinetic pool add l4:spot --project acme --zone us-central1-a --cluster c"},
		"no pool of that shape":                 {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-16") }, state: Wrong, detail: "none has v6e-4x4", fix: "kubectl kinetic pool add v6e-4x4"},
		"no pool of what is not sold on demand": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "h100x4") }, state: Wrong, detail: "none has h100x4", fix: "kubectl kinetic pool add h100x4 --flex-start --project acme --zone us-central1-a --cluster c"},
		"no pool of what is only reserved":      {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "gb200") }, state: Wrong, detail: "none has gb200x4", fix: "kubectl kinetic pool add gb200x4 --reservation NAME --project acme"},
		"a pool that shares its GPUs": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "a100") }, state: Wrong, detail: "none has a100; mig shares each GPU (MIG 1g.5gb)", fix: "kubectl kinetic pool add a100",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","nodePools":[{"name":"mig","config":{"machineType":"a2-highgpu-1g","accelerators":[{"acceleratorType":"nvidia-tesla-a100","acceleratorCount":"1","gpuPartitionSize":"1g.5gb"}]}}]}`}},
		"a pool for queues": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-8") }, state: Wrong, detail: "none has v6e-2x4; dws is for jobs whose queue asks for its machines (run --queue)", fix: "kubectl kinetic pool add v6e-2x4 --project acme --zone us-central1-a --cluster c",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","nodePools":[{"name":"dws","queuedProvisioning":{"enabled":true},"config":{"machineType":"ct6e-standard-8t","flexStart":true}}]}`}},
		"a pool for spot jobs alone": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-8") }, state: Wrong, detail: "none has v6e-2x4; cheap is for spot jobs (run --spot)", fix: "kubectl kinetic pool add v6e-2x4 --project acme --zone us-central1-a --cluster c",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","nodePools":[{"name":"cheap","config":{"machineType":"ct6e-standard-8t","spot":true,"taints":[{"key":"cloud.google.com/gke-spot","value":"true","effect":"NO_SCHEDULE"}]}}]}`}},
		"a preemptible pool": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-8:spot") }, state: Wrong, detail: "none has v6e-2x4:spot; old is preemptible, and its nodes lack the label of spot nodes", fix: "kubectl kinetic pool add v6e-2x4:spot --project acme --zone us-central1-a --cluster c",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","nodePools":[{"name":"old","config":{"machineType":"ct6e-standard-8t","preemptible":true}}]}`}},
		"a pool of keras-kinetic": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-8") }, state: Wrong, detail: "none has v6e-2x4; old has it on 2 hosts, for run --backend lws", fix: "kubectl kinetic pool add v6e-2x4 --project acme --zone us-central1-a --cluster c",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","nodePools":[{"name":"old","placementPolicy":{"type":"COMPACT","tpuTopology":"2x4"},"config":{"machineType":"ct6e-standard-4t"}}]}`}},
		"a pool without networks for its GPUs": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "b200") }, state: OK,
			detail:  "fast has b200x8; the hosts of node pool fast talk over plain TCP, because it was made without an accelerator network profile",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","networkConfig":{"datapathProvider":"ADVANCED_DATAPATH"},"nodePools":[{"name":"fast","config":{"machineType":"a4-highgpu-8g","accelerators":[{"acceleratorType":"nvidia-b200","acceleratorCount":"8"}]}}]}`}},
		"no pool yet": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "l4") }, state: Skipped, detail: "none has l4, but GKE may make one",
			answers: map[string]string{clusterPath: `{"status":"RUNNING","autoscaling":{"enableNodeAutoprovisioning":true},` + pools + `}`}},

		"Autopilot":           {check: "node pools", answers: map[string]string{clusterPath: autopilot}, state: Skipped, detail: "Autopilot makes the nodes of each job"},
		"Autopilot, one host": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "l4") }, answers: map[string]string{clusterPath: autopilot}, state: Skipped, detail: "Autopilot makes the nodes of each job"},
		"Autopilot, several hosts": {check: "node pools", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-16") }, answers: map[string]string{clusterPath: autopilot}, state: Skipped,
			detail: "Autopilot makes the nodes of each job; a job on several hosts needs --slice-node-pool shared"},
		"Autopilot's mode": {check: "GKE cluster", answers: map[string]string{clusterPath: autopilot}, state: OK, detail: "c is RUNNING, version 1.33.2, Autopilot"},

		"quota without an API": {check: "quota", answers: map[string]string{regionPath: disabled("compute")}, state: Wrong, detail: "reading the quotas of us-central1: the API compute.googleapis.com is not enabled",
			fix: "gcloud services enable compute.googleapis.com --project acme"},
		"quota":            {check: "quota", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "l4x2") }, state: OK, detail: "NVIDIA_L4_GPUS in us-central1 has 3 of 4 left"},
		"too little quota": {check: "quota", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "l4x4") }, state: Wrong, detail: "has 3 of 4 left, and l4x4 needs 4", fix: "https://console.cloud.google.com/iam-admin/quotas?project=acme"},
		"another quota":    {check: "quota", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "a100-80gb:spot") }, state: Skipped, detail: "us-central1 lists no quota for a100-80gb:spot: look for PREEMPTIBLE-NVIDIA-A100-80GB-GPUS-per-project-region at https://console.cloud.google.com/iam-admin/quotas?project=acme"},
		"quota of TPUs":    {check: "quota", set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v6e-8") }, state: Skipped, detail: "us-central1 lists no quota for v6e-2x4: look for TPUS-PER-TPU-FAMILY-per-project-region, tpu_family=CT6E at https://console"},
		"quota of listed TPUs": {check: "quota", answers: map[string]string{regionPath: `{"name":"us-central1","quotas":[{"metric":"TPU_LITE_PODSLICE_V5","limit":4}]}`}, set: func(o *GoogleOptions) { o.Accelerator = parse(t, "v5e-8") },
			state: Wrong, detail: "TPU_LITE_PODSLICE_V5 in us-central1 has 4 of 4 left, and v5e-2x4 needs 8", fix: "https://console.cloud.google.com/iam-admin/quotas?project=acme"},
		"no GPU in any region": {check: "quota", answers: map[string]string{gpusPath: `{"quotas":[{"metric":"GPUS_ALL_REGIONS","limit":0}]}`}, set: func(o *GoogleOptions) { o.Accelerator = parse(t, "l4x2") },
			state: Wrong, detail: "GPUS_ALL_REGIONS in project acme has 0 of 0 left, and l4x2 needs 2", fix: "https://console.cloud.google.com/iam-admin/quotas?project=acme"},
		"no GPU, none asked for": {check: "quota", answers: map[string]string{gpusPath: `{"quotas":[{"metric":"GPUS_ALL_REGIONS","limit":0}]}`}, state: Skipped, detail: "GPUS_ALL_REGIONS is 0: the project has no quota for GPUs in any region; request it at"},
		"any quota": {check: "quota", answers: map[string]string{regionPath: `{"name":"us-central1","quotas":[{"metric":"NVIDIA_L4_GPUS","limit":4,"usage":4},{"metric":"CPUS","limit":4,"usage":4}]}`},
			state: Skipped, detail: "used up in us-central1, perhaps by this cluster: NVIDIA_L4_GPUS (4); request more at https://console.cloud.google.com/iam-admin/quotas?project=acme"},
		"quota that the cluster uses": {check: "quota", set: nodesOf(parse(t, "l4x4"), 1), state: Skipped, detail: "has 3 of 4 left, and l4x4 needs 4, but the cluster already has 1 node for it; request more at https://console"},
		"quota that others use":       {check: "quota", set: nodesOf(parse(t, "l4x4"), 0), state: Wrong, detail: "has 3 of 4 left, and l4x4 needs 4", fix: "https://console.cloud.google.com/iam-admin/quotas?project=acme"},

		"who may not act as the account": {check: "Workload Identity", answers: map[string]string{accountPath: `{}`}, state: Wrong,
			detail: "the service account kinetic of namespace ml has no permission to act as jobs@acme.iam.gserviceaccount.com",
			fix:    "gcloud iam service-accounts add-iam-policy-binding jobs@acme.iam.gserviceaccount.com --role=roles/iam.workloadIdentityUser --member='" + member + "'"},
		"an account that is gone": {check: "Workload Identity", answers: map[string]string{accountPath: ""}, state: Wrong, detail: "is annotated with jobs@acme.iam.gserviceaccount.com, which does not exist"},
		"an account without the bucket": {check: "Workload Identity", answers: map[string]string{"GET " + bucketPath + "/iam": `{}`}, state: Wrong, detail: "no binding of the bucket acme-kn-c-jobs",
			fix: "gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --role=roles/storage.objectUser --member=serviceAccount:jobs@acme.iam.gserviceaccount.com"},
		"pods without an account, and without the bucket": {check: "Workload Identity", set: withoutAnnotation, state: Wrong, detail: "no binding of the bucket",
			fix: "gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --role=roles/storage.objectUser --member=" + ofPods},
		"a store in an emulator": {check: "Workload Identity", set: func(o *GoogleOptions) {
			env := o.Env
			o.Env = func(name string) string {
				if name == api.EnvStorageEmulator {
					return "http://127.0.0.1:1"
				}
				return env(name)
			}
		}, state: Skipped, detail: "the emulator http://127.0.0.1:1 has no permissions"},
		"pods by themselves": {check: "Workload Identity", set: withoutAnnotation, state: OK, detail: ofPods,
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[{"role":"roles/storage.objectAdmin","members":["` + ofPods + `"]},` + seesBucket + `]}`}},
		"all pods of the namespace": {check: "Workload Identity", set: withoutAnnotation, state: OK, detail: ofPods,
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[{"role":"roles/storage.objectUser","members":["principalSet://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/acme.svc.id.goog/namespace/ml"]},` + seesBucket + `]}`}},
		"all pods of the cluster": {check: "Workload Identity", set: withoutAnnotation, state: OK, detail: ofPods,
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[` + seesBucket + `,{"role":"roles/storage.objectUser","members":["principalSet://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/acme.svc.id.goog/kubernetes.cluster/https://container.googleapis.com/v1/projects/acme/locations/us-central1-a/clusters/c"]}]}`}},
		"all pods of another cluster": {check: "Workload Identity", set: withoutAnnotation, state: Wrong, detail: "no binding of the bucket",
			fix:     "gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --role=roles/storage.objectUser --member=" + ofPods,
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[{"role":"roles/storage.objectUser","members":["principalSet://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/acme.svc.id.goog/kubernetes.cluster/https://container.googleapis.com/v1/projects/acme/locations/us-central1-a/clusters/other"]}]}`}},
		"who may use objects, and not see the bucket": {check: "Workload Identity", state: Skipped,
			detail:  "can't read the bucket's settings, which Orbax on several hosts and others need: gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --role=roles/storage.legacyBucketReader --member=serviceAccount:jobs@acme.iam.gserviceaccount.com",
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[{"role":"roles/storage.objectUser","members":["serviceAccount:jobs@acme.iam.gserviceaccount.com"]}]}`}},
		"a role on the project": {check: "Workload Identity", state: OK, detail: "serviceAccount:jobs@acme.iam.gserviceaccount.com",
			answers: map[string]string{"GET " + bucketPath + "/iam": `{}`, policyPath: `{"bindings":[{"role":"roles/storage.admin","members":["serviceAccount:jobs@acme.iam.gserviceaccount.com"]}]}`}},
		"a role of the project's own": {check: "Workload Identity", state: Skipped, detail: "is not known: projects/acme/roles/jobs may have the permissions for it",
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[{"role":"projects/acme/roles/jobs","members":["serviceAccount:jobs@acme.iam.gserviceaccount.com"]}]}`}},
		"a role with a condition": {check: "Workload Identity", state: Skipped, detail: "is not known: roles/storage.objectUser is bound with a condition",
			answers: map[string]string{"GET " + bucketPath + "/iam": `{"bindings":[{"role":"roles/storage.objectUser","condition":{"expression":"request.time < timestamp('2020-01-01T00:00:00Z')"},"members":["serviceAccount:jobs@acme.iam.gserviceaccount.com"]}]}`}},
		"an account with a condition": {check: "Workload Identity", state: Skipped, detail: "whether the pods may act as jobs@acme.iam.gserviceaccount.com is not known: roles/iam.workloadIdentityUser is bound with a condition",
			answers: map[string]string{accountPath: `{"bindings":[{"role":"roles/iam.workloadIdentityUser","condition":{"expression":"false"},"members":["` + member + `"]}]}`}},
		"all accounts of the project": {check: "Workload Identity", state: OK,
			answers: map[string]string{accountPath: `{}`, policyPath: `{"bindings":[{"role":"roles/iam.workloadIdentityUser","members":["` + member + `"]}]}`}},
		"a policy that is secret": {check: "Workload Identity", answers: map[string]string{"GET " + bucketPath + "/iam": denied}, state: Skipped, detail: "no permission to read who can use the bucket"},
		"a service account that is secret": {check: "Workload Identity", set: func(o *GoogleOptions) {
			o.Identity = func(context.Context) (string, error) { return "", errors.New("forbidden") }
		}, state: Skipped, detail: "the service account kinetic can't be read: forbidden"},

		"no store": {check: StoreCheck, set: func(o *GoogleOptions) { o.Target.Store = "" }, state: Wrong, detail: "no store is known: set the project", fix: "kubectl kinetic init"},
		"no bucket": {check: StoreCheck, answers: map[string]string{"GET " + bucketPath + "/iam/testPermissions": ""}, state: Wrong, detail: "there is no bucket acme-kn-c-jobs",
			fix: "gcloud storage buckets create gs://acme-kn-c-jobs --uniform-bucket-level-access --project acme"},
		"no bucket, no cluster":      {check: StoreCheck, answers: map[string]string{clusterPath: "", "GET " + bucketPath + "/iam/testPermissions": ""}, state: Skipped, detail: "needs: GKE cluster"},
		"another bucket, no cluster": {check: StoreCheck, answers: map[string]string{clusterPath: ""}, set: func(o *GoogleOptions) { o.Target.Store = "gs://other" }, state: Wrong, detail: "there is no bucket other", fix: "gcloud storage buckets create gs://other"},
		"some rights": {check: StoreCheck, answers: map[string]string{"GET " + bucketPath + "/iam/testPermissions": `{"permissions":["storage.objects.get","storage.objects.list"]}`}, state: Wrong,
			detail: "lacks storage.objects.create, storage.objects.delete on the bucket acme-kn-c-jobs", fix: "gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --member=serviceAccount:"},
		"a bucket of another project": {check: StoreCheck, answers: map[string]string{"GET " + bucketPath: `{"projectNumber":"456"}`}, state: Wrong, detail: "the bucket acme-kn-c-jobs is in another project"},
		"a bucket that can't be seen": {check: StoreCheck, answers: map[string]string{"GET " + bucketPath: denied, "GET " + bucketPath + "/iam/testPermissions": `{}`}, state: Wrong, detail: hidden},
		"a bucket that refuses all":   {check: StoreCheck, answers: map[string]string{"GET " + bucketPath: denied, "GET " + bucketPath + "/iam/testPermissions": denied}, state: Wrong, detail: hidden},
		"a bucket for objects alone":  {check: StoreCheck, answers: map[string]string{"GET " + bucketPath: denied}, state: OK, detail: "you may read and write objects"},
		"a bucket for reading": {check: StoreCheck, answers: map[string]string{"GET " + bucketPath: denied, "GET " + bucketPath + "/iam/testPermissions": `{"permissions":["storage.objects.get"]}`},
			state: Wrong, detail: "lacks storage.objects.create", fix: "gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --member=serviceAccount:"},
		"a chosen bucket that can't be seen": {check: StoreCheck, set: func(o *GoogleOptions) { o.Target.GKE = false }, answers: map[string]string{"GET " + bucketPath: denied, "GET " + bucketPath + "/iam/testPermissions": `{}`},
			state: Wrong, detail: "lacks storage.objects.create", fix: "gcloud storage buckets add-iam-policy-binding gs://acme-kn-c-jobs --member=serviceAccount:"},
		"the cluster's bucket":   {check: StoreCheck, answers: map[string]string{"GET " + bucketPath: `{"projectNumber":"123"}`}, state: OK, detail: "you may read and write objects"},
		"a store outside of GKE": {check: StoreCheck, set: func(o *GoogleOptions) { o.Target.GKE = false }, state: OK, detail: "you may read and write objects"},

		"no rule":                        {check: "lifecycle", answers: map[string]string{"GET " + bucketPath: `{}`}, state: OK, detail: "no rule deletes results"},
		"soft delete":                    {check: "lifecycle", answers: map[string]string{"GET " + bucketPath: `{"softDeletePolicy":{"retentionDurationSeconds":"604800"}}`}, state: OK, detail: "no rule deletes results; but soft delete is on: each checkpoint that a job replaces is charged for 7 more days; turn it off with gcloud storage buckets update gs://acme-kn-c-jobs --clear-soft-delete"},
		"soft delete is off":             {check: "lifecycle", answers: map[string]string{"GET " + bucketPath: `{"softDeletePolicy":{"retentionDurationSeconds":"0"}}`}, state: OK, detail: "no rule deletes results"},
		"a rule for all":                 {check: "lifecycle", answers: rule(`{"action":{"type":"Delete"},"condition":{"age":30}}`), state: Wrong, detail: "a rule of the bucket acme-kn-c-jobs deletes results and outputs 30 days after they were written", fix: "gcloud storage buckets update gs://acme-kn-c-jobs --lifecycle-file=FILE"},
		"a rule that is kept on purpose": {check: "lifecycle", answers: rule(`{"action":{"type":"Delete"},"condition":{"age":365}}`), state: OK, detail: "a rule of the bucket acme-kn-c-jobs deletes results and outputs 365 days after they were written"},
		"a rule for copies":              {check: "lifecycle", answers: rule(`{"action":{"type":"Delete"},"condition":{"numNewerVersions":3}},{"action":{"type":"Delete"},"condition":{"age":1,"isLive":false}}`), state: OK, detail: "no rule"},
		"a cheaper class":                {check: "lifecycle", answers: rule(`{"action":{"type":"SetStorageClass"},"condition":{"age":30}}`), state: OK, detail: "no rule"},
		"rules are secret":               {check: "lifecycle", answers: map[string]string{"GET " + bucketPath: denied}, state: Skipped, detail: "no permission to read the rules"},

		"no repository": {check: imageCheck, answers: map[string]string{"GET /artifactregistry/v1/projects/acme/locations/us/repositories/kn-c": ""}, state: Wrong,
			detail: "there is no repository kn-c in us", fix: "gcloud artifacts repositories create kn-c --repository-format=docker --location=us --project=acme"},
		"no repository, no cluster": {check: imageCheck, answers: map[string]string{clusterPath: "", "GET /artifactregistry/v1/projects/acme/locations/us/repositories/kn-c": ""},
			set: func(o *GoogleOptions) { o.Images = config.Repository("acme", "us-central1-a", "c") }, state: Skipped, detail: "needs: GKE cluster"},
		"a repository for something else": {check: imageCheck, answers: map[string]string{"GET /artifactregistry/v1/projects/acme/locations/us/repositories/kn-c": `{"format":"PYTHON"}`},
			state: Wrong, detail: "is for python, not for images"},
		"no registry":                  {check: imageCheck, set: func(o *GoogleOptions) { o.Images = "" }, state: Skipped, detail: "none is known"},
		"a registry that is gone":      {check: imageCheck, set: func(o *GoogleOptions) { o.Images = "127.0.0.1:1/env" }, state: Wrong, detail: "127.0.0.1:1 can't be reached"},
		"not the name of a repository": {check: imageCheck, set: func(o *GoogleOptions) { o.Images = "a%b/env" }, state: Wrong, detail: "a%b/env is not a repository for images"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(serve(t, tt.answers).env)
			if tt.set != nil {
				tt.set(&o)
			}
			got := find(t, run(t, o), tt.check)
			if got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || !strings.HasPrefix(got.Fix, tt.fix) || (got.Fix == "") != (tt.fix == "") {
				t.Errorf("got %s %q, fix %q;\nwant %s %q, fix %q", got.State, got.Detail, got.Fix, tt.state, tt.detail, tt.fix)
			}
			if strings.Count(got.Detail, "reading ") > 1 {
				t.Errorf("twice: %q", got.Detail)
			}
		})
	}
}

func nodesOf(a *api.Accelerator, n int) func(*GoogleOptions) {
	return func(o *GoogleOptions) {
		o.Accelerator, o.Nodes = a, func(context.Context) (int, error) { return n, nil }
	}
}

func withoutAnnotation(o *GoogleOptions) {
	o.Identity = func(context.Context) (string, error) { return "", nil }
}

// Everything that needs the project is skipped if the credentials have expired.
func TestCredentialsHaveExpired(t *testing.T) {
	g := serve(t, nil)
	g.tokens.Expire()
	results := run(t, options(g.env))
	if got := find(t, results, ProjectCheck); got.State != Wrong || got.Fix != "correct or unset GOOGLE_APPLICATION_CREDENTIALS, which is "+g.env(api.EnvCredentials) {
		t.Errorf("got %v", got)
	}
	if got := find(t, results, StoreCheck); got.State != Skipped || got.Detail != "needs: project" {
		t.Errorf("got %v", got)
	}
}

// The same as above, with the state that other commands see and change.
func TestAProjectAsUpMakesIt(t *testing.T) {
	s := equipped(t, &storage.Bucket{Name: "acme-kn-c-jobs", Labels: map[string]string{"goog-packaged-solution": "kinetic"}, Lifecycle: &storage.BucketLifecycle{Rule: []*storage.BucketLifecycleRule{
		{Action: &storage.BucketLifecycleRuleAction{Type: "Delete"}, Condition: &storage.BucketLifecycleRuleCondition{Age: new(int64(30))}}}}})
	o := options(s.Env)
	o.Accelerator = parse(t, "l4")
	wrong := func() map[string]string {
		t.Helper()
		found := map[string]string{}
		for _, r := range run(t, o) {
			if r.State == Wrong {
				found[r.Name] = r.Fix
			}
		}
		return found
	}
	if diff := cmp.Diff(map[string]string{
		"Workload Identity": "gcloud iam service-accounts add-iam-policy-binding jobs@acme.iam.gserviceaccount.com --role=roles/iam.workloadIdentityUser --member='" + member + "'",
		"lifecycle":         "kubectl kinetic doctor --fix",
	}, wrong()); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	if did := Repair(t.Context(), run(t, o)); len(did) != 1 || did[0].Err != nil {
		t.Errorf("did %v", did)
	}
	s.Grant("projects/acme/serviceAccounts/jobs@acme.iam.gserviceaccount.com", "roles/iam.workloadIdentityUser", member)
	s.Grant("b/acme-kn-c-jobs", "roles/storage.objectUser", "serviceAccount:jobs@acme.iam.gserviceaccount.com")
	s.Grant("b/acme-kn-c-jobs", infracloud.BucketReader, "serviceAccount:jobs@acme.iam.gserviceaccount.com")
	if diff := cmp.Diff(map[string]string{}, wrong()); diff != "" {
		t.Errorf("then (-want +got):\n%s", diff)
	}
	s.SetProject("acme", func(p *gcptest.Project) { delete(p.APIs, "cloudbuild.googleapis.com") })
	if diff := cmp.Diff(map[string]string{"APIs": "gcloud services enable cloudbuild.googleapis.com --project acme"}, wrong()); diff != "" {
		t.Errorf("without an API that up enables (-want +got):\n%s", diff)
	}
	s.SetProject("acme", func(p *gcptest.Project) { p.APIs["cloudbuild.googleapis.com"] = true })
	s.Deny("storage.objects.create")
	if diff := cmp.Diff([]string{StoreCheck}, slices.Collect(maps.Keys(wrong()))); diff != "" {
		t.Errorf("without a right (-want +got):\n%s", diff)
	}
}

func TestEmulator(t *testing.T) {
	s, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", Port: 0,
		InitialObjects: []fakestorage.Object{{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "kinetic", Name: "a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	for store, want := range map[string]State{"gs://kinetic": OK, "gs://other": Wrong} {
		o := options(func(name string) string { return map[string]string{api.EnvStorageEmulator: s.URL()}[name] })
		o.Target.Store, o.Target.GKE = store, false
		if got := find(t, run(t, o), StoreCheck); got.State != want {
			t.Errorf("%s: got %v", store, got)
		}
	}
}

func TestRegistryAnswers(t *testing.T) {
	for code, want := range map[int]State{200: OK, 401: OK, 404: Wrong} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		if got := answers(t.Context(), strings.TrimPrefix(s.URL, "http://")+"/team/images"); got.State != want {
			t.Errorf("%d: got %v", code, got)
		}
		s.Close()
	}
}
