package rpc

import (
	"time"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// The queries of snapshot block producers and votes. This chain has no governance contract: its
// producers are registered without a stake, get no rewards, and have no votes.

// sbpInfo is a registered producer.
type sbpInfo struct {
	Name                  string       `json:"name"`
	BlockProducingAddress core.Address `json:"blockProducingAddress"`
	RewardWithdrawAddress core.Address `json:"rewardWithdrawAddress"`
	StakeAddress          core.Address `json:"stakeAddress"`
	StakeAmount           string       `json:"stakeAmount"`
	ExpirationHeight      string       `json:"expirationHeight"`
	ExpirationTime        int64        `json:"expirationTime"`
	RevokeTime            int64        `json:"revokeTime"`
}

func showProducer(p node.Producer) sbpInfo {
	return sbpInfo{
		Name: p.Name, BlockProducingAddress: p.Address, RewardWithdrawAddress: p.Address, StakeAddress: p.Address,
		StakeAmount: nothing, ExpirationHeight: nothing,
	}
}

// producers lists the producers that match.
func (c *contractAPI) producers(match func(node.Producer) bool) []node.Producer {
	found := []node.Producer{}
	for _, p := range read(c.node, func(v *node.View) []node.Producer { return v.Producers() }) {
		if match(p) {
			found = append(found, p)
		}
	}
	return found
}

func anyProducer(node.Producer) bool { return true }

func named(name string) func(node.Producer) bool {
	return func(p node.Producer) bool { return p.Name == name }
}

// GetSBPList lists the producers that an account registered.
func (c *contractAPI) GetSBPList(a addressArg) []sbpInfo {
	list := []sbpInfo{}
	for _, p := range c.producers(func(p node.Producer) bool { return p.Address == a.Address }) {
		list = append(list, showProducer(p))
	}
	return list
}

// GetSBP is null for an unknown name.
func (c *contractAPI) GetSBP(name string) *sbpInfo {
	for _, p := range c.producers(named(name)) {
		shown := showProducer(p)
		return &shown
	}
	return nil
}

// sbpReward contains a producer's blocks and reward.
type sbpReward struct {
	BlockProducingReward string `json:"blockProducingReward"`
	VotingReward         string `json:"votingReward"`
	TotalReward          string `json:"totalReward"`
	ProducedBlocks       string `json:"producedBlocks"`
	TargetBlocks         string `json:"targetBlocks"`
	AllRewardWithdrawed  bool   `json:"allRewardWithdrawed"`
}

// rewardOf is a reward for so many blocks: the only producer makes all that are due.
func rewardOf(blocks uint64) sbpReward {
	return sbpReward{nothing, nothing, nothing, decimal(blocks), decimal(blocks), false}
}

// GetSBPRewardPendingWithdrawal is null for an unknown name.
func (c *contractAPI) GetSBPRewardPendingWithdrawal(name string) *sbpReward {
	if len(c.producers(named(name))) == 0 {
		return nil
	}
	reward := rewardOf(0)
	return &reward
}

// sbpRewards are the rewards of a cycle of one day.
type sbpRewards struct {
	RewardMap map[string]sbpReward `json:"rewardMap"`
	StartTime int64                `json:"startTime"`
	EndTime   int64                `json:"endTime"`
	Cycle     string               `json:"cycle"`
}

// rewards are null for a cycle that has not begun.
func (c *contractAPI) rewards(cycle int64) (*sbpRewards, error) {
	start := dayStart(cycle)
	shown := &sbpRewards{map[string]sbpReward{}, start, dayStart(cycle + 1), decimal(uint64(cycle))}
	begun := false
	blocks, err := recall(c.node, func(v *node.View) uint64 {
		begun = v.Head().Time.Unix() >= start
		return v.SnapshotsBetween(time.Unix(start, 0), time.Unix(shown.EndTime, 0))
	})
	if err != nil || !begun {
		return nil, err
	}
	for _, p := range c.producers(anyProducer) {
		shown.RewardMap[p.Name] = rewardOf(blocks)
	}
	return shown, nil
}

// GetSBPRewardByTimestamp gives the rewards of the cycle that a time in Unix seconds is in.
func (c *contractAPI) GetSBPRewardByTimestamp(seconds int64) (*sbpRewards, error) {
	if seconds < dex.FirstPeriod {
		return nil, errCycleTime
	}
	return c.rewards(dex.PeriodOf(seconds))
}

// GetSBPRewardByCycle gives the rewards of a cycle.
func (c *contractAPI) GetSBPRewardByCycle(cycle heightArg) (*sbpRewards, error) {
	number, err := cycle.cycle()
	if err != nil {
		return nil, err
	}
	return c.rewards(number)
}

type sbpVotes struct {
	SBPName               string       `json:"sbpName"`
	BlockProducingAddress core.Address `json:"blockProducingAddress"`
	Votes                 string       `json:"votes"`
}

// GetSBPVoteList lists the producers with their votes.
func (c *contractAPI) GetSBPVoteList() []sbpVotes {
	list := []sbpVotes{}
	for _, p := range c.producers(anyProducer) {
		list = append(list, sbpVotes{p.Name, p.Address, nothing})
	}
	return list
}

// GetVotedSBP is null: no account has voted.
func (c *contractAPI) GetVotedSBP(addressArg) any { return nil }

// sbpVoteDetail is who voted for a producer.
type sbpVoteDetail struct {
	BlockProducerName         string            `json:"blockProducerName"`
	TotalVotes                string            `json:"totalVotes"`
	BlockProducingAddress     core.Address      `json:"blockProducingAddress"`
	HistoryProducingAddresses []core.Address    `json:"historyProducingAddresses"`
	AddressVoteMap            map[string]string `json:"addressVoteMap"`
}

// GetSBPVoteDetailsByCycle lists the votes at the end of a cycle.
func (c *contractAPI) GetSBPVoteDetailsByCycle(cycle heightArg) ([]sbpVoteDetail, error) {
	if _, err := cycle.cycle(); err != nil {
		return nil, err
	}
	list := []sbpVoteDetail{}
	for _, p := range c.producers(anyProducer) {
		list = append(list, sbpVoteDetail{p.Name, nothing, p.Address, []core.Address{p.Address}, map[string]string{}})
	}
	return list, nil
}

type delegatedStakeQuery struct {
	StakeAddress    addressArg `json:"stakeAddress"`
	DelegateAddress addressArg `json:"delegateAddress"`
	Beneficiary     addressArg `json:"beneficiary"`
	Bid             uint8      `json:"bid"`
}

// GetDelegatedStakeInfo is null: no contract stakes for others on this chain.
func (c *contractAPI) GetDelegatedStakeInfo(delegatedStakeQuery) *stakeInfo { return nil }
