package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/report"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
)

// outputVerbs are the verbs of outputs, each with the limits for the number of its
// arguments, how the usage shows them, the values of -o, and the words of other tools.
var outputVerbs = map[string]struct {
	least, most    int
	args           string
	formats, words []string
}{
	"ls":  {0, 1, "[PATH]", []string{"wide", "json", "name"}, []string{"list", "dir", "find"}},
	"cp":  {1, 2, "[PATH] DEST", []string{"json"}, []string{"copy", "download", "get"}},
	"cat": {1, 1 << 20, "PATH…", nil, []string{"show", "print", "view"}},
	"rm":  {0, 1 << 20, "PATH… or --all", []string{"json"}, []string{"delete", "remove", "del"}},
}

func (c *command) outputs() *cobra.Command {
	var output string
	var parsed outputArgs
	var rm outputRemoval
	own := cli.NewSection("Flags")
	own.Flags.StringVarP(&output, "output", "o", "", "Output `FORMAT`: json; of ls also wide or name.")
	own.Offer("output", "wide", "json", "name")
	own.Flags.BoolVar(&rm.all, "all", false, "rm: Delete all outputs.")
	own.Flags.BoolVarP(&rm.yes, "yes", "y", false, "rm: Don't ask for confirmation.")
	own.Flags.BoolVar(&rm.force, "force", false, "rm: Delete outputs of a job that has not ended. It may write them again.")
	sub := &cobra.Command{
		Use:   "outputs ID [ls [PATH] | cp [PATH] DEST | cat PATH… | rm PATH…]",
		Short: "List, copy, print and delete the files a job wrote to KINETIC_OUTPUT_DIR",
		Long: "List, copy, print and delete the files a job wrote to KINETIC_OUTPUT_DIR.\n\n" +
			"ls, the default, lists all files below PATH, sorted by name, and links as NAME -> TARGET.\n" +
			"A file is incomplete if the call ended before it, or the checkpoint that it is part of, was\n" +
			"finished. Incomplete files are not restored.\n\n" +
			"cp copies the file PATH to DEST, or everything below PATH into the directory DEST;\n" +
			"without PATH, everything. Files that already exist with the same content are skipped,\n" +
			"and large ones continue where an interrupted copy stopped. A DEST of - prints one file to standard output.\n" +
			"Unless PATH is a file, cp puts a file .kinetic-outputs into a directory that it creates or\n" +
			"finds empty, so that run doesn't package the directory.\n\n" +
			"cat prints files to standard output.\n\n" +
			"rm deletes files, and everything below directories. A job that resumes from this one\n" +
			"(--resume-from) starts without them.",
		Example: "  kubectl kinetic jobs outputs cpu-train\n\n" +
			"  # copy everything to the directory out\n  kubectl kinetic jobs outputs cpu-train cp out\n\n" +
			"  # print a file\n  kubectl kinetic jobs outputs cpu-train cat metrics.json\n\n" +
			"  # delete a checkpoint\n  kubectl kinetic jobs outputs cpu-train rm checkpoint-500",
		Args: func(sub *cobra.Command, args []string) error {
			var err error
			parsed, err = parseOutputArgs(sub, args, &c.choice)
			if err == nil {
				err = rm.check(parsed)
			}
			return err
		},
		ValidArgsFunction: c.completeOutputs,
		RunE:              cli.RunE(func(ctx context.Context, _ []string) error { return c.runOutputs(ctx, parsed, output, rm) }),
	}
	return c.finish(sub, own, c.choice.Section())
}

func (c *command) runOutputs(ctx context.Context, parsed outputArgs, output string, rm outputRemoval) error {
	if output != "" {
		valid := outputVerbs[parsed.verb].formats
		if valid == nil {
			return cli.Usagef("outputs %s prints files as they are: omit --output", parsed.verb)
		}
		if err := cli.OneOf("--output", output, valid); err != nil {
			return err
		}
	}
	j, err := c.choice.Job(ctx, parsed.ids)
	if gone, ok := errors.AsType[*job.IDError](err); ok && gone.Left != nil {
		j, err = gone.Left, nil
	}
	if err != nil {
		return err
	}
	dir, err := outputs.Of(j)
	if err != nil {
		return err
	}
	report.TidyOutputs(ctx, c.streams.ErrOut, j) // first, because that changes the URLs
	if parsed.verb == "rm" {
		return notThere(c.removeOutputs(ctx, j, dir, output, parsed.args, rm))
	}
	return notThere(c.workOnOutputs(ctx, j, dir, output, parsed.verb, parsed.args))
}

// outputArgs are the arguments of outputs: an ID, unless flags choose the job, a verb, and
// its arguments.
type outputArgs struct {
	ids  []string
	verb string
	args []string
}

// parseOutputArgs parses the arguments of outputs. The verb may also come before the id, and
// is ls if it is missing. Flags may choose the job.
func parseOutputArgs(sub *cobra.Command, words []string, flags *jobFlags) (outputArgs, error) {
	isVerb := func(i int) bool {
		if i >= len(words) {
			return false
		}
		_, known := outputVerbs[words[i]]
		return known
	}
	var a outputArgs
	switch {
	case flags.Any():
		a.args = words
	case len(words) == 0, len(words) == 1 && isVerb(0):
		return a, flags.NoID(sub)
	case isVerb(0) && !isVerb(1):
		a.ids, a.args = words[1:2], append([]string{words[0]}, words[2:]...)
	default:
		a.ids, a.args = words[:1], words[1:]
	}
	if len(a.args) == 0 {
		a.args = []string{"ls"}
	}
	a.verb, a.args = a.args[0], a.args[1:]
	verb, known := outputVerbs[a.verb]
	if !known {
		return a, cli.Usagef("outputs: %q is not a command; expected ls, cp, cat or rm after the job ID%s", a.verb, otherOutputVerb(a.verb))
	}
	if n := len(a.args); n < verb.least || n > verb.most {
		return a, cli.Usagef("outputs %s takes %s, got %s", a.verb, verb.args, human.Count(n, "argument"))
	}
	return a, nil
}

// otherOutputVerb suggests the verb for a word that another tool uses.
func otherOutputVerb(word string) string {
	for meant, verb := range outputVerbs {
		if slices.Contains(verb.words, word) {
			return fmt.Sprintf("; did you mean %q?", meant)
		}
	}
	return ""
}

// notThere sets the exit code of errors about paths that the user typed.
func notThere(err error) error {
	if errors.As(err, new(*outputs.PathError)) {
		return cli.Usage(err)
	}
	return err
}

func (c *command) workOnOutputs(ctx context.Context, j *job.Job, dir *outputs.Dir, format, verb string, args []string) error {
	switch verb {
	case "ls":
		return c.listOutputs(ctx, j, dir, format, strings.Join(args, ""))
	case "cat":
		return c.printOutputs(ctx, dir, args)
	}
	at, dest := "", args[len(args)-1]
	if len(args) == 2 {
		at = args[0]
	}
	if dest == "-" {
		return c.printOutputs(ctx, dir, []string{at})
	}
	done, err := report.CopyOutputs(ctx, ui.New(c.streams.ErrOut, c.clock.Now), dir, at, dest)
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(c.streams.ErrOut, "interrupted; run the same command to continue")
		return cli.Exit(cli.ExitInterrupted)
	}
	if err != nil || format != "json" {
		return err
	}
	return cli.Write(c.streams.Out, cli.JSON, copiedOutputs{dest, done.Files, done.Bytes, done.Same})
}

type copiedOutputs struct {
	To    string `json:"to"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	// Unchanged is how many of the files were already there.
	Unchanged int `json:"unchanged"`
}

func (c *command) listOutputs(ctx context.Context, j *job.Job, dir *outputs.Dir, format, at string) error {
	found, err := dir.All(ctx, at)
	if err != nil {
		return err
	}
	files := found.Files
	if format == "json" {
		return cli.Write(c.streams.Out, cli.JSON, map[string]any{"items": append([]outputs.File{}, files...)})
	}
	if len(files) == 0 {
		_, err := fmt.Fprintf(c.streams.ErrOut, "job %s has no outputs in %s%s\n", j.ID(), dir.URL(), unsavedOutputs(found.Pending))
		return err
	}
	if format == "name" {
		for _, f := range files {
			if _, err := fmt.Fprintln(c.streams.Out, f.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return c.printOutputTable(files, found.Synced, format == "wide")
}

// unsavedOutputs says that a running job has written something, although nothing is saved.
func unsavedOutputs(pending []string) string {
	if len(pending) == 0 {
		return ""
	}
	const shown = 3
	names := strings.Join(pending[:min(len(pending), shown)], ", ")
	if len(pending) > shown {
		names += ", …"
	}
	return fmt.Sprintf(" yet: %s written, none saved yet: %s", human.Count(len(pending), "output"), names)
}

// printOutputTable prints files, and which of them are complete if that is known.
func (c *command) printOutputTable(files []outputs.File, synced, wide bool) error {
	columns := []ui.Column{{Header: "name", Text: true}, {Header: "size"}, {Header: "age"}}
	if synced {
		columns = append(columns, ui.Column{Header: "state", Text: true})
	}
	if wide {
		columns = append(columns, ui.Columns("updated", "url")...)
	}
	table := ui.NewFitted(c.streams.Out, ui.Detect(c.streams.Out), true, columns...)
	for _, f := range files {
		row := []string{outputName(f), human.Bytes(f.Size), ui.Age(f.Updated, c.clock.Now())}
		if synced {
			row = append(row, outputState(f))
		}
		if wide {
			updated := "" // a link's time is not known
			if !f.Updated.IsZero() {
				updated = f.Updated.Format(time.RFC3339)
			}
			row = append(row, updated, f.URL)
		}
		table.Row(row...)
	}
	return table.Flush()
}

// outputName is a file's name, and where it leads if it is a link.
func outputName(f outputs.File) string {
	if f.Link == "" {
		return f.Name
	}
	return f.Name + " -> " + f.Link
}

func outputState(f outputs.File) string {
	if f.Incomplete && f.Reason != "" {
		return "incomplete: " + f.Reason
	}
	if f.Incomplete {
		return "incomplete"
	}
	return "complete"
}

// printOutputs finds all files before it prints the first.
func (c *command) printOutputs(ctx context.Context, dir *outputs.Dir, paths []string) error {
	files := make([]outputs.File, len(paths))
	for i, at := range paths {
		if at == "" {
			return cli.Usagef("DEST - (standard output) takes a single file: add its PATH")
		}
		var err error
		if files[i], err = dir.File(ctx, at); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := dir.Write(ctx, f, c.streams.Out); err != nil {
			return err
		}
	}
	return nil
}

// completeOutputs completes ids, verbs, and the paths of the job's outputs.
func (c *command) completeOutputs(sub *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	named := c.choice.Any()
	switch {
	case len(args) == 0 && !named:
		return c.choice.CompleteIDs(sub, args, word)
	case len(args) == 0, len(args) == 1 && !named:
		if len(args) == 1 && outputVerbs[args[0]].args != "" {
			return c.choice.CompleteIDs(sub, nil, word)
		}
		return []string{"ls\tlist files", "cp\tcopy them here", "cat\tprint them", "rm\tdelete them"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	a, err := parseOutputArgs(sub, append(slices.Clone(args), "x"), &c.choice) // x stands for the path that is being typed
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if a.verb == "cp" && len(a.args) > 1 {
		return nil, cobra.ShellCompDirectiveDefault // a local path
	}
	names, _ := cli.Promptly(sub.Context(), func(ctx context.Context) ([]string, error) {
		j, err := c.choice.Job(ctx, a.ids)
		if err != nil {
			return nil, err
		}
		dir, err := outputs.Of(j)
		if err != nil {
			return nil, err
		}
		return dir.Complete(ctx, word)
	})
	directive := cobra.ShellCompDirectiveNoFileComp
	if a.verb == "cp" {
		directive = cobra.ShellCompDirectiveDefault // it may be DEST
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "/") }) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return names, directive
}
