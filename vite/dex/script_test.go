package dex

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// update writes what the scripts give into them, instead of comparing.
var update = flag.Bool("update", false, "rewrite testdata/*.book")

// TestScripts plays testdata/*.book. A line without indent is a step, the indented lines below it
// are its results:
//
//	market 0 0 taker 0 maker 0        decimals of trade and quote token, operator's rates
//	fund A 100 1000                   trade and quote tokens
//	A buy 5 @ 20 [type]               the order is called #1, #2, ...
//	cancel #1
//	clock                             the exchange's clock moves by a second
//	book                              shows both sides, best last and first
//	funds                             shows available and locked of everyone
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.book")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			s := &script{t: t, names: map[OrderID]string{}}
			var out strings.Builder
			for line := range strings.Lines(string(raw)) {
				line = strings.TrimRight(line, "\n")
				if strings.HasPrefix(line, "    ") {
					continue
				}
				fmt.Fprintln(&out, line)
				for _, result := range s.step(strings.Fields(line)) {
					fmt.Fprintln(&out, "    "+result)
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o600))
			}
			require.Equal(t, string(raw), out.String())
		})
	}
}

type script struct {
	t          *testing.T
	testMarket *testMarket
	ids        []OrderID
	names      map[OrderID]string
	users      []string
}

func (s *script) step(words []string) []string {
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return nil
	}
	switch words[0] {
	case "market":
		var m Market
		m.QuoteType = QuoteUSD
		s.scan(words[1:], "%d %d taker %d maker %d", &m.TradeDecimals, &m.QuoteDecimals, &m.TakerOperatorRate, &m.MakerOperatorRate)
		s.testMarket = newTestMarket(s.t, m)
	case "fund":
		s.users = append(s.users, words[1])
		s.testMarket.fund(user(words[1]), number(s.t, words[2]), number(s.t, words[3]))
	case "clock":
		s.testMarket.time, s.testMarket.serial = s.testMarket.time+1, 0
	case "cancel":
		var n int
		s.scan(words[1:], "#%d", &n)
		o := s.testMarket.cancel(s.ids[n-1])
		s.testMarket.check()
		return []string{s.show(o.ID, &o.Progress)}
	case "book":
		return s.book()
	case "funds":
		return s.funds()
	default:
		return s.order(words)
	}
	return nil
}

func (s *script) scan(words []string, format string, into ...any) {
	_, err := fmt.Sscanf(strings.Join(words, " "), format, into...)
	require.NoError(s.t, err, words)
}

var typeNames = []string{"limit", "market", "post-only", "fok", "ioc"}

func (s *script) order(words []string) []string {
	p := Placement{Owner: user(words[0]), Side: Side(words[1] == "sell"), Quantity: number(s.t, words[2]), Price: mustPrice(s.t, words[4])}
	if len(words) > 5 {
		p.Type = Type(slices.Index(typeNames, words[5]))
	}
	r, err := s.testMarket.place(p)
	if err != nil {
		return []string{"refused: " + err.Error()}
	}
	s.testMarket.check()
	s.ids = append(s.ids, r.Taker.ID)
	s.names[r.Taker.ID] = fmt.Sprintf("#%d", len(s.ids))
	lines := []string{s.show(r.Taker.ID, &r.Taker.Progress)}
	for i := range r.Fills {
		f := &r.Fills[i]
		lines = append(lines, fmt.Sprintf("trade %s at %s = %s, fees taker %s+%s maker %s+%s", f.Quantity.Dec(), f.Price, f.Amount.Dec(),
			f.TakerFee.Dec(), f.TakerOperatorFee.Dec(), f.MakerFee.Dec(), f.MakerOperatorFee.Dec()), s.show(f.Maker, &f.MakerProgress))
	}
	return lines
}

func (s *script) show(id OrderID, p *Progress) string {
	text := s.names[id] + " " + []string{"open", "partly filled", "filled", "cancelled"}[p.Status]
	if p.Status == Cancelled {
		text += fmt.Sprintf(" (%d)", p.Reason)
	}
	if !p.Executed.Quantity.IsZero() {
		fees := p.Executed.Fees()
		text += fmt.Sprintf(" %s for %s, fees %s", p.Executed.Quantity.Dec(), p.Executed.Amount.Dec(), fees.Dec())
	}
	if !p.Refund.IsZero() {
		text += " refund " + p.Refund.Dec()
	}
	return text
}

func (s *script) book() (lines []string) {
	show := func(o *Order) bool {
		rest := o.Quantity
		o.rest(&rest)
		lines = append(lines, fmt.Sprintf("%s %s %s @ %s", o.ID.Side(), s.names[o.ID], rest.Dec(), o.ID.Price()))
		return true
	}
	s.testMarket.book.Walk(Sell, show)
	slices.Reverse(lines)
	s.testMarket.book.Walk(Buy, show)
	return lines
}

func (s *script) funds() (lines []string) {
	for _, name := range s.users {
		p := s.testMarket.fundsOf(user(name))
		lines = append(lines, fmt.Sprintf("%s trade %s+%s quote %s+%s", name, p.trade.Available.Dec(), p.trade.Locked.Dec(),
			p.quote.Available.Dec(), p.quote.Locked.Dec()))
	}
	return append(lines, "fees "+s.testMarket.fees.Dec())
}
