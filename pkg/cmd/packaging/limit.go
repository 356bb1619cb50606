package packaging

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// UploadLimit reads the value of --image-upload-limit in bytes: 0, the default, for "".
func UploadLimit(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := resource.ParseQuantity(text)
	if err != nil || limit.Sign() <= 0 {
		return 0, fmt.Errorf("--image-upload-limit %q: expected a size such as 512Mi or 2Gi", text)
	}
	return limit.Value(), nil
}
