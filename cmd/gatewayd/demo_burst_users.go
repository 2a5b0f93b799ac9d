package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/wallet/entropy"
)

// burst is many users who deposit and withdraw at the same time. What they withdraw, sponsors have brought over the bridge before.
type burst struct {
	info     devInfo
	log      *demoLog
	gateway  *gatewayUser
	node     *client.Client
	payer    *ethUser     // sends all deposits, from its own line of nonces
	home     core.Address // the gateway's account on the exchange chain
	sponsors []*sponsor
	users    []*burstUser
}

// burstUser deposits one amount and withdraws another one. The amounts differ between users, so that none can get another's unseen.
type burstUser struct {
	*viteUser
	token     devToken
	id        core.TokenID
	deposit   chain.Amount
	net       chain.Amount // arrives at the payee
	gross     chain.Amount // net and the gateway's fee
	place     depositInfo
	payee     common.Address
	deposited common.Hash
	withdrawn core.Hash
}

// sponsor is one of the staked accounts of a development world. It stakes for users and gives them what they withdraw.
type sponsor struct {
	*viteUser
	token devToken
	users []*burstUser
	place depositInfo
}

// newBurst makes new users, each with a sponsor that has the same token.
func newBurst(ctx context.Context, info devInfo, count int, log *demoLog) (_ *burst, err error) {
	b := &burst{info: info, log: log, gateway: newGatewayUser(info.Gateway)}
	if b.node, err = client.Dial(ctx, info.Exchange, client.Options{}); err != nil {
		return nil, err
	}
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, err
	}
	if b.payer, err = newEthUser(ctx, info.Source, key); err != nil {
		return nil, err
	}
	keys := entropy.NewKeys(entropy.Seed(info.Mnemonic, ""))
	for i := range min(count, devUsers) {
		key, err := keys.ByIndex(devUserBase + uint32(i))
		if err != nil {
			return nil, err
		}
		b.sponsors = append(b.sponsors, &sponsor{viteUser: &viteUser{b.node, key}, token: info.Tokens[i%len(info.Tokens)]})
	}
	for i := range count {
		s := b.sponsors[i%len(b.sponsors)]
		u, err := newBurstUser(b.node, s.token, uint64(i))
		if err != nil {
			return nil, err
		}
		b.users, s.users = append(b.users, u), append(s.users, u)
	}
	return b, nil
}

func newBurstUser(node *client.Client, t devToken, n uint64) (*burstUser, error) {
	var seed [core.SeedSize]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, err
	}
	key, err := core.NewPrivateKey(seed[:])
	if err != nil {
		return nil, err
	}
	u := &burstUser{viteUser: &viteUser{node, key}, token: t}
	if u.id, err = core.ParseTokenID(t.Token); err != nil {
		return nil, err
	}
	if u.payee, err = newPayee(); err != nil {
		return nil, err
	}
	twice, err := chain.MustAmount(t.Minimum).Mul(2)
	if err != nil {
		return nil, err
	}
	if u.deposit, err = twice.Add(chain.NewAmount(2 * n)); err != nil {
		return nil, err
	}
	u.net, err = twice.Add(chain.NewAmount(2*n + 1))
	return u, err
}

func (b *burst) close() {
	b.payer.client.Close()
	b.node.Close()
}

// prepare asks the gateway for every user's address and fee, and gives the users quota and what they will withdraw.
func (b *burst) prepare(ctx context.Context) error {
	for _, part := range []struct {
		title string
		act   func(context.Context) error
	}{
		{"Every user asks where to deposit and what a withdrawal costs", b.bind},
		{"Sponsors bring over the bridge what users will withdraw", b.bring},
		{"Sponsors stake for the users and hand it out", b.handOut},
	} {
		b.log.step(part.title)
		if err := part.act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bind does what wallets' deposit and withdraw pages do before anything is sent.
func (b *burst) bind(ctx context.Context) error {
	return each(ctx, len(b.users), func(ctx context.Context, i int) error {
		u := b.users[i]
		wallet := map[string]string{"tokenId": u.token.Token, "walletAddress": u.address().String()}
		if err := b.gateway.get(ctx, "/deposit-info", wallet, &u.place); err != nil {
			return err
		}
		var fee withdrawFee
		wallet["amount"], wallet["containsFee"] = u.net.String(), "false"
		if err := b.gateway.get(ctx, "/withdraw-fee", wallet, &fee); err != nil {
			return err
		}
		charged, err := chain.ParseAmount(fee.Fee)
		if err != nil {
			return fmt.Errorf("fee: %w", err)
		}
		u.gross, err = u.net.Add(charged)
		return err
	})
}

// bring gives the payer coins and tokens, deposits what each sponsor's users will withdraw, and waits until it is there.
func (b *burst) bring(ctx context.Context) error {
	var info withdrawInfo
	first := b.sponsors[0]
	err := b.gateway.get(ctx, "/withdraw-info", map[string]string{"tokenId": first.token.Token, "walletAddress": first.address().String()}, &info)
	if err != nil {
		return err
	}
	if b.home, err = core.ParseAddress(info.GatewayAddress); err != nil {
		return err
	}
	if err := b.fundPayer(ctx); err != nil {
		return fmt.Errorf("funding the payer: %w", err)
	}
	for _, s := range b.sponsors {
		if err := b.gateway.get(ctx, "/deposit-info", map[string]string{"tokenId": s.token.Token, "walletAddress": s.address().String()}, &s.place); err != nil {
			return err
		}
		total, err := s.total()
		if err != nil {
			return err
		}
		target, value, call := transferOf(s.token.Asset, common.HexToAddress(s.place.DepositAddress), total.Uint256().ToBig(), []byte(s.place.Label))
		if _, err := b.payer.submit(ctx, target, value, call); err != nil {
			return fmt.Errorf("depositing for a sponsor: %w", err)
		}
	}
	b.log.note("waiting until they are final (%d blocks) and credited", b.info.Finality)
	return each(ctx, len(b.sponsors), func(ctx context.Context, i int) error { return b.sponsors[i].await(ctx) })
}

// total is what a sponsor's users send to withdraw.
func (s *sponsor) total() (sum chain.Amount, err error) {
	for _, u := range s.users {
		if sum, err = sum.Add(u.gross); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// await receives until a sponsor has what its users will withdraw.
func (s *sponsor) await(ctx context.Context) error {
	total, err := s.total()
	if err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		if err := s.receiveAll(ctx); err != nil {
			return false, err
		}
		have, err := s.balance(ctx, s.users[0].id)
		return !have.Less(total), err
	})
}

// fundPayer has the faucet give the payer a hundredth of a coin for each transaction, and of each asset what will be deposited, twice over.
func (b *burst) fundPayer(ctx context.Context) error {
	key, err := crypto.HexToECDSA(b.info.FaucetKey)
	if err != nil {
		return fmt.Errorf("faucet key: %w", err)
	}
	faucet, err := newEthUser(ctx, b.info.Source, key)
	if err != nil {
		return err
	}
	defer faucet.client.Close()
	const hundredth = 10_000_000_000_000_000
	need := map[string]*big.Int{"native": new(big.Int).Mul(big.NewInt(hundredth), big.NewInt(int64(len(b.users)+devUsers)))}
	for _, u := range b.users {
		sum := need[u.token.Asset]
		if sum == nil {
			sum = new(big.Int)
			need[u.token.Asset] = sum
		}
		both := new(big.Int).Add(u.deposit.Uint256().ToBig(), u.gross.Uint256().ToBig())
		sum.Add(sum, both.Lsh(both, 1))
	}
	for asset, amount := range need {
		if _, err := faucet.pay(ctx, asset, b.payer.address(), amount, nil); err != nil {
			return err
		}
	}
	return nil
}

// userQuota pays for what a user does within one window: receive what is withdrawn, withdraw, receive what was deposited; and one thing more.
const userQuota = 4 * (core.QuotaPerUT + 2000)

// handOut has each sponsor stake for its users and send them what they withdraw; the users receive it, which is their first block.
func (b *burst) handOut(ctx context.Context) error {
	stake, err := core.RequiredStake(userQuota / core.QuotaWindow)
	if err != nil {
		return err
	}
	err = each(ctx, len(b.sponsors), func(ctx context.Context, i int) error {
		s := b.sponsors[i]
		for _, u := range s.users {
			data, err := core.StakeForQuota.Pack(u.address())
			if err != nil {
				return err
			}
			if _, err := s.send(ctx, core.QuotaContract, core.VITE, &stake, data); err != nil {
				return fmt.Errorf("staking for a user: %w", err)
			}
			if _, err := s.send(ctx, u.address(), u.id, u.gross.Uint256(), nil); err != nil {
				return fmt.Errorf("giving to a user: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(ctx, len(b.users), func(ctx context.Context, i int) error { return b.users[i].receiveAll(ctx) })
}
