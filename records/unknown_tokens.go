package records

import (
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// OfUnknownToken chooses among transfers t those of tokens that no network has ever served: anybody
// can send such tokens, in any number. Coin, and tokens that were served once, have a value for the
// users who send them, so those need an operator.
const OfUnknownToken = `(t.reason = '` + string(ReasonUnknownToken) + `' AND t.reason <> '' AND t.token = '' AND t.asset <> '` + string(chain.Native) + `'
	AND NOT EXISTS (SELECT 1 FROM served_tokens k WHERE k.chain = t.chain AND k.asset = t.asset))`

// ServeTokens stores that a network serves its tokens.
func (tx Transfers) ServeTokens(n Network) error {
	for _, t := range n.Tokens {
		for id, asset := range map[chain.ID]chain.Asset{n.Source: t.Asset, n.Exchange: chain.Asset(t.TokenID)} {
			_, err := tx.SQL().Exec(`INSERT INTO served_tokens (chain, asset) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(id), string(asset))
			if err != nil {
				return sqlstore.Doing(err, "noting that %s is served", asset)
			}
		}
	}
	return nil
}

// Serves reports whether a network's tokens are stored as served.
func (tx Transfers) Serves(n Network) (bool, error) {
	for _, t := range n.Tokens {
		for id, asset := range map[chain.ID]chain.Asset{n.Source: t.Asset, n.Exchange: chain.Asset(t.TokenID)} {
			served, err := tx.served(id, asset)
			if err != nil || !served {
				return false, err
			}
		}
	}
	return true, nil
}

func (tx Transfers) served(id chain.ID, asset chain.Asset) (bool, error) {
	served, err := tx.SQL().Exists(`SELECT 1 FROM served_tokens WHERE chain = ? AND asset = ?`, string(id), string(asset))
	return served, sqlstore.Doing(err, "reading whether %s was served", asset)
}

// OfUnknownToken reports whether a transfer is of a token that no network has ever served.
func (tx Transfers) OfUnknownToken(t Transfer) (bool, error) {
	if t.Reason != ReasonUnknownToken || t.Token != "" || t.Asset == chain.Native {
		return false, nil
	}
	served, err := tx.served(t.Chain, t.Asset)
	return !served, err
}

// UnknownTokens counts the transfers of unknown tokens that were seen since a moment, and the
// tokens.
func (tx Transfers) UnknownTokens(since time.Time) (transfers, tokens uint64, err error) {
	var sum struct {
		Transfers uint64 `db:"transfers"`
		Tokens    uint64 `db:"tokens"`
	}
	err = tx.SQL().One(&sum, `SELECT COUNT(*) AS transfers, COUNT(DISTINCT t.asset) AS tokens FROM transfers t WHERE t.seen_at >= ? AND `+OfUnknownToken, since.UnixMilli())
	return sum.Transfers, sum.Tokens, sqlstore.Doing(err, "counting the transfers of unknown tokens")
}
