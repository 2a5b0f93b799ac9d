package dev

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/chain"
)

// Demo returns the pages' actions for the demo user.
func (u *DemoUsers) Demo() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /demo/user", u.serve(u.user))
	m.HandleFunc("GET /demo/newcomer", u.serve(u.newcomer))
	m.HandleFunc("POST /demo/pay", u.serve(u.pay))
	m.HandleFunc("POST /demo/rpc", u.rpc)
	m.HandleFunc("GET /demo/funds/{token}", func(w http.ResponseWriter, r *http.Request) {
		u.serve(func(ctx context.Context, _ *json.Decoder) (any, error) { return u.funds(ctx, r.PathValue("token")) })(w, r)
	})
	m.HandleFunc("GET /demo/tx/{chain}/{hash}", u.transaction)
	m.HandleFunc("GET /demo/session", u.serve(u.getSession))
	return m
}

// maxBody bounds what a page may send.
const maxBody = 64 << 10

// serve answers JSON, or an error in words.
func (u *DemoUsers) serve(answer func(ctx context.Context, body *json.Decoder) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var out any
		err := u.await(r.Context(), u.ready)
		if err == nil {
			out, err = answer(r.Context(), json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)))
		}
		if err != nil {
			out = map[string]string{"error": err.Error(), "code": codeOf(err)}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(out) // fails when the client has gone
	}
}

// Codes of errors, for pages. A payment with another code may have been sent.
const (
	codeBalance = "balance" // the payer has too little
	codeRefused = "refused" // nothing was sent
	codeUnknown = "unknown"
)

var errBalance = errors.New("the demo user has less than that on the source chain")

func codeOf(err error) string {
	switch {
	case errors.Is(err, errBalance), errors.Is(err, errNoCoins):
		return codeBalance
	case errors.Is(err, errPayment), errors.Is(err, errNotReady):
		return codeRefused
	}
	return codeUnknown
}

var errNotReady = errors.New("the demo user is not ready yet")

// await waits for what the demo user needs; what is there already is there also for who leaves.
func (u *DemoUsers) await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errNotReady
	}
}

// demoAccount contains a page's data for acting as the demo user's wallet.
type demoAccount struct {
	Address    string `json:"address"`
	PrivateKey string `json:"privateKey"` // seed and public key, as wallet libraries have it
	Source     string `json:"source"`     // address on the source chain; "" for none
}

func (u *DemoUsers) user(context.Context, *json.Decoder) (any, error) {
	return u.account(demoIndex, crypto.PubkeyToAddress(u.source.PublicKey).Hex())
}

func (u *DemoUsers) newcomer(context.Context, *json.Decoder) (any, error) {
	return u.account(newcomerIndex, "")
}

func (u *DemoUsers) account(n uint32, source string) (any, error) {
	key, err := u.info.UserKey(n)
	if err != nil {
		return nil, err
	}
	return demoAccount{Address: key.Address().String(), PrivateKey: hex.EncodeToString(key.Bytes()), Source: source}, nil
}

// payment is a page's request for a payment by the demo user's account on the source chain.
type payment struct {
	TokenID string `json:"tokenId"`
	To      string `json:"to"`
	Label   string `json:"label"`
	Amount  string `json:"amount"` // smallest units
}

var errPayment = errors.New("tokenId of the environment, address and amount are required")

// pay deposits: it sends coins or tokens on the source chain, with a label where there is one.
func (u *DemoUsers) pay(ctx context.Context, body *json.Decoder) (any, error) {
	var p payment
	if body.Decode(&p) != nil {
		return nil, errPayment
	}
	amount, err := chain.ParseAmount(p.Amount)
	if err != nil {
		return nil, errPayment
	}
	if c := u.info.Coin; c != nil && c.Token.Token == p.TokenID {
		hash, err := u.payCoins(ctx, *c, p.To, amount)
		return map[string]string{"hash": hash}, err
	}
	if !common.IsHexAddress(p.To) {
		return nil, errPayment
	}
	if err := u.await(ctx, u.ready); err != nil {
		return nil, err
	}
	for _, k := range u.info.Tokens {
		if k.Token == p.TokenID {
			hash, err := u.send(ctx, k, p, amount)
			return map[string]string{"hash": hash.Hex()}, err
		}
	}
	return nil, errPayment
}

func (u *DemoUsers) send(ctx context.Context, k Token, p payment, amount chain.Amount) (common.Hash, error) {
	u.paying.Lock()
	defer u.paying.Unlock()
	payer, err := NewEthUser(ctx, u.info.Source, u.source)
	if err != nil {
		return common.Hash{}, err
	}
	defer payer.Client.Close()
	have, err := payer.Balance(ctx, k.Asset, payer.Address())
	if err != nil {
		return common.Hash{}, err
	}
	if have.Cmp(amount.Uint256().ToBig()) < 0 {
		return common.Hash{}, errBalance
	}
	return payer.Pay(ctx, k.Asset, common.HexToAddress(p.To), amount.Uint256().ToBig(), []byte(p.Label))
}

// demoFunds are the demo user's funds on the source chain, in the asset's smallest units.
type demoFunds struct {
	Balance string `json:"balance"`
	Cost    string `json:"cost"` // the most that the network takes for a payment, where it is paid in the same asset
}

func (u *DemoUsers) funds(ctx context.Context, token string) (any, error) {
	if err := u.await(ctx, u.ready); err != nil {
		return nil, err
	}
	if c := u.info.Coin; c != nil && c.Token.Token == token {
		u.paying.Lock()
		defer u.paying.Unlock()
		if err := u.openCoins(*c); err != nil {
			return nil, err
		}
		balance, err := u.coins.Balance(u.coins.Address())
		return demoFunds{strconv.FormatInt(balance, 10), strconv.Itoa(coinFee)}, err
	}
	for _, k := range u.info.Tokens {
		if k.Token == token {
			return u.fundsOf(ctx, k.Asset)
		}
	}
	return nil, errPayment
}

func (u *DemoUsers) fundsOf(ctx context.Context, asset string) (any, error) {
	payer, err := NewEthUser(ctx, u.info.Source, u.source)
	if err != nil {
		return nil, err
	}
	defer payer.Client.Close()
	balance, err := payer.Balance(ctx, asset, payer.Address())
	if err != nil {
		return nil, err
	}
	cost := new(big.Int)
	if asset == nativeAsset {
		if cost, err = payer.cost(ctx); err != nil {
			return nil, err
		}
	}
	return demoFunds{balance.String(), cost.String()}, nil
}

// payCoins pays with coins of the faucet.
func (u *DemoUsers) payCoins(ctx context.Context, c Coin, to string, amount chain.Amount) (hash string, err error) {
	u.paying.Lock()
	defer u.paying.Unlock()
	if err := u.openCoins(c); err != nil {
		return "", err
	}
	return u.coins.Pay(ctx, to, amount)
}

// openCoins is called under paying.
func (u *DemoUsers) openCoins(c Coin) (err error) {
	if u.coins == nil { // it reads the chain from its first block
		u.coins, err = c.User(faucetName)
	}
	return err
}

// rpc hands a call on to the exchange chain's node.
func (u *DemoUsers) rpc(w http.ResponseWriter, r *http.Request) {
	if err := u.await(r.Context(), u.ready); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	node, err := url.Parse(u.info.Exchange)
	if err != nil {
		http.Error(w, "the node's URL is none", http.StatusInternalServerError)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path, p.Out.Host = node.Scheme, node.Host, "/", node.Host
			p.Out.Header.Del("Origin")
		},
		ModifyResponse: func(answer *http.Response) error {
			for name := range answer.Header {
				if name != "Content-Type" && name != "Content-Length" {
					answer.Header.Del(name) // this listener sets its own
				}
			}
			return nil
		},
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	proxy.ServeHTTP(w, r)
}

var errNoSession = errors.New("the demo user's API key is being created")

// sessionTimeout bounds a page's wait for the key, which is made in the first seconds.
const sessionTimeout = 10 * time.Second

// getSession returns the demo user's API key, and informs the market maker of a viewer.
func (u *DemoUsers) getSession(ctx context.Context, _ *json.Decoder) (any, error) {
	u.watched.markSeen()
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	if u.await(ctx, u.opened) != nil {
		return nil, errNoSession
	}
	return u.session, nil
}
