package gateway

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"gatewayd/chain"
	"gatewayd/records"
)

// health is the answer of /health, for supervisors: 200 while the store answers and no chain is halted, else 503. It has no envelope.
type health struct {
	Status string        `json:"status"` // ok, halted, or down when the store does not answer
	Chains []chainHealth `json:"chains"`
}

type chainHealth struct {
	ID     chain.ID `json:"id"`
	Height uint64   `json:"height"` // how far it has been followed
	Head   uint64   `json:"head"`   // how far it goes
	Halted bool     `json:"halted"`
}

func (s *Server) health(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.RequestTimeout)
	defer cancel()
	h, err := ask(ctx, s, s.Store.Glance, s.readHealth)
	if err != nil {
		s.Log.WithError(err).Error("gateway health")
		h = health{Status: "down", Chains: []chainHealth{}}
	}
	status := http.StatusOK
	if h.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	return c.JSON(status, h)
}

func (s *Server) readHealth(tx *records.Tx) (health, error) {
	h := health{Status: "ok", Chains: []chainHealth{}}
	for _, id := range s.chains() {
		cursor, err := tx.Cursor(id)
		if err != nil {
			return health{}, err
		}
		h.Chains = append(h.Chains, chainHealth{id, cursor.Height, cursor.Head, cursor.Halted})
		if cursor.Halted {
			h.Status = "halted"
		}
	}
	return h, nil
}

// chains are the chains of all networks, each once.
func (s *Server) chains() []chain.ID {
	var ids []chain.ID
	for _, r := range s.Routes {
		ids = append(ids, r.Network.Source, r.Network.Exchange)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
