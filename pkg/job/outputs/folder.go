package outputs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// fetchedText explains the marker to those who find it. It is the same for all jobs: the directory may be
// sent as data, which is named by its content.
const fetchedText = "Outputs of a job that were copied here. Because of this file, kubectl kinetic run doesn't package the directory with the code.\n"

// OpenFolder opens the directory that outputs are copied to, and makes it first if it is missing. If it
// will have nothing but outputs, it is marked as no part of a project.
func OpenFolder(dir string, onlyOutputs bool) (*os.Root, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return nil, err
	}
	if onlyOutputs && len(entries) == 0 {
		if err := os.WriteFile(filepath.Join(dir, api.FetchedMarker), []byte(fetchedText), 0o666); err != nil {
			return nil, err
		}
	}
	return os.OpenRoot(dir)
}
