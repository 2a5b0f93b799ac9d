package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// Burst is many users who deposit and withdraw at the same time. What they withdraw, sponsors have
// brought over the bridge before.
type Burst struct {
	info     dev.Info
	log      *Log
	gateway  *dev.GatewayUser
	Node     *client.Client
	Payer    *dev.EthUser // sends all deposits, from its own line of nonces
	home     core.Address // the gateway's account on the exchange chain
	Sponsors []*sponsor
	Users    []*burstUser
}

// burstUser deposits one amount and withdraws another one. The amounts differ between users, so
// that none can get another's unseen.
type burstUser struct {
	*dev.ViteUser
	Token     dev.Token
	Deposit   chain.Amount
	Net       chain.Amount // arrives at the payee
	Gross     chain.Amount // net and the gateway's fee
	Place     dev.DepositInfo
	payee     common.Address
	known     *big.Int // coin that the payee has before the withdrawal
	deposited common.Hash
	withdrawn core.Hash
}

// sponsor is one of the staked accounts of a development environment. It stakes for users and gives
// them what they withdraw.
type sponsor struct {
	*dev.ViteUser
	Token dev.Token
	users []*burstUser
	Place dev.DepositInfo
}

// New makes new users, each with a sponsor that has the same token.
func NewBurst(ctx context.Context, info dev.Info, count int, log *Log) (_ *Burst, err error) {
	b := &Burst{info: info, log: log, gateway: dev.NewGatewayUser(info.Gateway)}
	if b.Node, err = client.Dial(ctx, info.Exchange, client.Options{}); err != nil {
		return nil, err
	}
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, err
	}
	if b.Payer, err = dev.NewEthUser(ctx, info.Source, key); err != nil {
		return nil, err
	}
	for i := range min(count, dev.Users) {
		key, err := info.UserKey(uint32(i))
		if err != nil {
			return nil, err
		}
		b.Sponsors = append(b.Sponsors, &sponsor{ViteUser: &dev.ViteUser{Node: b.Node, Key: key}, Token: info.Tokens[i%len(info.Tokens)]})
	}
	for i := range count {
		s := b.Sponsors[i%len(b.Sponsors)]
		u, err := newBurstUser(b.Node, s.Token, uint64(i))
		if err != nil {
			return nil, err
		}
		b.Users, s.users = append(b.Users, u), append(s.users, u)
	}
	return b, nil
}

func newBurstUser(node *client.Client, t dev.Token, n uint64) (*burstUser, error) {
	var seed [core.SeedSize]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, err
	}
	key, err := core.NewPrivateKey(seed[:])
	if err != nil {
		return nil, err
	}
	u := &burstUser{ViteUser: &dev.ViteUser{Node: node, Key: key}, Token: t, known: new(big.Int)}
	if u.payee, err = dev.NewPayee(); err != nil {
		return nil, err
	}
	twice, err := chain.MustAmount(t.Minimum).Mul(2)
	if err != nil {
		return nil, err
	}
	if u.Deposit, err = twice.Add(chain.NewAmount(2 * n)); err != nil {
		return nil, err
	}
	u.Net, err = twice.Add(chain.NewAmount(2*n + 1))
	return u, err
}

func (b *Burst) Close() {
	b.Payer.Client.Close()
	b.Node.Close()
}

// Prepare asks the gateway for every user's address and fee, and gives the users quota and what
// they will withdraw.
func (b *Burst) Prepare(ctx context.Context) error {
	for _, part := range []struct {
		title string
		act   func(context.Context) error
	}{
		{"Every user asks where to deposit and what a withdrawal costs", b.bind},
		{"Sponsors bring over the bridge what users will withdraw", b.bring},
		{"Sponsors stake for the users and hand it out", b.handOut},
	} {
		b.log.Step(part.title)
		if err := part.act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bind does what wallets' deposit and withdraw pages do before anything is sent.
func (b *Burst) bind(ctx context.Context) error {
	return dev.Each(ctx, len(b.Users), func(ctx context.Context, i int) (err error) {
		u := b.Users[i]
		if u.Place, err = b.gateway.DepositInfo(ctx, u.Token.Token, u.Address().String()); err != nil {
			return err
		}
		u.Gross, err = b.gateway.Gross(ctx, u.Token.Token, u.Address().String(), u.Net)
		return err
	})
}

// bring gives the payer coins and tokens, deposits what each sponsor's users will withdraw, and
// waits until it is there.
func (b *Burst) bring(ctx context.Context) error {
	var info dev.WithdrawInfo
	first := b.Sponsors[0]
	err := b.gateway.Get(ctx, "/withdraw-info", map[string]string{"tokenId": first.Token.Token, "walletAddress": first.Address().String()}, &info)
	if err != nil {
		return err
	}
	if b.home, err = core.ParseAddress(info.GatewayAddress); err != nil {
		return err
	}
	if err := b.fundPayer(ctx); err != nil {
		return fmt.Errorf("funding the payer: %w", err)
	}
	for _, s := range b.Sponsors {
		if s.Place, err = b.gateway.DepositInfo(ctx, s.Token.Token, s.Address().String()); err != nil {
			return err
		}
		total, err := s.Total()
		if err != nil {
			return err
		}
		target, value, call := dev.TransferOf(s.Token.Asset, common.HexToAddress(s.Place.DepositAddress), total.Uint256().ToBig(), []byte(s.Place.Label))
		if _, err := b.Payer.Submit(ctx, target, value, call); err != nil {
			return fmt.Errorf("depositing for a sponsor: %w", err)
		}
	}
	b.log.Note("waiting until they are final (%d blocks) and credited", b.info.Finality)
	return dev.Each(ctx, len(b.Sponsors), func(ctx context.Context, i int) error {
		s := b.Sponsors[i]
		total, err := s.Total()
		if err != nil {
			return err
		}
		return s.Collect(ctx, s.Token.ID(), total)
	})
}

// Total is the sum of the withdrawals of a sponsor's users.
func (s *sponsor) Total() (sum chain.Amount, err error) {
	for _, u := range s.users {
		if sum, err = sum.Add(u.Gross); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// MakeKnown gives every payee a wei, so that none is a new account of the source chain.
func (b *Burst) MakeKnown(ctx context.Context) error {
	b.log.Step("Every payee gets a wei")
	hashes, err := b.sendAll(ctx, func(u *burstUser) (common.Address, *big.Int, []byte) {
		u.known = big.NewInt(1)
		return u.payee, u.known, nil
	})
	if err != nil {
		return err
	}
	return b.Payer.Mined(ctx, hashes[len(hashes)-1])
}

// fundPayer has the faucet give the payer a hundredth of a coin for each transaction, and of each
// asset what will be deposited, twice over.
func (b *Burst) fundPayer(ctx context.Context) error {
	faucet, err := b.info.Faucet(ctx)
	if err != nil {
		return err
	}
	defer faucet.Client.Close()
	const hundredth = 10_000_000_000_000_000
	need := map[string]*big.Int{"native": new(big.Int).Mul(big.NewInt(hundredth), big.NewInt(int64(2*len(b.Users)+dev.Users)))}
	for _, u := range b.Users {
		sum := need[u.Token.Asset]
		if sum == nil {
			sum = new(big.Int)
			need[u.Token.Asset] = sum
		}
		both := new(big.Int).Add(u.Deposit.Uint256().ToBig(), u.Gross.Uint256().ToBig())
		sum.Add(sum, both.Lsh(both, 1))
	}
	for asset, amount := range need {
		if _, err := faucet.Pay(ctx, asset, b.Payer.Address(), amount, nil); err != nil {
			return err
		}
	}
	return nil
}

// userQuota pays for what a user does within one window: receive what is withdrawn, withdraw,
// receive what was deposited; and one thing more.
const userQuota = 4 * (core.QuotaPerUT + 2000)

// handOut has each sponsor stake for its users and send them what they withdraw; the users receive
// it, which is their first block.
func (b *Burst) handOut(ctx context.Context) error {
	stake, err := core.RequiredStake(userQuota / core.QuotaWindow)
	if err != nil {
		return err
	}
	err = dev.Each(ctx, len(b.Sponsors), func(ctx context.Context, i int) error {
		s := b.Sponsors[i]
		for _, u := range s.users {
			data, err := core.StakeForQuota.Pack(u.Address())
			if err != nil {
				return err
			}
			if _, err := s.Send(ctx, core.QuotaContract, core.VITE, &stake, data); err != nil {
				return fmt.Errorf("staking for a user: %w", err)
			}
			if _, err := s.Send(ctx, u.Address(), u.Token.ID(), u.Gross.Uint256(), nil); err != nil {
				return fmt.Errorf("giving to a user: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return dev.Each(ctx, len(b.Users), func(ctx context.Context, i int) error { return b.Users[i].ReceiveAll(ctx) })
}

func (b *Burst) depositAll(ctx context.Context) error {
	hashes, err := b.sendAll(ctx, func(u *burstUser) (common.Address, *big.Int, []byte) {
		return dev.TransferOf(u.Token.Asset, common.HexToAddress(u.Place.DepositAddress), u.Deposit.Uint256().ToBig(), []byte(u.Place.Label))
	})
	for i, hash := range hashes {
		b.Users[i].deposited = hash
	}
	return err
}

// sendAll signs a transaction for every user with the payer's next nonces and sends them in order,
// in batches.
func (b *Burst) sendAll(ctx context.Context, fields func(*burstUser) (to common.Address, value *big.Int, call []byte)) (hashes []common.Hash, err error) {
	var batch []rpc.BatchElem
	for i, u := range b.Users {
		target, value, call := fields(u)
		tx, err := b.Payer.Sign(ctx, b.Payer.Next+uint64(i), target, value, call)
		if err != nil {
			return nil, err
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, tx.Hash())
		batch = append(batch, rpc.BatchElem{Method: "eth_sendRawTransaction", Args: []any{hexutil.Encode(raw)}, Result: new(string)})
	}
	b.Payer.Next += uint64(len(b.Users))
	return hashes, inBatches(ctx, b.Payer.Client.Client(), batch)
}

// inBatches sends calls in their order, a hundred at a time, and answers the first refusal.
func inBatches(ctx context.Context, node *rpc.Client, calls []rpc.BatchElem) error {
	const size = 100
	for len(calls) > 0 {
		some := calls[:min(size, len(calls))]
		if err := node.BatchCallContext(ctx, some); err != nil {
			return fmt.Errorf("sending a batch: %w", err)
		}
		for _, c := range some {
			if c.Error != nil {
				return fmt.Errorf("%s: %w", c.Method, c.Error)
			}
		}
		calls = calls[len(some):]
	}
	return nil
}

// withdrawAll has every user send to the gateway with the comment that names their payee.
func (b *Burst) withdrawAll(ctx context.Context) error {
	return dev.Each(ctx, len(b.Users), func(ctx context.Context, i int) (err error) {
		u := b.Users[i]
		data, err := u.Token.Withdrawal(u.payee.Hex(), "burst")
		if err != nil {
			return err
		}
		if u.withdrawn, err = u.Send(ctx, b.home, u.Token.ID(), u.Gross.Uint256(), data); err != nil {
			return fmt.Errorf("withdrawing: %w", err)
		}
		return nil
	})
}

// count reports whether the user has exactly the deposit, since what they had before was withdrawn,
// and the payee exactly the withdrawal.
func (u *burstUser) count(ctx context.Context, b *Burst) error {
	if err := u.ReceiveAll(ctx); err != nil {
		return err
	}
	have, err := u.Balance(ctx, u.Token.ID())
	if err != nil {
		return err
	}
	if have != u.Deposit {
		return fmt.Errorf("%w: %s has %s of %s, not %s", ErrAmount, u.Address(), have, u.Token.Symbol, u.Deposit)
	}
	got, err := b.Payer.Balance(ctx, u.Token.Asset, u.payee)
	if err != nil {
		return err
	}
	want := u.Net.Uint256().ToBig()
	if u.Token.Asset == "native" {
		want.Add(want, u.known)
	}
	if got.Cmp(want) != 0 {
		return fmt.Errorf("%w: %s has %s of %s, not %s", ErrAmount, u.payee, got, u.Token.Symbol, want)
	}
	return nil
}
