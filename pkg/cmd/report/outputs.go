package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/job/outputs"
)

// CopyOutputs copies the output at a path to dest, or all that are below it into the directory dest, and says
// so. What was copied before is not copied again.
func CopyOutputs(ctx context.Context, screen *ui.UI, dir *outputs.Dir, at, dest string) (done outputs.Copied, err error) {
	files, followed, err := dir.WithLinks(ctx, at)
	if err != nil {
		return done, err
	}
	if len(files) == 0 {
		return done, dir.None()
	}
	folder, plan, err := destinationOf(files, at, followed, dest)
	if err != nil {
		return done, err
	}
	root, err := outputs.OpenFolder(folder, !isFile(files, followed))
	if err != nil {
		return done, fmt.Errorf("copying outputs to %s: %w", dest, err)
	}
	defer func() { _ = root.Close() }() // nothing is written through it any more
	var total int64
	incomplete := 0
	for _, t := range plan {
		total += t.Size
		if t.Incomplete {
			incomplete++
		}
	}
	bar := screen.Progress("copying", total)
	done, err = dir.Copy(ctx, plan, root, bar.Add)
	bar.Done()
	if done.Files == 0 {
		return done, err
	}
	said := fmt.Sprintf("%s, %s, to %s", human.Count(done.Files, "file"), human.Bytes(done.Bytes), dest)
	if done.Same > 0 {
		said += fmt.Sprintf("; %d already existed with the same content", done.Same)
	}
	if incomplete > 0 {
		said += fmt.Sprintf("; %d incomplete, with names that end in .incomplete", incomplete)
	}
	screen.Phase("copied", said)
	return done, err
}

// isFile reports whether the path of some outputs is that of a file.
func isFile(files []outputs.File, at string) bool { return at != "" && files[0].Name == at }

// destinationOf returns the directory that the files are copied to, and the name that each gets there. The
// path followed is at, or where that leads through links.
func destinationOf(files []outputs.File, at, followed, dest string) (string, []outputs.Transfer, error) {
	if !isFile(files, followed) {
		plan, err := outputs.Below(files, followed)
		return dest, plan, err
	}
	info, err := os.Stat(dest)
	switch {
	case err == nil && info.IsDir(), dest != "" && os.IsPathSeparator(dest[len(dest)-1]):
		return dest, []outputs.Transfer{outputs.As(files[0], path.Base(at))}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("copying output %s: %w", at, err)
	default:
		return filepath.Dir(dest), []outputs.Transfer{outputs.As(files[0], filepath.Base(dest))}, nil
	}
}
