package ethereum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// selectorLatestRound is latestRoundData() of Chainlink's AggregatorV3Interface. It returns the
// round, the answer (signed), the start of the round, the time of the answer (Unix seconds), and
// the round of the answer.
const selectorLatestRound = "\xfe\xaf\x96\x8c"

const (
	// maxFeedDecimals is far above the 8 and 18 that feeds have.
	maxFeedDecimals = 36
	// maxFeedBits is far above any price, in any decimals that feeds have.
	maxFeedBits = 160
	maxFeedTime = 253402300799 // the last second of the year 9999
)

// Reading is a price feed's answer: Answer / 10^Decimals, as of Updated. The reader judges whether
// it is too old.
type Reading struct {
	Answer   chain.Amount
	Decimals uint8
	Updated  time.Time
}

// Feed reads the price feed at an address. Of several nodes' readings the middle answer and the
// middle time count, so that one node alone cannot move either. A feed whose answer is not above
// zero, or whose round is not complete, has no reading.
func (c *Chain) Feed(ctx context.Context, address string) (Reading, error) {
	c = c.current()
	feed, err := parseAddress(address)
	if err != nil {
		return Reading{}, fmt.Errorf("price feed %q: %w", address, err)
	}
	decimals, err := c.TokenDecimals(ctx, assetOf(feed))
	if err != nil {
		return Reading{}, fmt.Errorf("price feed: %w", err)
	}
	if decimals > maxFeedDecimals {
		return Reading{}, fmt.Errorf("price feed %s: %d decimals are more than %d", address, decimals, maxFeedDecimals)
	}
	question := func(ctx context.Context, n *node) (round, error) { return n.latestRound(ctx, feed) }
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), round.key)))
	if len(good) < c.majority() {
		return Reading{}, fmt.Errorf("price feed %s: %w", address, unavailable(faults))
	}
	answers, times := make([]*uint256.Int, len(good)), make([]*uint256.Int, len(good))
	for i, a := range good {
		answers[i], times[i] = a.Value.answer, a.Value.updated
	}
	return Reading{
		Answer: chain.AmountOf(median(answers)), Decimals: decimals, Updated: time.Unix(int64(median(times).Uint64()), 0).UTC(),
	}, nil
}

// round is a feed's round in one node's answer.
type round struct{ answer, updated *uint256.Int }

func (r round) key() [2]uint256.Int { return [2]uint256.Int{*r.answer, *r.updated} }

func (n *node) latestRound(ctx context.Context, feed common.Address) (round, error) {
	var result hexutil.Bytes
	call := map[string]any{"to": feed, "input": hexutil.Bytes(selectorLatestRound)}
	if err := n.call(ctx, &result, "eth_call", call, "latest"); err != nil {
		return round{}, err
	}
	r, err := readRound(result)
	if err != nil {
		return round{}, fmt.Errorf("%s: %w", n.name, err)
	}
	return r, nil
}

// readRound reads the five words of latestRoundData and refuses what is no price.
func readRound(data []byte) (round, error) {
	if len(data) != 5*wordSize {
		return round{}, fmt.Errorf("a round of %d bytes, not %d", len(data), 5*wordSize)
	}
	var words [5]*uint256.Int
	for i := range words {
		words[i] = new(uint256.Int).SetBytes(data[i*wordSize : (i+1)*wordSize])
	}
	id, answer, updated, answeredIn := words[0], words[1], words[3], words[4]
	switch {
	case answer.Sign() <= 0: // as a signed number
		return round{}, errors.New("the answer is not above zero")
	case answer.BitLen() > maxFeedBits:
		return round{}, fmt.Errorf("the answer has more than %d bits", maxFeedBits)
	case updated.IsZero():
		return round{}, errors.New("the round is not complete")
	case answeredIn.Lt(id):
		return round{}, errors.New("the answer is of an earlier round")
	case !updated.IsUint64() || updated.Uint64() > maxFeedTime:
		return round{}, errors.New("the time is beyond the year 9999")
	}
	return round{answer: answer, updated: updated}, nil
}
