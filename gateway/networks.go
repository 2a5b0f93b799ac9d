package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// routePages serves the pages for people, and data for them that the wallets' endpoints lack:
// wallets learn a gateway's networks and tokens from a registry of their own.
func (s *Server) routePages() {
	if len(s.Pages) > 0 {
		s.get("/networks.json", s.listNetworks)
	}
	for path, page := range s.Pages {
		s.get(path, echo.WrapHandler(page))
	}
	if s.Demo != nil {
		s.echo.Any("/demo/*", echo.WrapHandler(s.Demo))
	}
}

// listedNetwork is one network as the bridge page begins with it; everything else it asks the
// network's endpoints.
type listedNetwork struct {
	Name   string        `json:"name"`
	Path   string        `json:"path"` // of its endpoints
	Tokens []listedToken `json:"tokens"`
}

type listedToken struct {
	TokenID  string `json:"tokenId"`
	Symbol   string `json:"symbol"`
	Decimals uint8  `json:"decimals"`
}

// listNetworks returns the networks of the moment.
func (s *Server) listNetworks(c echo.Context) error {
	list := []listedNetwork{}
	for i, n := range *s.served.Load() {
		listed := listedNetwork{Name: n.Name, Path: s.bases[i], Tokens: []listedToken{}}
		for _, t := range n.Tokens {
			listed.Tokens = append(listed.Tokens, listedToken{TokenID: t.TokenID, Symbol: t.Symbol, Decimals: t.Decimals})
		}
		list = append(list, listed)
	}
	return c.JSON(http.StatusOK, list)
}
