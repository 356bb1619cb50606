package doctor

import (
	"strings"
	"testing"
)

// Only the rule that keras-kinetic makes is changed, and only in the cluster's own bucket.
func TestRepairNarrowsTheRule(t *testing.T) {
	const python, ours, own = `"goog-packaged-solution":"kinetic"`, `"kinetic":"true","app-kubernetes-io-managed-by":"kubectl-kinetic"`, "gs://acme-kn-c-jobs"
	byHand := func(prefixes string) string {
		return "gcloud storage buckets update gs://acme-kn-c-jobs --lifecycle-file=FILE, with the rule limited by \"matchesPrefix\": [" + prefixes + "]"
	}
	for name, tt := range map[string]struct{ store, labels, project, condition, fix string }{
		"a bucket of keras-kinetic":  {own, python, "", `"age":30`, "kubectl kinetic doctor --fix"},
		"in this project":            {own, python, `"projectNumber":"123",`, `"age":30`, "kubectl kinetic doctor --fix"},
		"in another project":         {own, python, `"projectNumber":"456",`, `"age":30`, byHand(`"blobs/","data/","pathways/","warm/"`)},
		"a bucket of up":             {own, ours, "", `"age":30`, "kubectl kinetic doctor --fix"},
		"someone else's":             {own, `"team":"a"`, "", `"age":30`, byHand(`"blobs/","data/","pathways/","warm/"`)},
		"a bucket for other things":  {own + "/team/one", python, "", `"age":30`, byHand(`"team/one/blobs/","team/one/data/","team/one/pathways/","team/one/warm/"`)},
		"a condition of later":       {own, python, "", `"age":30,"later":true`, byHand(`"blobs/","data/","pathways/","warm/"`)},
		"a week":                     {own, python, "", `"age":7`, byHand(`"blobs/","data/","pathways/","warm/"`) + ` and "age": 30 in the rule`},
		"one's own, by names":        {own, ours, "", `"age":30,"matchesPrefix":["tpu-"]`, byHand(`"blobs/","data/","pathways/","warm/"`)},
		"a rule for a storage class": {own, python, "", `"age":30,"matchesStorageClass":["STANDARD"]`, byHand(`"blobs/","data/","pathways/","warm/"`)},
	} {
		g := serve(t, map[string]string{
			"GET " + bucketPath: `{"metageneration":"7",` + tt.project + `"labels":{` + tt.labels + `},"lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{` + tt.condition + `}},` +
				`{"action":{"type":"SetStorageClass","storageClass":"NEARLINE"},"condition":{"age":9}}]}}`,
			"PATCH " + bucketPath: `{}`,
		})
		o := options(g.env)
		o.Target.Store = tt.store
		results := run(t, o)
		if got := find(t, results, "lifecycle"); got.State != Wrong || got.Fix != tt.fix {
			t.Errorf("%s: got %s, fix %q, want %q", name, got.State, got.Fix, tt.fix)
		}
		did := Repair(t.Context(), results)
		if tt.fix != o.FixCommand {
			if len(did)+len(g.sent) > 0 {
				t.Errorf("%s: did %v, sent %q", name, did, g.sent)
			}
			continue
		}
		if len(did) != 1 || did[0].Err != nil || !strings.Contains(did[0].Did, "limited the deletion rule of the bucket acme-kn-c-jobs") {
			t.Errorf("%s: did %v", name, did)
		}
		if len(g.sent) != 1 || !strings.Contains(g.sent[0], "ifMetagenerationMatch=7") || !strings.Contains(g.sent[0], `"matchesPrefix":["blobs/","data/","pathways/","warm/"]`) || !strings.Contains(g.sent[0], "NEARLINE") {
			t.Errorf("%s: sent %q", name, g.sent)
		}
	}
	rule := `{"action":{"type":"Delete"},"condition":{"age":30}}`
	g := serve(t, map[string]string{"GET " + bucketPath: `{"labels":{` + python + `},"lifecycle":{"rule":[` + rule + `]}}`, "PATCH " + bucketPath: answerRefused(412, "someone changed it")})
	if did := Repair(t.Context(), run(t, options(g.env))); len(did) != 1 || did[0].Err == nil {
		t.Errorf("did %v", did)
	}
}

// A rule for certain names deletes results, too, and one for what jobs share can come too early.
func TestRulesForNames(t *testing.T) {
	const store, update = "gs://acme-kn-c-jobs", "gcloud storage buckets update gs://acme-kn-c-jobs --lifecycle-file=FILE, with "
	for name, tt := range map[string]struct {
		store, conditions, detail, fix string
		state                          State
	}{
		"the store's folder": {store + "/team", `{"age":7,"matchesPrefix":["team/"]}`, "deletes results and outputs: it deletes team/ after 7 days",
			update + `the rule limited by "matchesPrefix": ["team/blobs/","team/data/","team/pathways/","team/warm/"] and "age": 30 in the rule`, Wrong},
		"names of jobs":          {store, `{"age":1,"matchesPrefix":["tpu-","cpu-"]}`, "deletes results and outputs: it deletes tpu- and cpu- after a day", update + `the rule limited by "matchesPrefix": ["blobs/","data/","pathways/","warm/"]`, Wrong},
		"pickles":                {store, `{"age":30,"matchesSuffix":[".pkl"]}`, `deletes results and outputs: it deletes everything after 30 days, only {"matchesSuffix":[".pkl"]}`, update + `the rule limited by "matchesPrefix": ["blobs/","data/","pathways/","warm/"]`, Wrong},
		"code after a day":       {store, `{"age":1,"matchesPrefix":["blobs/"]}`, "deletes what jobs still use: it deletes blobs/ after a day", update + `"age": 30 in the rule`, Wrong},
		"names of jobs, late":    {store, `{"age":365,"matchesPrefix":["tpu-"]}`, "deletes results and outputs: it deletes tpu- after 365 days", "", OK},
		"a late one, then early": {store, `{"age":365},{"age":1,"matchesPrefix":["blobs/"]}`, "deletes what jobs still use", update + `"age": 30 in the rule`, Wrong},
		"other things":           {store + "/team", `{"age":1,"matchesPrefix":["tmp/"]}`, "no rule deletes results", "", OK},
	} {
		rules := strings.ReplaceAll(`{"action":{"type":"Delete"},"condition":`+tt.conditions+`}`, "},{", `}},{"action":{"type":"Delete"},"condition":{`)
		g := serve(t, map[string]string{"GET " + bucketPath: `{"lifecycle":{"rule":[` + rules + `]}}`})
		o := options(g.env)
		o.Target.Store = tt.store
		if got := find(t, run(t, o), "lifecycle"); got.State != tt.state || !strings.Contains(got.Detail, tt.detail) || got.Fix != tt.fix {
			t.Errorf("%s: got %v, %s; fix %s", name, got.State, got.Detail, got.Fix)
		}
	}
}
