package platform

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
)

// OpenBrowser opens a URL in the user's browser, with the program that the system has for that.
func OpenBrowser(ctx context.Context, url string) error {
	argv := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", url}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	output, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil && len(output) > 0 {
		return fmt.Errorf("%w: %s", err, LastLines(string(output), 1))
	}
	return err
}
