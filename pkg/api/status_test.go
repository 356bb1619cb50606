package api

import (
	"encoding/json"
	"testing"
)

// Scripts read these names from -o json.
func TestStatusAsJSON(t *testing.T) {
	data, err := json.Marshal(Status{State: Pending, Unrecoverable: true, UnreleasedHosts: "16 chips"})
	const want = `{"state":"PENDING","unrecoverable":true,"unreleasedHosts":"16 chips"}`
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
}
