package exchangeapi

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// health is the answer of /health, for supervisors: 200 while every network's index is as new as its node and the key store answers, else 503.
// It has no envelope, and does not say why: the log does.
type health struct {
	Status   string          `json:"status"` // ok, behind, or down when the key store does not answer
	Networks []networkHealth `json:"networks"`
}

type networkHealth struct {
	Name    string `json:"name"`
	Ready   bool   `json:"ready"`             // answers are as new as the node's chain
	Behind  int64  `json:"behind,omitempty"`  // seconds since they were
	Missing uint64 `json:"missing,omitempty"` // blocks of the exchange that the node is known to have and the index has not
}

func (s *Server) health(c echo.Context) error {
	h := health{Status: "ok", Networks: []networkHealth{}}
	for _, n := range s.Networks {
		ready := n.Index.Ready() == nil // the index logs why not
		network := networkHealth{Name: n.Name, Ready: ready}
		if !ready {
			lag := n.Index.Lag()
			network.Behind, network.Missing = int64(lag.For/time.Second), lag.Missing
			h.Status = "behind"
		}
		h.Networks = append(h.Networks, network)
	}
	if err := s.Keys.ping(c.Request().Context()); err != nil {
		s.Log.WithError(err).Error("exchange API health")
		h.Status = "down"
	}
	status := http.StatusOK
	if h.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	return c.JSON(status, h)
}
