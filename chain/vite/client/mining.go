package client

import (
	"context"
	"fmt"

	"github.com/holiman/uint256"
)

// TradeMining is what the running cycle of the exchange gives to those who trade, by the type of the quote token, 1 to 4.
type TradeMining struct {
	// VX is what the traders of each type share, in VX's smallest units.
	VX map[uint8]uint256.Int
	// Fees are what it is shared in proportion to, in the decimals of the type: 18, 18, 8, 6.
	Fees map[uint8]uint256.Int
}

// TradeMining asks two questions; between them a trade may have come, or the cycle may have ended. A node without VX to mine
// may refuse to answer: an *Error.
func (c *Client) TradeMining(ctx context.Context) (TradeMining, error) {
	info, err := ask[struct {
		Detail map[uint8]amount `json:"feeMineDetail"`
	}](ctx, c, "dex_getCurrentMiningInfo")
	if err != nil {
		return TradeMining{}, err
	}
	fees, err := ask[map[uint8]amount](ctx, c, "dex_getCurrentFeesValidForMining")
	if err != nil {
		return TradeMining{}, err
	}
	m := TradeMining{VX: amounts(info.Detail), Fees: amounts(fees)}
	for _, list := range []map[uint8]uint256.Int{m.VX, m.Fees} {
		for q := range list {
			if q < 1 || q > 4 {
				return TradeMining{}, fmt.Errorf("the node names quote token type %d, which is none of 1 to 4", q)
			}
		}
	}
	return m, nil
}

func amounts(in map[uint8]amount) map[uint8]uint256.Int {
	out := make(map[uint8]uint256.Int, len(in))
	for k, v := range in {
		out[k] = uint256.Int(v)
	}
	return out
}
