package image

import (
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The numbers of layers. Docker mounts no image with more than maxLayers.
const (
	maxLayers = 127
	maxWheels = 100
)

// room returns how many layers there may be for wheels, beside those of the base and of the
// virtual environment.
func room(base v1.Image) (int, error) {
	layers, err := base.Layers()
	if err != nil {
		return 0, err
	}
	free := min(maxWheels, maxLayers-1-len(layers))
	if free < 1 {
		return 0, fmt.Errorf("it has %d layers, and an image has at most %d; name another image", len(layers), maxLayers)
	}
	return free, nil
}

// compose puts layers on a base, and makes the virtual environment at a prefix what its commands
// find. "" means that there is none.
func compose(base v1.Image, prefix string, layers []layer) (v1.Image, error) {
	manifest, err := base.MediaType()
	if err != nil {
		return nil, err
	}
	media := types.OCILayer
	if manifest == types.DockerManifestSchema2 {
		media = types.DockerLayer
	}
	additions := make([]mutate.Addendum, 0, len(layers))
	for _, l := range layers {
		additions = append(additions, mutate.Addendum{Layer: l, MediaType: media, History: v1.History{CreatedBy: "kinetic"}})
	}
	image, err := mutate.Append(base, additions...)
	if err != nil {
		return nil, err
	}
	if prefix == "" {
		return image, nil
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	path := "/" + prefix + "/bin:" + strings.Join(pathOf(config.Config), ":")
	config.Config.Env = set(config.Config.Env, "PATH", path)
	config.Config.Env = set(config.Config.Env, "VIRTUAL_ENV", "/"+prefix)
	return mutate.ConfigFile(image, config)
}

// set sets a variable at its place, or at the end.
func set(env []string, name, value string) []string {
	for i, e := range env {
		if key, _, _ := strings.Cut(e, "="); key == name {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}
