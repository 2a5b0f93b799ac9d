package gateway

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"gatewayd/chain"
	"gatewayd/operator/status"
	"gatewayd/records"
)

// health is the answer of /health, for supervisors: 200 while all money moves that operators let move, else 503 with the reasons. It has no
// envelope. Strangers read it, so it names kinds and chains, never accounts, nodes or amounts.
type health struct {
	Status   string        `json:"status"` // ok, halted (a chain is), stopped (something else is), or down when the store does not answer
	Reasons  []reason      `json:"reasons"`
	Warnings []reason      `json:"warnings"` // money moves, but operators should look
	Chains   []chainHealth `json:"chains"`
}

// reason is a condition as strangers may see it.
type reason struct {
	Kind  status.Kind `json:"kind"`
	Chain chain.ID    `json:"chain,omitempty"`
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
	h, err := ask(ctx, s, s.Store.RawRead, s.readHealth)
	if err != nil {
		s.Log.WithError(err).Error("gateway health")
		h = health{Status: "down", Chains: []chainHealth{}}.with(status.Down())
	}
	code := http.StatusOK
	if h.Status != "ok" {
		code = http.StatusServiceUnavailable
	}
	return c.JSON(code, h)
}

func (s *Server) readHealth(tx *records.Tx) (health, error) {
	h := health{Status: "ok", Chains: []chainHealth{}}
	report, err := status.Read(tx, s.networks())
	if err != nil {
		return health{}, err
	}
	if !report.Flows() {
		h.Status = "stopped"
	}
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
	return h.with(report), nil
}

// with adds a report's conditions, each kind and chain once.
func (h health) with(r status.Report) health {
	h.Reasons, h.Warnings = []reason{}, []reason{}
	for _, c := range r.Conditions {
		list := &h.Warnings
		if c.Stops {
			list = &h.Reasons
		}
		if one := (reason{c.Kind, c.Chain}); !slices.Contains(*list, one) {
			*list = append(*list, one)
		}
	}
	return h
}

func (s *Server) networks() []records.Network {
	served := *s.served.Load()
	all := make([]records.Network, len(served))
	for i, n := range served {
		all[i] = n.Network
	}
	return all
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
