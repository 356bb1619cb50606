package submit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/amount"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// validate rejects what no cluster would accept, and names the flag, before anything is
// read or hashed.
func validate(r api.Request) error {
	return errors.Join(
		validateIdentity(r),
		dnsName("--service-account", r.ServiceAccount),
		dnsName("--store-credentials", r.StoreCredentials),
		labelName("--queue", r.Queue),
		dnsName("--priority-class", r.PriorityClass),
		validateComputeClass(r.ComputeClass),
		validateReservation(r),
		amount.Positive("--cpu", r.CPU),
		amount.Size("--memory", r.Memory),
		validateDisk(r),
		validateLabels(r.Labels),
		validateAnnotations(r.Annotations),
		validateMaxRuntime(r),
		validateHang(r),
		validateCache(r),
		validateProcesses(r),
		validateMaxCost(r),
		validateImage(r.Image),
		validateImages(r),
		validateDebug(r),
		validateMap(r),
		validateResumeFrom(r),
		validateOutputMount(r),
		validatePathways(r),
	)
}

func validateResumeFrom(r api.Request) error {
	switch {
	case r.ResumeFrom == "":
		return nil
	case r.Map != "":
		return errors.New("--resume-from cannot be combined with --map: --map-resume reuses the values of a map")
	case r.OutputDir != "":
		return errors.New("--resume-from cannot be combined with --output-dir or KINETIC_OUTPUT_DIR, which name the outputs to begin with themselves")
	}
	if r.ResumeFrom == LastJob {
		return nil
	}
	if err := store.CheckID(r.ResumeFrom); err != nil {
		return fmt.Errorf("--resume-from: %w", err)
	}
	return nil
}

func validateIdentity(r api.Request) error {
	if r.JobID == "" {
		return nil
	}
	if r.Name != "" {
		return errors.New("--name cannot be combined with --job-id, which sets the whole ID")
	}
	if err := store.CheckID(r.JobID); err != nil {
		return fmt.Errorf("--job-id: %w", err)
	}
	return nil
}

func validateDebug(r api.Request) error {
	if r.Debug && r.Command {
		return errors.New("--debug cannot be combined with --command: name a Python script as TARGET, or start debugpy in the command")
	}
	return nil
}

func dnsName(flag, value string) error {
	if why := validation.IsDNS1123Subdomain(value); value != "" && len(why) > 0 {
		return fmt.Errorf("%s %q: %s", flag, value, plainly(why))
	}
	return nil
}

// labelName checks a name that is also the value of a label, which is shorter.
func labelName(flag, value string) error {
	return cmp.Or(dnsName(flag, value), labelValue(flag, value))
}

func labelValue(flag, value string) error {
	if why := validation.IsValidLabelValue(value); len(why) > 0 {
		return fmt.Errorf("%s %q: %s", flag, value, plainly(why))
	}
	return nil
}

// plainly returns the first problem with a name, without the regular expression that
// follows it.
func plainly(why []string) string {
	text, _, _ := strings.Cut(why[0], " (e.g. ")
	return text
}

func validateComputeClass(name string) error {
	if api.IsBuiltInClass(name) {
		return nil
	}
	err := labelName("--compute-class", name)
	if err != nil && strings.ToLower(name) != name {
		return fmt.Errorf("%w; the classes of Autopilot are %s", err, strings.Join(api.BuiltInClasses(), ", "))
	}
	return err
}

func validateReservation(r api.Request) error {
	if r.Reservation == "" {
		return nil
	}
	parsed, err := api.ParseReservation(r.Reservation)
	if err != nil {
		return fmt.Errorf("--reservation %q: %w", r.Reservation, err)
	}
	const flag = "--reservation"
	return errors.Join(labelValue(flag, parsed.Project), labelName(flag, parsed.Name), labelName(flag, parsed.Block), labelName(flag, parsed.SubBlock))
}

func validateLabels(labels map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if err := metadataKey("--label", key); err != nil {
			return err
		}
		if key == api.LabelQueue { // pods must not have it, and the name of a set depends on it
			return fmt.Errorf("--label %s=%s: use --queue %s instead", key, labels[key], labels[key])
		}
		if why := validation.IsValidLabelValue(labels[key]); len(why) > 0 {
			return fmt.Errorf("--label %s=%s: %s", key, labels[key], plainly(why))
		}
	}
	return nil
}

func validateAnnotations(annotations map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if err := metadataKey("--annotation", key); err != nil {
			return err
		}
		if !utf8.ValidString(annotations[key]) {
			return fmt.Errorf("--annotation %s: the value is not UTF-8", key)
		}
	}
	return nil
}

func ours(key string) bool {
	return key == api.LabelApp || key == api.LabelJobID || key == "job-name" ||
		strings.HasPrefix(key, api.AnnotationPrefix) || strings.HasPrefix(key, "app.kubernetes.io/") ||
		strings.HasPrefix(key, "batch.kubernetes.io/")
}

func metadataKey(flag, key string) error {
	if why := validation.IsQualifiedName(key); len(why) > 0 {
		return fmt.Errorf("%s %q: %s", flag, key, plainly(why))
	}
	if ours(key) {
		return fmt.Errorf("%s %s: reserved: kinetic sets this key", flag, key)
	}
	return nil
}

func validateHang(r api.Request) error {
	switch {
	case r.HangTimeout == 0 && r.HangAction != "":
		return fmt.Errorf("--hang-action %s requires --hang-timeout DURATION", r.HangAction)
	case r.HangTimeout != 0 && r.Map != "":
		return errors.New("--hang-timeout cannot be combined with --map: --max-runtime limits a chunk")
	case r.HangTimeout != 0 && r.Debug:
		return errors.New("--hang-timeout cannot be combined with --debug: a call that waits for its debugger would hang")
	}
	return nil
}

func validateProcesses(r api.Request) error {
	flag := "--processes-per-host " + r.Processes
	switch count, err := strconv.Atoi(r.Processes); {
	case r.Processes == "":
		return nil
	case r.Processes != api.ProcessesAuto && (err != nil || count < 1 || count > maxProcesses):
		return fmt.Errorf("--processes-per-host %q: expected auto or a number from 1 to %d", r.Processes, maxProcesses)
	case r.Map != "":
		return fmt.Errorf("%s cannot be combined with --map, whose pods take one input at a time", flag)
	case r.Debug:
		return fmt.Errorf("%s cannot be combined with --debug, which is for one process", flag)
	}
	return nil
}

// maxProcesses is far more than a host has GPUs.
const maxProcesses = 1024

func validateMaxRuntime(r api.Request) error {
	if r.MaxRuntime < 0 {
		return fmt.Errorf("--max-runtime %s: must be positive", r.MaxRuntime)
	}
	return nil
}

func validateImage(text string) error {
	modes := []string{string(decide.Bundled), string(decide.Prebuilt)}
	if text == "" || slices.Contains(modes, text) {
		return nil
	}
	if hint := human.DidYouMean(text, modes); len(text) > 4 && hint != "" && !strings.ContainsAny(text, "/:.@") {
		return fmt.Errorf("--image %s: %s", text, hint)
	}
	if image.IsName(text) {
		return nil
	}
	if image.IsName(strings.ToLower(text)) {
		return fmt.Errorf("--image %q: only an image's tag may contain capitals", text)
	}
	return fmt.Errorf("--image %q: not the name of an image, such as python:3.12-slim or us-docker.pkg.dev/PROJECT/REPOSITORY/IMAGE:TAG", text)
}

// validateImages rejects flags that say how an image is made, and can't be meant so.
func validateImages(r api.Request) error {
	i := r.Images
	if err := errors.Join(image.CheckRepository("--image-repo", i.ImageRepo), image.CheckBase("--base-image", i.BaseImage),
		image.CheckRepository("--base-image-repo", i.BaseImageRepo)); err != nil {
		return err
	}
	if i.BaseImage != "" && i.BaseImageRepo != "" {
		return fmt.Errorf("--base-image %s and --base-image-repo %s: use one of them", i.BaseImage, i.BaseImageRepo)
	}
	if i.NoDeps && (i.Requirements != "" || len(i.Extras)+len(i.Groups) > 0) {
		return errors.New("--no-deps cannot be combined with --requirements, --extra or --group, which say what to install")
	}
	return nil
}
