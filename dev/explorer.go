package dev

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// explorer is the template of links to the transactions of an embedded chain; empty where no page
// can be linked to: without a demo user, or on a port that the system chooses later.
func (o Options) explorer(id string) string {
	host, port, err := net.SplitHostPort(o.Listen)
	if o.Demo == nil || err != nil || port == "0" {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/demo/tx/" + id + "/{$tx}"
}

// fact is one line of a transaction's page: its name in English and Chinese, and its value.
type fact struct{ EN, ZH, Value string }

var noBlock = fact{"Block", "区块", "–"}

var errNoTransaction = errors.New("the chain has no such transaction")

var transactionPage = template.Must(template.New("").Parse(`<!doctype html><html lang="{{if .ZH}}zh-CN{{else}}en{{end}}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{{if .ZH}}交易{{else}}Transaction{{end}} {{.Hash}}</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.5rem 1.5rem}dt,p{opacity:.75}dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,monospace}
@media(max-width:40rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.75rem}}</style>
<main><h1>{{if .ZH}}{{.Chain}} 上的交易{{else}}Transaction on {{.Chain}}{{end}}</h1>
<p>{{if .ZH}}开发环境的内置链，资金没有价值。{{else}}A chain of the development environment. Its funds have no value.{{end}}</p>
<dl><dt>{{if .ZH}}哈希{{else}}Hash{{end}}</dt><dd>{{.Hash}}</dd>{{$zh := .ZH}}{{range .Facts}}<dt>{{if $zh}}{{.ZH}}{{else}}{{.EN}}{{end}}</dt><dd>{{.Value}}</dd>{{end}}</dl></main></html>`))

// transaction shows a transaction of an embedded chain, as a block explorer does.
func (u *DemoUsers) transaction(w http.ResponseWriter, r *http.Request) {
	id, hash := r.PathValue("chain"), r.PathValue("hash")
	var name string
	var read func(context.Context, string) ([]fact, error)
	switch id {
	case "eth":
		name, read = "Ethereum", u.sourceFacts
	case "vite":
		name, read = "Vite", u.exchangeFacts
	default:
		http.NotFound(w, r)
		return
	}
	err := u.await(r.Context(), u.ready)
	var facts []fact
	if err == nil {
		facts, err = read(r.Context(), hash)
	}
	status := http.StatusOK
	if err != nil {
		status, facts = http.StatusNotFound, []fact{{"Answer", "结果", err.Error()}}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.WriteHeader(status)
	_ = transactionPage.Execute(w, map[string]any{ // fails when the client has gone
		"ZH": strings.HasPrefix(r.Header.Get("Accept-Language"), "zh"), "Chain": name, "Hash": hash, "Facts": facts,
	})
}

func (u *DemoUsers) sourceFacts(ctx context.Context, hash string) ([]fact, error) {
	reader, err := NewEthUser(ctx, u.info.Source, u.source)
	if err != nil {
		return nil, err
	}
	defer reader.Client.Close()
	tx, _, err := reader.Client.TransactionByHash(ctx, common.HexToHash(hash))
	if err != nil {
		return nil, fmt.Errorf("asking the source chain: %w", err)
	}
	from, _ := types.Sender(types.LatestSignerForChainID(reader.Chain), tx) // the chain has checked it
	facts := []fact{{"From", "发送方", from.Hex()}, {"To", "接收方", fmt.Sprint(tx.To())}, {"Value", "金额", u.sum(nativeAsset, uint256.MustFromBig(tx.Value()))}}
	receipt, err := reader.Client.TransactionReceipt(ctx, tx.Hash())
	if err != nil {
		return append(facts, noBlock), nil //nolint:nilerr // it is in no block yet
	}
	for _, l := range receipt.Logs { // transfers of tokens: two indexed addresses and an amount
		if len(l.Topics) == 3 && len(l.Data) == 32 {
			payee := common.BytesToAddress(l.Topics[2].Bytes())
			facts = append(facts, fact{"Token transfer", "代币转账", u.sum(l.Address.Hex(), new(uint256.Int).SetBytes(l.Data)) + " → " + payee.Hex()})
		}
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		facts = append(facts, fact{"Result", "结果", "failed"})
	}
	return append(facts, fact{"Block", "区块", receipt.BlockNumber.String()}), nil
}

// sum is an amount of an asset of the source chain, or in smallest units if it is unknown.
func (u *DemoUsers) sum(asset string, amount *uint256.Int) string {
	for _, k := range u.info.Tokens {
		if strings.EqualFold(k.Asset, asset) {
			return chain.AmountOf(amount).Whole(k.Decimals) + " " + symbolOf(k)
		}
	}
	return amount.Dec()
}

func (u *DemoUsers) exchangeFacts(ctx context.Context, text string) ([]fact, error) {
	hash, err := core.ParseHash(text)
	if err != nil {
		return nil, err
	}
	reader, err := NewViteUser(ctx, u.info.Exchange, core.PrivateKey{})
	if err != nil {
		return nil, err
	}
	defer reader.Node.Close()
	b, err := reader.Node.AccountBlockByHash(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("asking the exchange chain: %w", err)
	}
	if b == nil {
		return nil, errNoTransaction
	}
	amount := b.Amount.Dec()
	if b.TokenInfo != nil {
		amount = chain.AmountOf(&b.Amount).Whole(b.TokenInfo.Decimals) + " " + b.TokenInfo.Symbol
	}
	facts := []fact{{"From", "发送方", b.FromAddress.String()}, {"To", "接收方", b.ToAddress.String()}, {"Value", "金额", amount}}
	if c, err := core.DecodeComment(b.Data); err == nil {
		facts = append(facts, fact{"Withdrawal to", "提现至", c.Address})
	}
	if b.FirstSnapshotHash == nil {
		return append(facts, noBlock), nil
	}
	return append(facts, fact{"Block", "区块", strconv.FormatUint(b.FirstSnapshotHeight, 10)}), nil
}
