package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/runner/runnertest"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestRunnerHasTheSameNames(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	runnertest.Compare(t, map[string]string{
		fmt.Sprintf("blob_name(%q)", sum):          Blob(sum),
		fmt.Sprintf("mounted_folder(%q)", sum):     DataTree(sum),
		fmt.Sprintf("mounted_record(%q)", sum):     DataRecord(sum),
		"job_name('j', 'call.json')":               Call("j"),
		"job_name('j', 'end.json')":                End("j"),
		"job_name('j', 'result.json')":             Result("j"),
		"environment_name('j')":                    Environment("j"),
		"job_name('j', 'result-2.pkl')":            Pickle("j", "result-2.pkl"),
		"log_part_name('j', 3, 1, 2)":              LogPart("j", 3, 1, 2),
		"'j/' + index_name(3)":                     Sync("j", 3),
		"'j/' + SYNC":                              SyncDir("j"),
		"incomplete_folder(3)":                     IncompleteFolder() + "3/",
		"result_name('j', 7)":                      ResultOf("j", 7),
		"Records(None, 'j').name(2)":               Attempts("j") + "2.json",
		"tries_name('j', 7)":                       Results("j") + "7.try",
		"OBJECTS['hashes'] % ('j', 3, tail(1))":    Hashes("j", 3, 1),
		"OBJECTS['hashes'] % ('j', 3, tail(2))":    Hashes("j", 3, 2),
		"Records(None, 'j', '4-').name(2)":         AttemptsOfChunk("j", 4) + "2.json",
		"FileStore('file:///').outputs('j') + '/'": "/" + Outputs("j"),
	}, "store.names", "store.files", "maps.inputs", "records", "outputs.plain")
}

func TestRunnerTakesTheSameIDs(t *testing.T) {
	theirs := runnertest.Eval[[]string](t, "RESERVED_IDS", "options")
	ids := slices.Concat(api.Contract.IDs.Reserved, theirs, []string{
		"a1", "a", "-a", "a-", "A1", "../x", "a/b", "ab\n", "",
		strings.Repeat("a", 50), strings.Repeat("a", 51), "cpu-f-20260417-153012-abc1234",
	})
	want := map[string]bool{}
	for _, id := range ids {
		want[fmt.Sprintf("bool(JOB_ID.fullmatch(%[1]q)) and %[1]q not in RESERVED_IDS", id)] = CheckID(id) == nil
	}
	runnertest.Compare(t, want, "options")
}
