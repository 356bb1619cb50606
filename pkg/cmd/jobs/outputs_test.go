package jobs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestParseOutputArgs(t *testing.T) {
	sub := &cobra.Command{Use: "outputs"}
	for typed, want := range map[string]string{
		"a1":              "[a1] ls []",
		"a1 ls":           "[a1] ls []",
		"a1 ls deep":      "[a1] ls [deep]",
		"ls a1":           "[a1] ls []",
		"ls a1 deep":      "[a1] ls [deep]",
		"cp a1 out":       "[a1] cp [out]",
		"a1 cp deep out":  "[a1] cp [deep out]",
		"cat a1 x y":      "[a1] cat [x y]",
		"cat ls":          "[cat] ls []",
		"ls ls ls":        "[ls] ls [ls]",
		"":                "job ID required",
		"cp":              "job ID required",
		"a1 cp":           "outputs cp takes [PATH] DEST, got 0 arguments",
		"a1 cpu-out":      `"cpu-out" is not a command; expected ls, cp, cat or rm after the job ID`,
		"a1 get":          `did you mean "cp"?`,
		"ls a1 deep more": "outputs ls takes [PATH], got 2 arguments",
		"--last":          "[] ls []",
		"--last cp out":   "[] cp [out]",
		"--last cat":      "outputs cat takes PATH…, got 0 arguments",
	} {
		words := strings.Fields(typed)
		flagged := len(words) > 0 && words[0] == "--last"
		if flagged {
			words = words[1:]
		}
		a, err := parseOutputArgs(sub, words, &jobFlags{Last: flagged})
		got := fmt.Sprint(a.ids, " ", a.verb, " ", a.args)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", typed, got, want)
		}
	}
}
