package main

import (
	"fmt"
	"time"
)

// budget bounds what a run costs at list prices.
type budget struct {
	max float64 // USD
	// cluster is what an hour of the cluster costs at most, and began when its hours began.
	cluster float64
	began   time.Time
	// steps is what the accelerators of the steps so far have cost at most.
	steps float64
}

// spent returns what the run has cost so far, at most.
func (b budget) spent(now time.Time) float64 {
	if b.began.IsZero() {
		return 0
	}
	return b.steps + b.cluster*now.Sub(b.began).Hours()
}

// refuse says why a step could cost too much, "" if it can't. It takes at most so long, at a price for an hour
// beside the cluster's; after it the cluster is taken down.
func (b budget) refuse(now time.Time, rate float64, limit time.Duration) string {
	could := (rate+b.cluster)*limit.Hours() + b.cluster*downLimit.Hours()
	if spent := b.spent(now); spent+could > b.max {
		return fmt.Sprintf("it could cost %s, after %s so far: more than --max-cost %g", dollars(could), dollars(spent), b.max)
	}
	return ""
}

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }
