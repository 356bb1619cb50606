package gcptest

import (
	"google.golang.org/api/container/v1"
)

// SetLag has services refuse each new thing as many times as that.
func (s *Server) SetLag(times int, kinds ...Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cloud.lags.Set(times, kinds...)
}

// checkNodes refuses node pools while GKE lacks what they need.
func (s *Server) checkNodes(project string, pools []*container.NodePool) error {
	if status, text := s.cloud.lags.Nodes(project, s.projects[project].Number, pools); status != 0 {
		return &Error{Code: status, Message: text}
	}
	return nil
}
