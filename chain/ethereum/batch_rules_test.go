package ethereum

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
)

const ruledThief = "0x00000000000000000000000000000000DeaDBeef"

// ruledBatch is a batch of three payments; the first and the last are equal.
func ruledBatch(rules *SigningRules, asset chain.Asset) chain.Payment {
	member := func(id uint64, to string, amount uint64) chain.Payment {
		return chain.Payment{ID: id, Purpose: chain.Credit, Asset: asset, To: to, Amount: chain.NewAmount(amount)}
	}
	batch := chain.Payment{ID: 9, Purpose: chain.Batch, Asset: asset, To: rules.payouts.Hex(), Amount: chain.NewAmount(1250)}
	batch.Members = []chain.Payment{member(1, ruledPayee, 500), member(2, "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", 250), member(3, ruledPayee, 500)}
	batch.Members[1].Purpose = chain.Refund
	return batch
}

func (c *SigningRules) unsignedTx(t *testing.T, pay chain.Payment, gas uint64) *types.DynamicFeeTx {
	t.Helper()
	slot := ruledSlot(t)
	msg, err := c.message(slot, pay)
	require.NoError(t, err)
	return c.unsigned(slot.Nonce, msg, gas, fees{tip: uint256.NewInt(1e9), cap: uint256.NewInt(90e9)}).(*types.DynamicFeeTx)
}

// TestWhatIsNotTheBatchIsNotSigned alters one field of a batch's transaction at a time.
func TestWhatIsNotTheBatchIsNotSigned(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	coin, token := ruledBatch(rules, chain.Native), ruledBatch(rules, ruledToken)
	allow := chain.Payment{ID: 8, Purpose: chain.Allow, Asset: ruledToken, To: rules.payouts.Hex()}
	for _, pay := range []chain.Payment{coin, token, allow} {
		tx := rules.unsignedTx(t, pay, 300_000)
		_, err := rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, tx)})
		require.NoError(t, err)
	}
	wide := rules.unsignedTx(t, token, 300_000)
	call, _ := readBatchCall(wide.Data)
	call.gas = wideBatchGas
	wide.Data = call.data()
	_, err := rules.Digests(chain.Order{Slot: slot, Payment: token, Unsigned: unsignedOf(t, wide)})
	require.NoError(t, err, "the other of the two bounds of gas")
	thief := common.HexToAddress(ruledThief)
	change := func(edit func(b *batchCall)) func(*types.DynamicFeeTx) {
		return func(tx *types.DynamicFeeTx) {
			call, ok := readBatchCall(tx.Data)
			require.True(t, ok)
			edit(&call)
			tx.Data = call.data()
		}
	}
	cases := []struct {
		name   string
		change func(*types.DynamicFeeTx)
		why    string
	}{
		{"payee", change(func(b *batchCall) { b.pays[1].to = thief }), "data: "},
		{"amount", change(func(b *batchCall) { b.pays[1].amount.SetUint64(251) }), "data: "},
		{"order", change(func(b *batchCall) { b.pays[0], b.pays[1] = b.pays[1], b.pays[0] }), "data: "},
		{"one more", change(func(b *batchCall) { b.pays = append(b.pays, b.pays[0]) }), "data: "},
		{"one less", change(func(b *batchCall) { b.pays = b.pays[:2] }), "data: "},
		{"other token", change(func(b *batchCall) { b.token = &thief }), "data: "},
		{"trailing byte", func(tx *types.DynamicFeeTx) { tx.Data = append(tx.Data, 0) }, "data: "},
		{"trailing word", func(tx *types.DynamicFeeTx) { tx.Data = append(tx.Data, make([]byte, 32)...) }, "data: "},
		{"padding", func(tx *types.DynamicFeeTx) { tx.Data[len(tx.Data)-1] = 1 }, "data: "},
		{"gas of a payee", func(tx *types.DynamicFeeTx) { tx.Data[bytes.LastIndex(tx.Data[:100], []byte{0})]++ }, "data: "},
		{"no data", func(tx *types.DynamicFeeTx) { tx.Data = nil }, "data: "},
		{"other contract", func(tx *types.DynamicFeeTx) { tx.To = &thief }, "to: "},
		{"new contract", func(tx *types.DynamicFeeTx) { tx.To = nil }, "the transaction creates a contract"},
		{"more value", func(tx *types.DynamicFeeTx) { tx.Value = new(big.Int).Add(tx.Value, common.Big1) }, "value: "},
		{"less value", func(tx *types.DynamicFeeTx) {
			if tx.Value = new(big.Int).Rsh(tx.Value, 1); tx.Value.Sign() == 0 {
				tx.Value = common.Big1
			}
		}, "value: "},
		{"nonce", func(tx *types.DynamicFeeTx) { tx.Nonce++ }, "nonce: "},
		{"chain", func(tx *types.DynamicFeeTx) { tx.ChainID = common.Big2 }, "chain id: "},
		{"gas", func(tx *types.DynamicFeeTx) { tx.Gas = 3_000_000 }, "gas: "},
		{"access list", func(tx *types.DynamicFeeTx) { tx.AccessList = types.AccessList{{Address: thief}} }, "more in it"},
	}
	for _, pay := range []chain.Payment{coin, token} {
		for _, c := range cases {
			tx := rules.unsignedTx(t, pay, 300_000)
			c.change(tx)
			_, err := rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, tx)})
			require.ErrorContains(t, err, c.why, "%s of %s", c.name, pay.Asset)
		}
	}
	tx := rules.unsignedTx(t, allow, 60_000)
	tx.Data = approveCall(thief)
	_, err = rules.Digests(chain.Order{Slot: slot, Payment: allow, Unsigned: unsignedOf(t, tx)})
	require.ErrorContains(t, err, "data: ", "an allowance for another contract")
	tx = rules.unsignedTx(t, allow, 60_000)
	tx.To = &thief
	_, err = rules.Digests(chain.Order{Slot: slot, Payment: allow, Unsigned: unsignedOf(t, tx)})
	require.ErrorContains(t, err, "to: ", "an allowance of another token")
}

// TestWhatIsNoBatch has payments that no batch may make.
func TestWhatIsNoBatch(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	for name, edit := range map[string]func(b *chain.Payment){
		"another contract":   func(b *chain.Payment) { b.To = ruledThief },
		"no contract":        func(b *chain.Payment) { b.To = "" },
		"a label":            func(b *chain.Payment) { b.Label = "L" },
		"a source":           func(b *chain.Payment) { b.Source = "0x00" },
		"more than its sum":  func(b *chain.Payment) { b.Amount = chain.NewAmount(1251) },
		"less than its sum":  func(b *chain.Payment) { b.Amount = chain.NewAmount(1249) },
		"nobody":             func(b *chain.Payment) { b.Members, b.Amount = nil, chain.Amount{} },
		"too many":           func(b *chain.Payment) { b.Members = make([]chain.Payment, maxMembers+1) },
		"an unknown token":   func(b *chain.Payment) { b.Asset = ruledThief },
		"a member's token":   func(b *chain.Payment) { b.Members[1].Asset = ruledThief },
		"a member's label":   func(b *chain.Payment) { b.Members[1].Label = "L" },
		"a member's source":  func(b *chain.Payment) { b.Members[1].Source = "0x00" },
		"a member's members": func(b *chain.Payment) { b.Members[1].Members = b.Members[:1] },
		"a sweep":            func(b *chain.Payment) { b.Members[1].Purpose = chain.Sweep },
		"cold money":         func(b *chain.Payment) { b.Members[1].Purpose = chain.Cold },
		"a batch in it":      func(b *chain.Payment) { b.Members[1].Purpose = chain.Batch },
		"a zero":             func(b *chain.Payment) { b.Members[1].Amount, b.Amount = chain.Amount{}, chain.NewAmount(1000) },
		"the zero address":   func(b *chain.Payment) { b.Members[1].To = common.Address{}.Hex() },
		"the token itself":   func(b *chain.Payment) { b.Members[1].To = ruledToken },
		"the batch contract": func(b *chain.Payment) { b.Members[1].To = b.To },
		"a wide amount": func(b *chain.Payment) {
			b.Members[1].Amount = chain.AmountOf(new(uint256.Int).Lsh(uint256.NewInt(1), 128))
			b.Amount, _ = b.Members[1].Amount.Add(chain.NewAmount(1000))
		},
	} {
		for _, asset := range []chain.Asset{chain.Native, ruledToken} {
			b := ruledBatch(rules, asset)
			edit(&b)
			_, err := rules.message(slot, b)
			require.Error(t, err, name)
		}
	}
	for name, edit := range map[string]func(p *chain.Payment){
		"coin":             func(p *chain.Payment) { p.Asset = chain.Native },
		"an unknown token": func(p *chain.Payment) { p.Asset = ruledThief },
		"another spender":  func(p *chain.Payment) { p.To = ruledThief },
		"an amount":        func(p *chain.Payment) { p.Amount = chain.NewAmount(1) },
		"members":          func(p *chain.Payment) { p.Members = ruledBatch(rules, ruledToken).Members },
		"a label":          func(p *chain.Payment) { p.Label = "L" },
	} {
		p := chain.Payment{Purpose: chain.Allow, Asset: ruledToken, To: rules.payouts.Hex()}
		edit(&p)
		_, err := rules.message(slot, p)
		require.Error(t, err, name)
	}
	with := ruledBatch(rules, chain.Native)
	with.Purpose = chain.Credit
	with.To = ruledPayee
	_, err := rules.message(slot, with)
	require.Error(t, err, "members of a single payment")
}

// TestBatchFee: the fee of a batch is all of its gas, within the bound of its payment.
func TestBatchFee(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	pay := ruledBatch(rules, ruledToken)
	o := chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, rules.unsignedTx(t, pay, 300_000))}
	fee, err := rules.Fee(o)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(300_000*90e9), fee)
	o.Payment.MaxFee = chain.NewAmount(300_000*90e9 - 1)
	_, err = rules.Fee(o)
	require.ErrorContains(t, err, "is over the payment's")
}

// TestBatchCallIsTheContracts compares the call data and the event with the compiler's own encoding.
func TestBatchCallIsTheContracts(t *testing.T) {
	to, token := common.HexToAddress(ruledPayee), common.HexToAddress(ruledToken)
	amount := *uint256.NewInt(0x1234)
	word := amount.Bytes32()
	packed := append(append([]byte{}, to[:]...), word[16:]...)
	coin := batchCall{pays: []movement{{to: to, amount: amount}}}
	require.Equal(t, contracts.NewPayouts().PackPayCoin(big.NewInt(coinBatchGas), packed), coin.data())
	tokens := batchCall{token: &token, gas: tokenBatchGas, pays: coin.pays}
	require.Equal(t, contracts.NewPayouts().PackPayToken(token, big.NewInt(tokenBatchGas), packed), tokens.data())
	require.Equal(t, contracts.NewTestToken().PackApprove(to, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))), approveCall(to))
	require.Equal(t, contracts.NewTestToken().PackAllowance(to, token), allowanceCall(to, token))
	parsed, err := contracts.PayoutsMetaData.ParseABI()
	require.NoError(t, err)
	require.Equal(t, crypto.Keccak256Hash([]byte(topicPaid)), parsed.Events["Paid"].ID)
}

// TestLastEventOfABatchCounts: payees that call the contract write events of it too.
func TestLastEventOfABatchCounts(t *testing.T) {
	contract, payer := common.HexToAddress(ruledPayee), common.HexToAddress(ruledThief)
	event := func(by common.Address, paid byte) wireLog {
		data := make([]byte, 32)
		data[31] = paid
		return wireLog{Address: contract, Topics: []common.Hash{crypto.Keccak256Hash([]byte(topicPaid)), common.BytesToHash(by[:])}, Data: data}
	}
	other := wireLog{Address: payer}
	for name, c := range map[string]struct {
		logs []wireLog
		paid uint64
		ok   bool
	}{
		"its own":                   {[]wireLog{event(payer, 5)}, 5, true},
		"others before it":          {[]wireLog{event(contract, 7), event(payer, 7), event(payer, 5), other}, 5, true},
		"of another caller":         {[]wireLog{event(payer, 5), event(contract, 7)}, 0, false},
		"none":                      {[]wireLog{other}, 0, false},
		"another event":             {[]wireLog{event(payer, 5), {Address: contract}}, 0, false},
		"an event with more topics": {[]wireLog{{Address: contract, Topics: append(event(payer, 5).Topics, common.Hash{}), Data: make([]byte, 32)}}, 0, false},
		"an event with more data":   {[]wireLog{{Address: contract, Topics: event(payer, 5).Topics, Data: make([]byte, 64)}}, 0, false},
	} {
		paid, ok := paidLog(c.logs, contract, payer)
		require.Equal(t, c.ok, ok, name)
		if ok {
			require.Equal(t, c.paid, paid.Uint64(), name)
		}
	}
	word := new(uint256.Int).Lsh(uint256.NewInt(1), 77)
	for n := range 256 {
		require.Equal(t, n == 77, bit(word, n))
	}
}

// TestMembersOfABatch holds what the contract reports against the events of the token.
func TestMembersOfABatch(t *testing.T) {
	us, token := common.HexToAddress(ruledThief), common.HexToAddress(ruledToken)
	payee, other := common.HexToAddress(ruledPayee), common.HexToAddress("0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359")
	pay := func(to common.Address, amount uint64) movement {
		return movement{to: to, amount: *uint256.NewInt(amount)}
	}
	event := func(by, from, to common.Address, amount uint64) wireLog {
		word := uint256.NewInt(amount).Bytes32()
		return wireLog{Address: by, Topics: []common.Hash{params.EthTransferLogEvent, common.BytesToHash(from[:]), common.BytesToHash(to[:])}, Data: word[:]}
	}
	paid, void, differs := chain.MemberPaid, chain.MemberVoid, chain.MemberDiffers
	for name, c := range map[string]struct {
		bits uint64
		logs []wireLog
		want []chain.Outcome
	}{
		"all":                      {7, []wireLog{event(token, us, payee, 5), event(token, us, payee, 5), event(token, us, other, 6)}, []chain.Outcome{paid, paid, paid}},
		"in another order":         {7, []wireLog{event(token, us, other, 6), event(token, us, payee, 5), event(token, us, payee, 5)}, []chain.Outcome{paid, paid, paid}},
		"one event for two":        {7, []wireLog{event(token, us, payee, 5), event(token, us, other, 6)}, []chain.Outcome{paid, void, paid}},
		"the second of two":        {6, []wireLog{event(token, us, payee, 5), event(token, us, other, 6)}, []chain.Outcome{void, paid, paid}},
		"an event of a failed one": {3, []wireLog{event(token, us, payee, 5), event(token, us, payee, 5), event(token, us, other, 6)}, []chain.Outcome{paid, paid, differs}},
		"of another amount":        {7, []wireLog{event(token, us, payee, 5), event(token, us, payee, 4), event(token, us, other, 6)}, []chain.Outcome{paid, differs, paid}},
		"of another token":         {7, []wireLog{event(token, us, payee, 5), event(other, us, payee, 5), event(token, us, other, 6)}, []chain.Outcome{paid, void, paid}},
		"of another account":       {7, []wireLog{event(token, us, payee, 5), event(token, payee, payee, 5), event(token, us, other, 6)}, []chain.Outcome{paid, void, paid}},
		"to another payee":         {7, []wireLog{event(token, us, payee, 5), event(token, us, us, 5), event(token, us, other, 6)}, []chain.Outcome{paid, differs, paid}},
		"nothing":                  {7, nil, []chain.Outcome{void, void, void}},
	} {
		b := &ownBatch{batchCall: batchCall{token: &token, pays: []movement{pay(payee, 5), pay(payee, 5), pay(other, 6)}}}
		b.members = []chain.Outcome{differs, differs, differs}
		b.tokenOutcomes(&transaction{from: us, to: &other, logs: c.logs}, uint256.NewInt(c.bits))
		require.Equal(t, c.want, b.members, name)
	}
}

// TestBatchCallHasOneForm: other texts that the contract would read alike are no batch of ours.
func TestBatchCallHasOneForm(t *testing.T) {
	token := common.HexToAddress(ruledToken)
	for _, b := range []batchCall{
		{pays: []movement{{to: token, amount: *uint256.NewInt(7)}}},
		{token: &token, gas: tokenBatchGas, pays: []movement{{to: token, amount: *uint256.NewInt(7)}}},
	} {
		got, ok := readBatchCall(b.data())
		require.True(t, ok)
		require.Equal(t, b, got)
		for name, edit := range map[string]func(d []byte) []byte{
			"trailing byte": func(d []byte) []byte { return append(d, 0) },
			"padding":       func(d []byte) []byte { d[len(d)-1] = 1; return d },
			"no padding":    func(d []byte) []byte { return d[:len(d)-28] },
			"offset":        func(d []byte) []byte { d[len(d)-64-32-1]++; return d },
			"gas":           func(d []byte) []byte { d[len(d)-64-64-1]++; return d },
			"wide gas":      func(d []byte) []byte { d[len(d)-64-64-20] = 1; return d },
			"wide size":     func(d []byte) []byte { d[len(d)-64-20] = 1; return d },
			"more size":     func(d []byte) []byte { d[len(d)-64-1]++; return d },
			"selector":      func(d []byte) []byte { d[0]++; return d },
			"head only":     func(d []byte) []byte { return d[:40] },
		} {
			_, ok := readBatchCall(edit(b.data()))
			require.False(t, ok, name)
		}
	}
}

// FuzzReadBatchCall: what is read as a batch is written as the same bytes, so that two texts never
// mean one batch, and no input is too odd to refuse.
func FuzzReadBatchCall(f *testing.F) {
	token := common.HexToAddress(ruledToken)
	pays := []movement{{to: common.HexToAddress(ruledPayee), amount: *uint256.NewInt(7)}, {to: token, amount: *uint256.NewInt(9)}}
	for _, b := range []batchCall{{pays: pays}, {token: &token, gas: wideBatchGas, pays: pays}, {pays: pays[:1]}, {}} {
		f.Add(b.data())
		f.Add(append(b.data(), 0))
		f.Add(b.data()[:len(b.data())-1])
	}
	f.Add([]byte(selectorPayToken))
	f.Add(bytes.Repeat([]byte{0xff}, 200))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, ok := readBatchCall(data)
		if !ok {
			return
		}
		require.Equal(t, data, b.data())
		require.Zero(t, (len(b.data())-4)%32)
		sum, fits := b.sum()
		require.True(t, fits, "amounts of 16 bytes")
		require.NotNil(t, sum)
	})
}
