package expiry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/storage/v1"
)

// Keeps reports whether the rules that were read of a bucket say all that its rules say. The bucket may have
// conditions that the types of this version lack: they would be lost if the rules were written again. base is
// the address of Cloud Storage's API, https://storage.googleapis.com/storage/v1/.
func Keeps(ctx context.Context, client *http.Client, base, bucket string, rules []*storage.BucketLifecycleRule) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"b/"+url.PathEscape(bucket)+"?fields=lifecycle", nil)
	if err != nil {
		return false, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if err := googleapi.CheckResponse(answer); err != nil {
		return false, err
	}
	var found struct{ Lifecycle struct{ Rule any } }
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return false, fmt.Errorf("decoding the rules: %w", err)
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return false, err
	}
	var known any
	err = json.Unmarshal(text, &known)
	return reflect.DeepEqual(found.Lifecycle.Rule, known), err
}
