package rpc

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// dexSeeds are the accounts of the recorded exchange session: indexes 0 to 3 of the public test
// mnemonic "abandon ... art".
var dexSeeds = []string{
	"926773325d643ed6f351d49c2289228c5e7fbbc669e7ff9b6a01c0b41bc9a362", "50ea3cd306e8c9c90e0ccbbfa72941c622c6ba3ef78940c751b0ca6e9c2512b8",
	"9304cc64e8520dc859681dbf0bae7c8b6a53e8f7fc641477f2b82840249223b6", "f95fd79e324b20014a5ccd96c0f34796d1fbf5fb169e50bd013b94e562e9c9be",
}

// dexLine is one recorded step: a query, or a call of an exchange contract with all that came of
// it.
type dexLine struct {
	line
	Method        string
	Params        []any
	Amount, Token string
	SendBlock     *struct{ Address, Data, Hash string }
	ContractSteps []recordedStep
	Error         *struct {
		Code    int
		Message string
	}
}

// recordedStep is one contract's receive.
type recordedStep struct {
	Contract, SendHash, ReceiveHash string
	Status                          string `json:"receiveDataLastByte"`
	Logs                            []struct {
		Topics []string
		Data   string
	}
	Triggered []struct{ To, Amount, Token, Hash string }
}

// dexGenesis has the recorded chain's tokens, each account with more of them than it needs, and
// quota.
func dexGenesis(t testing.TB) (g ledger.Genesis, keys []core.PrivateKey) {
	g.StakeLock = 1
	for _, seed := range dexSeeds {
		keys = append(keys, key(t, seed))
	}
	owner := keys[0].Address()
	token := func(id, name, symbol string, decimals uint8, total, max uint64, ownerBurns bool) ledger.TokenInfo {
		return ledger.TokenInfo{
			ID: tokenID(id), Name: name, Symbol: symbol, Decimals: decimals, Owner: owner, TotalSupply: *uint256.NewInt(total),
			MaxSupply: *uint256.NewInt(max), ReIssuable: true, OwnerBurnOnly: ownerBurns,
		}
	}
	supply := vite(1e9)
	g.Tokens = []ledger.TokenInfo{
		token(core.VITE.String(), "Vite Token", "VITE", 18, 0, 0, false),
		token("tti_b60952f6f524f0e78c29a9d9", "Gate Test Token", "GTT", 8, 100_000_000_000_000, 1_000_000_000_000_000, true),
		token("tti_322862b3f8edae3b02b110b1", "BTC", "BTC", 8, 1, 1, true),
		token("tti_06822f8d096ecdf9356b666c", "ETH", "ETH", 18, 1, 1, true),
		token("tti_973afc9ffd18c4679de42e93", "USDT", "USDT", 6, 1, 1, true),
	}
	g.Tokens = append(g.Tokens, ledger.TokenInfo{ID: dex.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: owner, TotalSupply: supply})
	g.Tokens[0].TotalSupply = supply
	g.Tokens[0].MaxSupply.Mul(&supply, uint256.NewInt(100))
	gtt := g.Tokens[1].ID
	for _, k := range keys {
		g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: k.Address(), Balances: map[core.TokenID]uint256.Int{
			core.VITE: vite(5_000_000), gtt: *uint256.NewInt(1_000_000_000_000), dex.VX: vite(1_000_000),
		}})
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: owner, Beneficiary: k.Address(), Amount: vite(1_000_000)})
	}
	g.ExchangeOwner = owner
	return g, keys
}

// dexReplay plays the recorded exchange session to our node.
type dexReplay struct {
	*fixture
	names *binding
	keys  map[core.Address]core.PrivateKey
	first core.PrivateKey
}

func newDexReplay(t *testing.T) *dexReplay {
	genesis, keys := dexGenesis(t)
	f := serveGenesis(t, genesis, nil)
	r := &dexReplay{fixture: f, names: newBinding(), keys: map[core.Address]core.PrivateKey{}, first: keys[0]}
	for _, k := range keys {
		r.keys[k.Address()] = k
	}
	return r
}

// TestDexReplay plays every call and query of the recorded session. Each receive of a contract must
// have the recorded status, logs and sends, byte for byte but for the hashes of blocks; each query
// the recorded answer.
func TestDexReplay(t *testing.T) {
	file, err := os.Open("testdata/dex.jsonl")
	require.NoError(t, err)
	defer file.Close()
	r, v := newDexReplay(t), judge(t, "dex")
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		var l dexLine
		require.NoError(t, json.Unmarshal(lines.Bytes(), &l))
		l.number = n
		switch {
		case l.Request != nil:
			v.add(l.line, r.query(l.line))
		case l.Method != "":
			v.add(l.line, r.call(&l))
		}
	}
	require.NoError(t, lines.Err())
	v.finish()
}

func (r *dexReplay) query(l line) error {
	asked, want := parseCall(r.t, l.Request), parseCall(r.t, l.Response)
	got := r.post(call{Method: asked.Method, Params: r.names.translate(asked.Params)})
	compare := &comparison{r.names, nil}
	return errors.Join(compare.differ("error", want.Error, got.Error), compare.differ("result", r.names.translate(want.Result), got.Result))
}

// call submits the recorded call by the recorded account and compares what comes of it.
func (r *dexReplay) call(l *dexLine) error {
	b, err := r.block(l)
	require.NoError(r.t, err, l.Label)
	err = r.node.Submit(r.t.Context(), b)
	if l.Error != nil {
		var refused *ledger.Error
		require.ErrorAs(r.t, err, &refused, l.Label)
		if refused.Code != l.Error.Code || refused.Message != l.Error.Message {
			return fmt.Errorf("refused with %d %s, want %d %s", refused.Code, refused.Message, l.Error.Code, l.Error.Message)
		}
		return nil
	}
	require.NoError(r.t, err, l.Label)
	require.NoError(r.t, r.names.relate(l.SendBlock.Hash, b.Hash.String()))
	r.wait(time.Second)
	_, err = r.node.Snapshot()
	require.NoError(r.t, err)
	var all []error
	for i := range l.ContractSteps {
		all = append(all, r.step(&l.ContractSteps[i]))
	}
	return errors.Join(all...)
}

// block rebuilds the call from its name and parameters; where the recorded call is shown, the data
// must be equal.
func (r *dexReplay) block(l *dexLine) (*core.AccountBlock, error) {
	method, contract := dexMethod(l.Method)
	args, err := arguments(method, l.Params)
	if err != nil {
		return nil, err
	}
	from := r.first
	recorded, err := method.Pack(args...)
	if err != nil {
		return nil, err
	}
	if l.SendBlock != nil {
		from = r.keys[address(l.SendBlock.Address)]
		if base64.StdEncoding.EncodeToString(recorded) != l.SendBlock.Data {
			return nil, errors.New("call data differs")
		}
	}
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: from.Address(), ToAddress: contract, TokenID: core.VITE, Data: r.ourHashes(recorded),
	}
	if l.Amount != "" {
		b.Amount, b.TokenID = *uint256.MustFromDecimal(l.Amount), tokenID(l.Token)
	}
	b.Height, b.PreviousHash = r.next(b.Address)
	b.SignWith(from)
	return b, nil
}

func dexMethod(name string) (core.Method, core.Address) {
	for _, m := range []core.Method{dex.TradeCancel, dex.TradeCancelByHash} {
		if m.Name() == name {
			return m, core.DexTradeContract
		}
	}
	for _, m := range []core.Method{
		dex.FundDeposit, dex.FundAgentDeposit, dex.FundWithdraw, dex.FundAssignedWithdraw, dex.FundTransfer, dex.FundOpenMarket,
		dex.FundPlaceOrder, dex.FundPlaceAgentOrder, dex.FundCancelBySendHash, dex.FundConfigAgents, dex.FundMarketAdmin,
		dex.FundNotifyTime, dex.FundDexAdmin, dex.FundTradeAdmin,
	} {
		if m.Name() == name {
			return m, core.DexFundContract
		}
	}
	return core.Method{}, core.Address{}
}

// arguments reads recorded parameters as the method's types.
func arguments(m core.Method, params []any) (args []any, err error) {
	for i, t := range m.Inputs() {
		arg, err := argument(t.String(), params[i])
		if err != nil {
			return nil, fmt.Errorf("argument %d of %s: %w", i, m.Name(), err)
		}
		args = append(args, arg)
	}
	return args, nil
}

func argument(kind string, param any) (any, error) {
	text := strings.TrimPrefix(fmt.Sprint(param), "0x")
	switch kind {
	case "bool":
		return param.(bool), nil
	case "string":
		return text, nil
	case "bytes":
		return hex.DecodeString(text)
	case "bytes32":
		return core.ParseHash(text)
	case "address":
		return core.ParseAddress(text)
	case "tokenId":
		return core.ParseTokenID(text)
	case "tokenId[]":
		var list []core.TokenID
		for _, item := range param.([]any) {
			list = append(list, tokenID(item.(string)))
		}
		return list, nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, strconv.ErrSyntax
	}
	return n, nil
}

// ourHashes replaces the recorded hashes of blocks inside data.
func (r *dexReplay) ourHashes(data []byte) []byte {
	for recorded, our := range r.names.ours {
		from, errFrom := core.ParseHash(recorded)
		to, errTo := core.ParseHash(our)
		if errFrom == nil && errTo == nil {
			data = bytes.ReplaceAll(data, from[:], to[:])
		}
	}
	return data
}

// step compares one contract's receive with the recorded one.
func (r *dexReplay) step(want *recordedStep) error {
	send, err := core.ParseHash(r.names.text(want.SendHash))
	require.NoError(r.t, err)
	var got *node.Block
	var logs []ledger.VMLog
	r.node.Read(func(v *node.View) {
		if sent := v.BlockByHash(send); sent != nil && sent.Received != nil {
			got = v.BlockByHash(sent.Received.Hash)
			logs, err = v.Logs(got.Hash)
		}
	})
	require.NoError(r.t, err)
	if got == nil {
		return fmt.Errorf("%s has not received %s", want.Contract, want.SendHash)
	}
	require.Equal(r.t, want.Contract, got.Address.String())
	if status := hex.EncodeToString(got.Data[len(got.Data)-1:]); status != want.Status {
		return fmt.Errorf("%s: status %s, want %s", want.Contract, status, want.Status)
	}
	return errors.Join(r.names.relate(want.ReceiveHash, got.Hash.String()), r.sameLogs(want, logs), r.sameSends(want, got.Triggered))
}

func (r *dexReplay) sameLogs(want *recordedStep, got []ledger.VMLog) error {
	if len(want.Logs) != len(got) {
		return fmt.Errorf("%d logs, want %d", len(got), len(want.Logs))
	}
	for i, l := range want.Logs {
		data, err := base64.StdEncoding.DecodeString(l.Data)
		require.NoError(r.t, err)
		if got[i].Topics[0].String() != l.Topics[0] || !bytes.Equal(r.ourHashes(data), got[i].Data) {
			return fmt.Errorf("log %d: %x, want %x", i, got[i].Data, data)
		}
	}
	return nil
}

func (r *dexReplay) sameSends(want *recordedStep, got []*node.Block) error {
	if len(want.Triggered) != len(got) {
		return fmt.Errorf("%d sends, want %d", len(got), len(want.Triggered))
	}
	for i, s := range want.Triggered {
		m := got[i].Transfer
		if m.To.String() != s.To || m.Amount.Dec() != s.Amount || m.Token.String() != s.Token {
			return fmt.Errorf("send %d: %s of %s to %s, want %v", i, m.Amount.Dec(), m.Token, m.To, s)
		}
		if err := r.names.relate(s.Hash, got[i].Hash.String()); err != nil {
			return err
		}
	}
	return nil
}
