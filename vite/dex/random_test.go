package dex

import (
	"fmt"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

// randomCase is a random sequence with what the reference engine answered.
type randomCase struct {
	Case                                 int
	TradeDecimals, QuoteDecimals         uint8
	QuoteTokenType                       QuoteType
	TakerOperatorRate, MakerOperatorRate uint32
	Minimum                              string `json:"minAmountInTypeDecimals"`
	Funds                                map[string][2]string
	FloatTie                             bool `json:"float_tie"`
	Steps                                []struct {
		Do, User, Side, Price, Quantity, Result string
		Type                                    Type
		Step                                    int // of the placement that a cancel is about
		Order                                   []any
		Trades                                  [][6]string
		Balances                                map[string][4]string
	}
}

// TestRandomFills plays the recorded random sequences. Where the reference engine's floating point
// met an exact half (float_tie) our rule gives one more than it; from there the sequences part,
// which is all that may differ.
func TestRandomFills(t *testing.T) {
	var doc struct{ Cases []randomCase }
	load(t, "fills_random.json", &doc)
	require.NotEmpty(t, doc.Cases)
	for _, c := range doc.Cases {
		t.Run(fmt.Sprint(c.Case), func(t *testing.T) {
			ours, theirs := c.play(t)
			if !c.FloatTie {
				require.Equal(t, theirs, ours)
				return
			}
			require.NotEqual(t, theirs, ours, "the recorded tie")
			i := firstDifference(theirs, ours)
			require.Equal(t, 1, oneMore(theirs[i], ours[i]), "at the first difference: %v, recorded %v", ours[i], theirs[i])
		})
	}
}

// play gives, step by step, our figures and the recorded ones.
func (c *randomCase) play(t *testing.T) (ours, theirs [][]string) {
	d := newTestMarket(t, Market{
		QuoteType: c.QuoteTokenType, TradeDecimals: c.TradeDecimals, QuoteDecimals: c.QuoteDecimals,
		TakerOperatorRate: c.TakerOperatorRate, MakerOperatorRate: c.MakerOperatorRate,
	})
	d.minimum = number(t, c.Minimum)
	for name, f := range c.Funds {
		d.fund(user(name), number(t, f[0]), number(t, f[1]))
	}
	placed := map[int]OrderID{}
	for i, s := range c.Steps {
		var mine, recorded []string
		if s.Do == "clock +1 s" {
			d.time, d.serial = d.time+1, 0
			continue
		}
		if s.Do == "place" {
			r, err := d.place(Placement{
				Owner: user(s.User), Side: Side(s.Side == "sell"), Type: s.Type, Price: mustPrice(t, s.Price), Quantity: number(t, s.Quantity),
			})
			recorded, mine = append(recorded, s.Result), append(mine, figures(r, err)...)
			for _, n := range s.Order {
				recorded = append(recorded, fmt.Sprint(n))
			}
			for _, trade := range s.Trades {
				recorded = append(recorded, trade[:]...)
			}
			if err == nil {
				placed[i] = r.Taker.ID
			}
		} else if o, open := d.book.Order(placed[s.Step]); open && o.Owner == user(s.User) {
			d.cancel(placed[s.Step])
			require.Equal(t, "ok", s.Result)
		}
		for _, name := range []string{"A", "B", "C"} {
			p, want := d.fundsOf(user(name)), s.Balances[name]
			trade, quote := texts(p.trade), texts(p.quote)
			recorded, mine = append(recorded, want[:]...), append(append(mine, trade[:]...), quote[:]...)
		}
		d.check()
		ours, theirs = append(ours, mine), append(theirs, recorded)
	}
	return ours, theirs
}

func figures(r *Result, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	o := r.Taker
	list := []string{
		"ok", fmt.Sprint(uint8(o.Status)), fmt.Sprint(uint8(o.Reason)), o.Amount.Dec(), o.LockedFee.Dec(), o.Executed.Quantity.Dec(),
		o.Executed.Amount.Dec(), o.Executed.BaseFee.Dec(), o.Executed.OperatorFee.Dec(), o.Refund.Dec(),
	}
	for i := range r.Fills {
		f := &r.Fills[i]
		list = append(list, f.Quantity.Dec(), f.Amount.Dec(), f.TakerFee.Dec(), f.TakerOperatorFee.Dec(), f.MakerFee.Dec(), f.MakerOperatorFee.Dec())
	}
	return list
}

func firstDifference(a, b [][]string) int {
	for i := range a {
		if fmt.Sprint(a[i]) != fmt.Sprint(b[i]) {
			return i
		}
	}
	return -1
}

// oneMore is by how much the first figure that differs is larger with us.
func oneMore(theirs, ours []string) int {
	for i := range theirs {
		if theirs[i] == ours[i] {
			continue
		}
		a, errA := uint256.FromDecimal(theirs[i])
		b, errB := uint256.FromDecimal(ours[i])
		if errA != nil || errB != nil {
			return 0
		}
		return int(new(uint256.Int).Sub(b, a).Uint64())
	}
	return 0
}
