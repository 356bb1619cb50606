package submit

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// hubScheme begins the URLs of data sets of Hugging Face.
const hubScheme = "hf://"

const claimScheme = "pvc://"

type input struct {
	// Flag is the flag as typed, for messages.
	Flag string
	// api.Data lacks what depends on the files themselves.
	api.Data
	// Local is the path of a local source as typed, "" for any other.
	Local string
}

const namePattern = `^[A-Za-z_][A-Za-z0-9_]*$`

func parseInputs(named, volumes []string) ([]input, error) {
	var inputs []input
	for _, value := range named {
		in, err := parseNamed(value)
		if err != nil {
			return nil, fmt.Errorf("--data %s: %w", value, err)
		}
		in.Flag = "--data " + value
		inputs = append(inputs, in)
	}
	for _, value := range volumes {
		in, err := parseVolume(value)
		if err != nil {
			return nil, fmt.Errorf("--volume %s: %w", value, err)
		}
		in.Flag = "--volume " + value
		inputs = append(inputs, in)
	}
	return inputs, checkTogether(inputs)
}

// parseNamed parses NAME=SRC[,fuse][,cache=SIZE].
func parseNamed(value string) (input, error) {
	name, src, found := strings.Cut(value, "=")
	if !found || src == "" {
		return input{}, errors.New("expected NAME=SRC, such as images=./images")
	}
	if !lazyregexp.Of(namePattern).MatchString(name) {
		return input{}, fmt.Errorf("%q is not a name: expected letters, digits and _, not beginning with a digit", name)
	}
	in, err := parseSource(src)
	if err != nil {
		return in, err
	}
	if in.Writable {
		return in, errors.New("rw is only for --volume: mounted data is read-only, and copied data is writable anyway")
	}
	in.Name = name
	switch in.Access {
	case api.AccessFUSE:
		in.mountParent()
	case api.AccessClaim: // Kubernetes would make a folder that is missing
		in.Folder, in.File = "", in.Folder
	}
	in.Path = in.MountPath()
	return in, in.checkFolder()
}

// mountParent mounts the folder that has what is named, so that it may be a file or a
// folder: only the pod can tell.
func (in *input) mountParent() {
	if in.Folder == "" || strings.HasSuffix(in.Source, "/") {
		return
	}
	in.Folder, in.File = path.Split(in.Folder)
	in.Folder = strings.TrimSuffix(in.Folder, "/")
}

// parseVolume parses /MOUNT=SRC[,fuse][,rw][,cache=SIZE].
func parseVolume(value string) (input, error) {
	mount, src, found := strings.Cut(value, "=")
	if !found || src == "" {
		return input{}, errors.New("expected /MOUNT=SRC, such as /mnt/images=gs://bucket/images")
	}
	if err := checkMount(mount); err != nil {
		return input{}, err
	}
	in, err := parseSource(src)
	if err != nil {
		return in, err
	}
	in.Mount = mount
	if in.Access != api.AccessCopy {
		in.Path = mount
	}
	return in, in.checkFolder()
}

func checkMount(mount string) error {
	// systemPaths are directories without which no program of an image runs.
	systemPaths := []string{"/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin", "/var"}
	// ownPaths are directories of the container that have another purpose.
	ownPaths := []string{"/app", "/kinetic", "/kinetic-data", api.OutputMountPath, "/proc", "/dev", "/sys"}
	switch {
	case !path.IsAbs(mount):
		return fmt.Errorf("%q is not an absolute path in the container: expected /MOUNT=SRC", mount)
	case path.Clean(mount) != mount:
		return fmt.Errorf("the path %s should be written %s", mount, path.Clean(mount))
	case strings.ContainsAny(mount, ":,"):
		return fmt.Errorf("the path %s has a colon or a comma: choose another", mount)
	}
	if slices.Contains(systemPaths, mount) {
		return fmt.Errorf("%s can't be a mount: it would hide the image's own files: choose another, such as /mnt/data", mount)
	}
	for _, own := range ownPaths {
		if covers(mount, own) || covers(own, mount) {
			return fmt.Errorf("%s can't be a mount: the job needs %s for itself: choose another, such as /mnt/data", mount, own)
		}
	}
	return nil
}

// covers reports whether a directory is at or above another.
func covers(above, below string) bool {
	return above == below || strings.HasPrefix(below, strings.TrimSuffix(above, "/")+"/")
}

// checkTogether rejects inputs that would be in each other's place.
func checkTogether(inputs []input) error {
	for i, b := range inputs {
		for _, a := range inputs[:i] {
			switch {
			case a.Name != "" && a.Name == b.Name:
				return fmt.Errorf("--data: %s is given twice", a.Name)
			case a.Name != "" && b.Name != "" && a.Variable() == b.Variable():
				return fmt.Errorf("--data: %s and %s would both set %s: rename one", a.Name, b.Name, a.Variable())
			case a.Mount != "" && a.Mount == b.Mount:
				return fmt.Errorf("--volume: %s is given twice", a.Mount)
			case a.Mount != "" && b.Mount != "" && (covers(a.Mount, b.Mount) || covers(b.Mount, a.Mount)):
				return fmt.Errorf("--volume: one of %s and %s is below the other: mount them side by side", a.Mount, b.Mount)
			}
		}
	}
	return nil
}

// sourceOptions are what may follow a source.
type sourceOptions struct {
	fuse, rw bool
	cache    string
}

func parseSource(text string) (input, error) {
	src, opts, err := cutOptions(text)
	if err != nil {
		return input{}, err
	}
	if src == "" {
		return input{}, errors.New("the source is missing: expected NAME=SRC, such as images=./images,fuse")
	}
	in := input{Data: api.Data{Source: src, Access: api.AccessCopy, Cache: opts.cache, Writable: opts.rw}}
	if opts.fuse {
		in.Access = api.AccessFUSE
	}
	scheme, _, isURL := strings.Cut(src, "://")
	switch {
	case strings.HasPrefix(src, store.BucketScheme):
		err = in.bucket(src)
	case strings.HasPrefix(src, hubScheme):
		err = in.hub(src)
	case strings.HasPrefix(src, claimScheme):
		err = in.claim(src)
	case strings.HasPrefix(src, store.FileScheme):
		in.Local = strings.TrimPrefix(src, store.FileScheme)
	case isURL:
		err = unsupportedSource(scheme, src)
	default:
		in.Local = src
	}
	return in, cmp.Or(err, in.checkOptions(opts))
}

func (in *input) checkOptions(opts sourceOptions) error {
	switch {
	case opts.cache != "" && !opts.fuse:
		return errors.New("cache=SIZE requires fuse: add fuse, or omit cache")
	case opts.rw && in.Local != "":
		return errors.New("rw: what a job writes can't go back to this machine: write to KINETIC_OUTPUT_DIR, or mount gs://BUCKET/FOLDER with fuse,rw")
	case opts.rw && in.Access == api.AccessCopy:
		return errors.New("rw requires fuse; copies are always writable")
	}
	return nil
}

// cutOptions cuts the options off the end of a source: the last words after commas that are
// options. A comma that is part of the source may be written "\,".
func cutOptions(text string) (string, sourceOptions, error) {
	var opts sourceOptions
	for {
		at := strings.LastIndexByte(text, ',')
		if at < 0 || at > 0 && text[at-1] == '\\' {
			break
		}
		word := text[at+1:]
		size, isCache := strings.CutPrefix(word, "cache=")
		switch {
		case word == "fuse":
			opts.fuse = true
		case word == "rw":
			opts.rw = true
		case word == "ro":
			return "", opts, errors.New("mounts are read-only by default: omit ro")
		case isCache:
			if q, err := resource.ParseQuantity(size); err != nil || q.Sign() <= 0 {
				return "", opts, fmt.Errorf("cache=%s: expected a size, such as 20Gi", size)
			}
			opts.cache = size
		default:
			if meant := human.Nearest(word, []string{"fuse", "rw", "cache=SIZE"}, 1); len(meant) > 0 && !strings.Contains(word, "/") {
				return "", opts, fmt.Errorf("%q is not an option, did you mean %q? if it belongs to the name, write \\,%[1]s", word, meant[0])
			}
			return strings.ReplaceAll(text, `\,`, ","), opts, nil
		}
		text = text[:at]
	}
	return strings.ReplaceAll(text, `\,`, ","), opts, nil
}

func (in *input) bucket(src string) error {
	bucket, folder, _ := strings.Cut(strings.TrimPrefix(src, store.BucketScheme), "/")
	folder = strings.TrimSuffix(folder, "/")
	if bucket == "" {
		return fmt.Errorf("%s names no bucket: expected gs://BUCKET or gs://BUCKET/FOLDER", src)
	}
	if slices.Contains(strings.Split(folder, "/"), "") && folder != "" {
		return fmt.Errorf("%s has an empty folder name: write it with single slashes", src)
	}
	if in.Access == api.AccessCopy {
		in.URL = src
		return nil
	}
	in.Bucket, in.Folder = bucket, folder
	return nil
}

// checkFolder rejects folders of buckets that FUSE can't mount.
func (in *input) checkFolder() error {
	switch {
	case in.Access != api.AccessFUSE:
		return nil
	case strings.Contains(in.Folder, ","):
		return errors.New("FUSE can't mount a folder whose name has a comma: omit fuse, or rename the folder")
	case slices.ContainsFunc(strings.Split(in.Folder+"/"+in.File, "/"), func(part string) bool { return part == "." || part == ".." }):
		return errors.New("FUSE can't mount a folder called . or ..: omit fuse, or rename the folder")
	}
	return nil
}

func (in *input) hub(src string) error {
	u, err := url.Parse(src)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s names no data set: expected hf://OWNER/NAME", src)
	}
	if in.Access == api.AccessFUSE {
		return errors.New("data sets of Hugging Face can't be mounted: omit fuse")
	}
	known := []string{"split", "config_name", "revision"}
	for key, values := range u.Query() {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: %q is not known: expected %s", src, key, strings.Join(known, ", "))
		}
		if len(values) > 1 {
			return fmt.Errorf("%s: %s is given %d times: give it once", src, key, len(values))
		}
	}
	in.URL = src
	return nil
}

func (in *input) claim(src string) error {
	claim, folder, _ := strings.Cut(strings.TrimPrefix(src, claimScheme), "/")
	if why := validation.IsDNS1123Subdomain(claim); len(why) > 0 {
		return fmt.Errorf("%q is not the name of a PersistentVolumeClaim: expected pvc://CLAIM or pvc://CLAIM/FOLDER", claim)
	}
	if in.Access == api.AccessFUSE || in.Cache != "" {
		return errors.New("a PersistentVolumeClaim is mounted anyway: omit fuse")
	}
	if folder = strings.TrimSuffix(folder, "/"); folder != "" && (path.Clean("/"+folder) != "/"+folder) {
		return fmt.Errorf("%s: invalid folder: use %s", src, strings.TrimPrefix(path.Clean("/"+folder), "/"))
	}
	in.Access, in.Claim, in.Folder = api.AccessClaim, claim, folder
	return nil
}

// unsupportedSource says what to do instead of naming a source that isn't supported.
func unsupportedSource(scheme, src string) error {
	switch scheme {
	case "s3":
		return fmt.Errorf("a pod has no access to S3: copy the files to a bucket with gcloud storage cp -r %s gs://BUCKET/FOLDER and name that", src)
	case "http", "https":
		return errors.New("http(s) sources are not supported: download the file, or copy it to gs://BUCKET/FOLDER")
	}
	return fmt.Errorf("%s:// is not supported: expected a local path, gs://, hf:// or pvc://", scheme)
}
