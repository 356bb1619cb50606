//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// released is the number of hosts of the jobs whose end is measured.
const released = 4

// release: how long a LeaderWorkerSet continues after its work is done, without a waiting
// client.
func (c *cluster) release(ctx context.Context) error {
	var returned, raised []sample
	for i := range slowRuns {
		after, err := c.afterReturn(ctx, fmt.Sprintf("returns-%d", i))
		if err != nil {
			return err
		}
		returned = append(returned, sample{wall: after})
		if after, err = c.afterException(ctx, fmt.Sprintf("raises-%d", i)); err != nil {
			return err
		}
		raised = append(raised, sample{wall: after})
	}
	c.row(fmt.Sprintf("pods gone, after the last of %d hosts is done", released), ms(median(returned)), "", "", "<= 3000 ms")
	c.row(fmt.Sprintf("job failed, after one of %d hosts raised and the others hang", released), ms(median(raised)), "", "", "<= 5000 ms")
	return nil
}

// afterReturn returns the time from the return of the last host's function to the end of
// the last pod.
func (c *cluster) afterReturn(ctx context.Context, id string) (time.Duration, error) {
	gone, err := c.runAndGo(ctx, id, "leave")
	if err != nil {
		return 0, err
	}
	printed, err := c.ours(ctx, "jobs", "logs", id)().Output()
	if err != nil {
		return 0, err
	}
	left, err := lastTime(string(printed))
	return gone.Sub(left), err
}

// afterException returns the time from the exception of one host to the record in the store
// that the job failed.
func (c *cluster) afterException(ctx context.Context, id string) (time.Duration, error) {
	if _, err := c.runAndGo(ctx, id, "fail"); err != nil {
		return 0, err
	}
	objects := c.storage + "/storage/v1/b/" + c.bucket + "/o/" + id + "%2F"
	var result struct{ Error struct{ Message string } }
	if err := request(ctx, http.DefaultClient, http.MethodGet, objects+"result.json?alt=media", "", &result); err != nil {
		return 0, err
	}
	raised, err := lastTime(result.Error.Message)
	if err != nil {
		return 0, err
	}
	var end struct{ TimeCreated time.Time }
	err = request(ctx, http.DefaultClient, http.MethodGet, objects+"end.json", "", &end)
	return end.TimeCreated.Sub(raised), err
}

// runAndGo runs a job on several hosts and returns when the last of its pods was gone.
func (c *cluster) runAndGo(ctx context.Context, id, function string) (time.Time, error) {
	if err := c.start(ctx, id, function, []string{"seconds=3"}, "--hosts", strconv.Itoa(released)); err != nil {
		return time.Time{}, err
	}
	return c.gone(ctx, id, released)
}

// gone returns when the API server had reported the removal of that number of a job's pods.
func (c *cluster) gone(ctx context.Context, id string, number int) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, patience) // pods that are already gone are not reported
	defer cancel()
	body, err := open(ctx, c.http, http.MethodGet, c.pods(id), "")
	if err != nil {
		return time.Time{}, err
	}
	defer body.Close()
	for events := json.NewDecoder(body); ; {
		var event struct{ Type string }
		if err := events.Decode(&event); err != nil {
			return time.Time{}, fmt.Errorf("watching the pods of job %s: %w", id, err)
		}
		if event.Type == "DELETED" {
			number--
		}
		if number == 0 {
			return time.Now(), nil
		}
	}
}

// lastTime returns the latest of the times, in seconds, at the ends of lines.
func lastTime(printed string) (time.Time, error) {
	last := 0.0
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		seconds, err := strconv.ParseFloat(words[len(words)-1], 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("a line without a time: %w", err)
		}
		last = max(last, seconds)
	}
	return time.UnixMicro(int64(last * 1e6)), nil
}
