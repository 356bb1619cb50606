package api

import (
	"cmp"
	"strconv"
	"strings"
)

// CancelledMessage is the default End.Message of a cancelled job.
const CancelledMessage = "cancelled"

// Outcome returns a few words on how the job is doing or how it ended.
func (s Status) Outcome() string {
	if s.UnreleasedHosts != "" {
		return s.outcome() + "; finished, holding " + s.UnreleasedHosts
	}
	return s.outcome()
}

func (s Status) outcome() string {
	switch s.Word() {
	case string(Succeeded):
		return "succeeded"
	case CancelledWord:
		if s.Message == "" || s.Message == CancelledMessage {
			return CancelledMessage
		}
		return CancelledMessage + ": " + s.Message
	case string(Failed):
		if what := s.failure(); what != "" {
			return "failed: " + what
		}
		return "failed"
	case string(NotFound):
		if s.Message != "" {
			return "not found: " + s.Message
		}
		return "not found"
	case string(Pending):
		return waiting(s.Message)
	default:
		return cmp.Or(s.Message, strings.ToLower(string(s.State)))
	}
}

// waiting returns what the job waits for, or in which queue.
func waiting(message string) string {
	switch {
	case message == "":
		return "waiting"
	case strings.HasPrefix(message, "waiting in "):
		return message
	}
	return "waiting: " + message
}

// failure returns why a job failed and, if it ran out of retries, after how many attempts.
func (s Status) failure() string {
	if crashed := s.Reason == Killed || s.Reason == RunnerFailure; crashed && s.Attempt > 1 {
		return s.cause() + " (attempt " + strconv.Itoa(s.Attempt) + ", the last one)"
	}
	return s.cause()
}

func (s Status) cause() string {
	if s.Reason == ExitCode && s.Message == "" && s.ExitCode != nil {
		return "exit code " + strconv.Itoa(*s.ExitCode)
	}
	return cmp.Or(s.Message, string(s.Reason))
}
