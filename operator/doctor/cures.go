package doctor

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
)

// Cure is one act of an operator, with the findings that it resolves. Amounts are in smallest
// units.
type Cure struct {
	Number  int           `json:"number"` // in the order in which to act
	Do      string        `json:"do"`
	Chain   chain.ID      `json:"chain,omitempty"`
	Account string        `json:"account,omitempty"` // that gets the money or the stake
	Asset   chain.Asset   `json:"asset,omitempty"`
	Amount  *chain.Amount `json:"amount,omitempty"`
	Cures   []string      `json:"cures"` // the findings, by their subject
}

// Stages of the work, in order: what later stages need is done first.
type stage int

const (
	stageHere    stage = iota // configuration, database, wallet
	stageNodes                // nodes that do not answer
	stageStart                // the daemon
	stageChains               // what chains and tokens are
	stageCoin                 // coin for fees
	stageTokens               // tokens to pay with
	stageStake                // quota of the exchange chain
	stageRunning              // what the running daemon reports
)

// act is the action that resolves a finding; several findings may share one. A finding without an
// act has its advice as the action.
type act struct {
	stage   stage
	do      string // instead of an account: what to do
	chain   chain.ID
	account string
	name    string // of the account
	asset   chain.Asset
	purpose string // what the account needs the asset for
}

// holding is an account's balance of an asset.
type holding struct {
	chain   chain.ID
	account string
	asset   chain.Asset
}

func (a act) holding() holding { return holding{a.chain, a.account, a.asset} }

// need is an account's requirement of an asset.
type need struct {
	holding
	purpose string
}

// key is the same for acts that one cure does.
func (a act) key() string {
	if a.account == "" {
		return a.do
	}
	return fmt.Sprint(a.chain, " ", a.account, " ", a.asset)
}

// actOf returns what resolves a finding.
func (f Finding) actOf() act {
	if f.act != nil {
		return *f.act
	}
	a := act{stage: stageRunning, do: f.Advice}
	switch {
	case hasPrefix(f.What, "configuration", "database", "wallet", "signer", "API keys"):
		a.stage = stageHere
	case hasPrefix(f.What, "accounts"):
		a.stage = stageStart
	case hasPrefix(f.What, "chain ", "network ", "exchange ", "test exchange "):
		a.stage = stageChains
	}
	return a
}

func hasPrefix(text string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(text, s) })
}

// Report contains doctor's findings, and the actions against the faults, in the order in which to
// act.
type Report struct {
	Findings []Finding `json:"findings"`
	Cures    []Cure    `json:"cures"`
}

// cureGroup is the findings that one act resolves.
type cureGroup struct {
	act
	purposes []string
	findings []int
}

// report groups the faults by what resolves them. Equal findings of several configurations are
// reported once.
func (d *Doctor) report() Report {
	r := Report{Cures: []Cure{}}
	for _, f := range d.Findings {
		same := func(g Finding) bool { return g.What == f.What && g.Found == f.Found && g.OK == f.OK }
		if !slices.ContainsFunc(r.Findings, same) {
			r.Findings = append(r.Findings, f)
		}
	}
	for i, g := range groupFaults(r.Findings) {
		c := d.cure(g.act, g.purposes)
		c.Number = i + 1
		for _, n := range g.findings {
			r.Findings[n].Cure = c.Number
			if what := r.Findings[n].What; !slices.Contains(c.Cures, what) {
				c.Cures = append(c.Cures, what)
			}
		}
		r.Cures = append(r.Cures, c)
	}
	return r
}

func groupFaults(findings []Finding) (groups []*cureGroup) {
	for n, f := range findings {
		if f.OK {
			continue
		}
		a := f.actOf()
		i := slices.IndexFunc(groups, func(g *cureGroup) bool { return g.key() == a.key() })
		if i < 0 {
			i, groups = len(groups), append(groups, &cureGroup{act: a})
		}
		g := groups[i]
		g.stage, g.findings = min(g.stage, a.stage), append(g.findings, n)
		if a.purpose != "" && !slices.Contains(g.purposes, a.purpose) {
			g.purposes = append(g.purposes, a.purpose)
		}
	}
	slices.SortStableFunc(groups, func(a, b *cureGroup) int { return int(a.stage - b.stage) })
	return groups
}

// cure describes one act, for everything that it is needed for.
func (d *Doctor) cure(a act, purposes []string) Cure {
	c := Cure{Do: sentence(a.do), Chain: a.chain, Account: a.account, Asset: a.asset}
	if a.account == "" {
		return c
	}
	if a.stage == stageStake {
		stake := wholeStake()
		c.Amount = &stake
		c.Do = fmt.Sprintf("Stake %d VITE for %s (%s), or set pow: true for a slow gateway: %s", stakeVITE, a.account, a.name, strings.Join(purposes, ", "))
		return c
	}
	amount, ok := d.missing(a, purposes)
	_, text, _ := strings.Cut(d.Config.AssetAmount(a.chain, a.asset, chain.NewAmount(1)), " ")
	if text = "some " + text; ok {
		c.Amount = &amount
		text = d.Config.AssetAmount(a.chain, a.asset, amount)
	}
	from := " " + fromFunder
	if d.namesNoSender(a.chain) {
		from = ""
	}
	c.Do = fmt.Sprintf("Send %s to %s (%s)%s: %s", text, a.account, a.name, from, strings.Join(purposes, ", "))
	return c
}

// missing returns what an account needs for all purposes beyond its balance, in round figures;
// false if that is not known.
func (d *Doctor) missing(a act, purposes []string) (sum chain.Amount, ok bool) {
	for _, p := range purposes {
		want, known := d.wants[need{a.holding(), p}]
		if !known {
			return sum, false
		}
		var err error
		if sum, err = sum.Add(want); err != nil {
			return sum, false
		}
	}
	if less, err := sum.Sub(d.has[a.holding()]); err == nil && !less.IsZero() {
		sum = less
	}
	return roundUp(sum), !sum.IsZero()
}

// roundUp rounds an amount up to two digits.
func roundUp(a chain.Amount) chain.Amount {
	digits := a.String()
	if len(digits) <= 2 || strings.Trim(digits[2:], "0") == "" {
		return a
	}
	high, err := chain.ParseAmount(digits[:2])
	if err == nil {
		high, err = high.Add(chain.NewAmount(1))
	}
	if err == nil {
		high, _, err = high.Rescale(0, uint8(len(digits)-2)) // an amount has at most 78 digits
	}
	if err != nil {
		return a
	}
	return high
}

// sentence begins a text with a capital letter, unless it begins with a command or a configuration
// key.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if first == "" || strings.ContainsAny(first, "`_.") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
