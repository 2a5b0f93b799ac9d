package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// reserves is the answer of /reserves: for everybody, where the operator publishes it.
type reserves struct {
	Tokens []reserve `json:"tokens"`
}

// reserve has the holdings and debts of a token's asset, by the last comparison.
type reserve struct {
	Network       string           `json:"network"`
	TokenID       string           `json:"tokenId"`
	Symbol        string           `json:"symbol"`
	Asset         chain.Asset      `json:"asset"`
	AssetDecimals uint8            `json:"assetDecimals"`
	State         string           `json:"state"`                // covered, missing, uncompared, unknown
	Reason        string           `json:"reason,omitempty"`     // of unknown: halted, unfollowed, old
	Comparison    *comparison      `json:"comparison,omitempty"` // absent if there is none yet
	Addresses     []reserveAddress `json:"addresses"`            // without those of users
}

// comparison has amounts in units of the source chain's asset.
type comparison struct {
	Held   chain.Amount         `json:"held"`
	Owed   chain.Amount         `json:"owed"`
	Parts  *status.HoldingParts `json:"parts,omitempty"`
	Height uint64               `json:"height"`
	At     int64                `json:"at"`   // milliseconds
	Next   int64                `json:"next"` // when the next one is expected
}

// reserveAddress is an account of the source chain that counts as held.
type reserveAddress struct {
	Kind    string `json:"kind"` // hot, shared, gas, cold: the part that it belongs to
	Address string `json:"address"`
}

// publishReserves answers by stored comparisons. It asks no chain.
func (s *Server) publishReserves(c echo.Context) error {
	if !s.cfg.Reserves {
		return refuse(pathUnknown)
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.RequestTimeout)
	defer cancel()
	data, err := s.reserves.newest(ctx, s, s.readReserves)
	if err != nil {
		return err
	}
	return answer(c, data)
}

func (s *Server) readReserves(ctx context.Context, served []*network) (reserves, error) {
	networks := networksOf(served)
	return callStore(ctx, s, s.Store.RawRead, func(tx *records.Tx) (r reserves, err error) {
		report, err := status.Read(tx, networks)
		if err != nil {
			return r, err
		}
		list, err := status.ReadCoverage(tx, networks, report.Conditions, s.Now(), s.ReconcileEvery)
		if err != nil {
			return r, err
		}
		r.Tokens = make([]reserve, 0, len(list))
		for _, n := range networks {
			for _, t := range n.Tokens {
				r.Tokens = append(r.Tokens, reserveOf(n, t, list[len(r.Tokens)], s.ReconcileEvery)) // in the same order
			}
		}
		return r, nil
	})
}

func reserveOf(n records.Network, t records.Token, c status.TokenCoverage, every time.Duration) reserve {
	r := reserve{
		Network: n.Name, TokenID: t.TokenID, Symbol: t.Symbol, Asset: t.Asset, AssetDecimals: t.AssetDecimals,
		State: c.State, Addresses: reserveAddresses(n, t),
	}
	switch c.State {
	case "uncompared":
		return r
	case "covered", "missing":
	default:
		r.State, r.Reason = "unknown", c.State
	}
	r.Comparison = &comparison{
		Held: c.Held, Owed: c.Owed, Parts: c.Parts, Height: c.Height, At: c.At.UnixMilli(), Next: c.At.Add(c.Every(every)).UnixMilli(),
	}
	return r
}

// reserveAddresses leaves out the deposit addresses of users: their list would show who deposits.
func reserveAddresses(n records.Network, t records.Token) []reserveAddress {
	list := []reserveAddress{}
	add := func(kind string, accounts ...string) {
		for _, a := range accounts {
			if a != "" && !slices.ContainsFunc(list, func(r reserveAddress) bool { return r.Address == a }) {
				list = append(list, reserveAddress{kind, a})
			}
		}
	}
	add("hot", n.Paying(n.Source)...)
	add("hot", n.RetiredHots...)
	add("shared", n.Shared)
	if t.Asset == chain.Native {
		add("gas", n.Gas)
	}
	add("cold", t.Cold)
	return list
}
