package gateway

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/records"
	"gatewayd/status"
)

// readiness is the answer of /ready, for load balancers: this process serves wallets.
type readiness struct {
	Ready bool `json:"ready"`
}

func (s *Server) health(c echo.Context) error {
	h := s.readHealth(c.Request().Context())
	return c.JSON(statusCode(h.Well()), h)
}

// ready asks the store alone: /health and the pages report whether payments flow.
func (s *Server) ready(c echo.Context) error {
	r := readiness{s.Readiness.Ready("gateway "+s.middleware.Client(c.Request())+" "+c.Request().URL.RawQuery) && s.readHealth(c.Request().Context()).Status != "down"}
	return c.JSON(statusCode(r.Ready), r)
}

func statusCode(well bool) int {
	if well {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

func (s *Server) readHealth(ctx context.Context) status.Health {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout)
	defer cancel()
	h, err := callStore(ctx, s, s.Store.RawRead, func(tx *records.Tx) (status.Health, error) { return status.ReadHealth(tx, s.networks()) })
	if err != nil {
		s.faults.Write(s.Log.WithError(err), logrus.ErrorLevel, "gateway health")
		return status.DownHealth()
	}
	return h
}

func (s *Server) networks() []records.Network { return networksOf(*s.served.Load()) }

func networksOf(served []*network) []records.Network {
	all := make([]records.Network, len(served))
	for i, n := range served {
		all[i] = n.Network
	}
	return all
}
