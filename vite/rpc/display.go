package rpc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// shownBlock is an account block as a node shows it, with both generations of names
// (docs/exchange-chain-rpc.md 5.4). Pointers and nil slices are null.
type shownBlock struct {
	BlockType              core.BlockType `json:"blockType"`
	Height                 string         `json:"height"`
	Hash                   string         `json:"hash"`
	PrevHash               string         `json:"prevHash"`
	PreviousHash           string         `json:"previousHash"`
	AccountAddress         string         `json:"accountAddress"`
	Address                string         `json:"address"`
	PublicKey              []byte         `json:"publicKey"`
	Producer               string         `json:"producer"`
	FromAddress            string         `json:"fromAddress"`
	ToAddress              string         `json:"toAddress"`
	FromBlockHash          string         `json:"fromBlockHash"`
	SendBlockHash          string         `json:"sendBlockHash"`
	TokenID                string         `json:"tokenId"`
	Amount                 *string        `json:"amount"`
	Fee                    *string        `json:"fee"`
	Data                   []byte         `json:"data"`
	Difficulty             *string        `json:"difficulty"`
	Nonce                  []byte         `json:"nonce"`
	Signature              []byte         `json:"signature"`
	Quota                  string         `json:"quota"`
	QuotaByStake           string         `json:"quotaByStake"`
	QuotaUsed              string         `json:"quotaUsed"`
	TotalQuota             string         `json:"totalQuota"`
	UTUsed                 string         `json:"utUsed"`
	LogHash                *core.Hash     `json:"logHash"`
	VMLogHash              *core.Hash     `json:"vmLogHash"`
	SendBlockList          []*shownBlock  `json:"sendBlockList"`
	TriggeredSendBlockList []*shownBlock  `json:"triggeredSendBlockList"`
	TokenInfo              *tokenInfo     `json:"tokenInfo"`
	ConfirmedTimes         *string        `json:"confirmedTimes"`
	Confirmations          *string        `json:"confirmations"`
	ConfirmedHash          *core.Hash     `json:"confirmedHash"`
	FirstSnapshotHash      *core.Hash     `json:"firstSnapshotHash"`
	FirstSnapshotHeight    *string        `json:"firstSnapshotHeight"`
	ReceiveBlockHeight     *string        `json:"receiveBlockHeight"`
	ReceiveBlockHash       *core.Hash     `json:"receiveBlockHash"`
	Timestamp              int64          `json:"timestamp"`
}

func showBlock(b *node.Block) *shownBlock {
	if b == nil {
		return nil
	}
	account, previous, send := b.Address.String(), b.PreviousHash.String(), b.SendBlockHash.String()
	byStake, total := decimal(b.QuotaByStake), decimal(b.TotalQuota)
	like := func(a core.Address) string { // most of a block's addresses are its account's
		if a == b.Address {
			return account
		}
		return a.String()
	}
	s := &shownBlock{
		BlockType: b.BlockType, Height: decimal(b.Height), Hash: b.Hash.String(), PrevHash: previous, PreviousHash: previous,
		AccountAddress: account, Address: account, PublicKey: b.PublicKey, Producer: like(b.Producer),
		FromAddress: like(b.Transfer.From), ToAddress: like(b.Transfer.To), FromBlockHash: send, SendBlockHash: send,
		TokenID: b.Transfer.Token.String(), Data: b.Data, Nonce: b.Nonce, Signature: b.Signature,
		Quota: byStake, QuotaByStake: byStake, QuotaUsed: total, TotalQuota: total, UTUsed: units(b.TotalQuota, 3),
		LogHash: b.VMLogHash, VMLogHash: b.VMLogHash, TokenInfo: showToken(b.TokenInfo),
	}
	s.setAmounts(b)
	s.setPlace(b)
	s.setTriggered(b.Triggered)
	return s
}

// setAmounts shows what moves. A genesis block moves nothing, and newly issued tokens come without
// a fee.
func (s *shownBlock) setAmounts(b *node.Block) {
	if b.BlockType != core.GenesisReceive {
		s.Amount = amountText(&b.Transfer.Amount)
		if b.BlockType != core.SendReissue {
			s.Fee = amountText(&b.Transfer.Fee)
		}
	}
	if b.Difficulty != nil {
		d := b.Difficulty.String()
		s.Difficulty = &d
	}
}

func (s *shownBlock) setPlace(b *node.Block) {
	if b.Snapshot != nil {
		n, h := decimal(b.Confirmations), decimal(b.Snapshot.Height)
		s.ConfirmedTimes, s.Confirmations, s.FirstSnapshotHeight = &n, &n, &h
		s.ConfirmedHash, s.FirstSnapshotHash = &b.Snapshot.Hash, &b.Snapshot.Hash
		s.Timestamp = b.Snapshot.Time.Unix()
	}
	if b.Received != nil {
		h := decimal(b.Received.Height)
		s.ReceiveBlockHeight, s.ReceiveBlockHash = &h, &b.Received.Hash
	}
}

func (s *shownBlock) setTriggered(sends []*node.Block) {
	if len(sends) > 0 {
		s.TriggeredSendBlockList = showBlocks(sends)
		s.SendBlockList = s.TriggeredSendBlockList
	}
}

// showBlocks is null for no blocks, as most lists of a node are.
func showBlocks(blocks []*node.Block) []*shownBlock {
	var shown []*shownBlock
	for _, b := range blocks {
		shown = append(shown, showBlock(b))
	}
	return shown
}

// units is quota in units of one transfer, with at most so many decimals, half of the last one up.
func units(quota uint64, decimals int) string {
	one := uint64(1)
	for range decimals {
		one *= 10
	}
	parts := (quota%core.QuotaPerUT*one + core.QuotaPerUT/2) / core.QuotaPerUT
	whole := quota/core.QuotaPerUT + parts/one
	s := fmt.Sprintf("%d.%0*d", whole, decimals, parts%one)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// tokenInfo is a token as a node shows it.
type tokenInfo struct {
	TokenName       string       `json:"tokenName"`
	TokenSymbol     string       `json:"tokenSymbol"`
	TotalSupply     string       `json:"totalSupply"`
	Decimals        uint8        `json:"decimals"`
	Owner           core.Address `json:"owner"`
	TokenID         core.TokenID `json:"tokenId"`
	MaxSupply       string       `json:"maxSupply"`
	OwnerBurnOnly   bool         `json:"ownerBurnOnly"`
	IsReIssuable    bool         `json:"isReIssuable"`
	Index           uint16       `json:"index"`
	IsOwnerBurnOnly bool         `json:"isOwnerBurnOnly"`
}

func showToken(t *ledger.TokenInfo) *tokenInfo {
	if t == nil {
		return nil
	}
	return &tokenInfo{
		TokenName: t.Name, TokenSymbol: t.Symbol, TotalSupply: t.TotalSupply.Dec(), Decimals: t.Decimals, Owner: t.Owner,
		TokenID: t.ID, MaxSupply: t.MaxSupply.Dec(), OwnerBurnOnly: t.OwnerBurnOnly, IsReIssuable: t.ReIssuable,
		Index: t.Index, IsOwnerBurnOnly: t.OwnerBurnOnly,
	}
}

func showTokens(tokens []*ledger.TokenInfo) []*tokenInfo {
	var shown []*tokenInfo
	for _, t := range tokens {
		shown = append(shown, showToken(t))
	}
	return shown
}

// accountInfo shows balances, or what waits to be received; the map is left out when empty.
type accountInfo struct {
	Address    core.Address                 `json:"address"`
	BlockCount string                       `json:"blockCount"`
	Balances   map[core.TokenID]balanceInfo `json:"balanceInfoMap,omitempty"`
}

type balanceInfo struct {
	TokenInfo        *tokenInfo `json:"tokenInfo"`
	Balance          string     `json:"balance"`
	TransactionCount string     `json:"transactionCount,omitempty"`
}

func showAccount(i node.AccountInfo) accountInfo {
	shown := accountInfo{Address: i.Address, BlockCount: decimal(i.BlockCount)}
	for _, b := range i.Balances {
		if b.Token == nil {
			continue // the zero token has no description and no balance
		}
		if shown.Balances == nil {
			shown.Balances = make(map[core.TokenID]balanceInfo, len(i.Balances))
		}
		info := balanceInfo{TokenInfo: showToken(b.Token), Balance: b.Amount.Dec()}
		if b.Transactions > 0 {
			info.TransactionCount = decimal(b.Transactions)
		}
		shown.Balances[b.Token.ID] = info
	}
	return shown
}

// shownSnapshot is a snapshot block: its heights and seed are numbers, unlike everywhere else.
// Beyond height 1 the seed hashes are null: this chain has one producer and draws no random
// numbers.
type shownSnapshot struct {
	Producer        core.Address                `json:"producer"`
	Hash            core.Hash                   `json:"hash"`
	PrevHash        core.Hash                   `json:"prevHash"`
	Height          uint64                      `json:"height"`
	PublicKey       []byte                      `json:"publicKey"`
	Signature       []byte                      `json:"signature"`
	Seed            uint64                      `json:"seed"`
	SeedHash        *core.Hash                  `json:"seedHash"`
	SnapshotContent map[core.Address]hashHeight `json:"snapshotContent"`
	Version         uint32                      `json:"version"`
	PreviousHash    core.Hash                   `json:"previousHash"`
	NextSeedHash    *core.Hash                  `json:"nextSeedHash"`
	SnapshotData    map[core.Address]hashHeight `json:"snapshotData"`
	Timestamp       int64                       `json:"timestamp"`
}

type hashHeight struct {
	Height uint64    `json:"height"`
	Hash   core.Hash `json:"hash"`
}

func showSnapshot(b *node.SnapshotBlock) *shownSnapshot {
	if b == nil {
		return nil
	}
	content := make(map[core.Address]hashHeight, len(b.Content))
	for account, id := range b.Content {
		content[account] = hashHeight{id.Height, id.Hash}
	}
	return &shownSnapshot{
		Producer: b.Producer, Hash: b.Hash, PrevHash: b.Previous, PreviousHash: b.Previous, Height: b.Height,
		PublicKey: b.PublicKey, Signature: b.Signature, Seed: b.Seed, SeedHash: b.SeedHash, NextSeedHash: b.SeedHash, Version: b.Version,
		SnapshotContent: content, SnapshotData: content, Timestamp: b.Time.Unix(),
	}
}

func showSnapshots(blocks []*node.SnapshotBlock) []*shownSnapshot {
	var shown []*shownSnapshot
	for _, b := range blocks {
		shown = append(shown, showSnapshot(b))
	}
	return shown
}

// vmLog is an event of a contract; no data is null.
type vmLog struct {
	Topics []core.Hash `json:"topics"`
	Data   []byte      `json:"data"`
}

func showLog(l *ledger.VMLog) *vmLog {
	if l == nil {
		return nil
	}
	shown := &vmLog{Topics: l.Topics}
	if len(l.Data) > 0 {
		shown.Data = l.Data
	}
	return shown
}

func amountText(n *uint256.Int) *string {
	s := n.Dec()
	return &s
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
