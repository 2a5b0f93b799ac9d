package rpc

import (
	"math/big"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// registerAPI and voteAPI are the first generation of names for producers and votes. A consensus
// group's id comes first; this chain's only group of producers is the snapshot group's.
type (
	registerAPI struct{ contract *contractAPI }
	voteAPI     struct{ contract *contractAPI }
)

type registration struct {
	Name           string       `json:"name"`
	NodeAddr       core.Address `json:"nodeAddr"`
	PledgeAddr     core.Address `json:"pledgeAddr"`
	PledgeAmount   string       `json:"pledgeAmount"`
	WithdrawHeight string       `json:"withdrawHeight"`
	WithdrawTime   int64        `json:"withdrawTime"`
	CancelTime     int64        `json:"cancelTime"`
}

// GetRegistrationList is contract_getSBPList.
func (r *registerAPI) GetRegistrationList(_ core.GID, a addressArg) []registration {
	list := []registration{}
	for _, p := range r.contract.GetSBPList(a) {
		list = append(list, registration{
			p.Name, p.BlockProducingAddress, p.StakeAddress, p.StakeAmount, p.ExpirationHeight, p.ExpirationTime, p.RevokeTime,
		})
	}
	return list
}

type availableReward struct {
	TotalReward string `json:"totalReward"`
	BlockReward string `json:"blockReward"`
	VoteReward  string `json:"voteReward"`
	Drained     bool   `json:"drained"`
}

// GetAvailableReward is contract_getSBPRewardPendingWithdrawal.
func (r *registerAPI) GetAvailableReward(_ core.GID, name string) *availableReward {
	p := r.contract.GetSBPRewardPendingWithdrawal(name)
	if p == nil {
		return nil
	}
	return &availableReward{p.TotalReward, p.BlockProducingReward, p.VotingReward, p.AllRewardWithdrawed}
}

type dayReward struct {
	TotalReward      string `json:"totalReward"`
	BlockReward      string `json:"blockReward"`
	VoteReward       string `json:"voteReward"`
	ExpectedBlockNum string `json:"expectedBlockNum"`
	BlockNum         string `json:"blockNum"`
}

func dayRewards(s *sbpRewards) map[string]dayReward {
	if s == nil {
		return nil
	}
	shown := map[string]dayReward{}
	for name, r := range s.RewardMap {
		shown[name] = dayReward{r.TotalReward, r.BlockProducingReward, r.VotingReward, r.TargetBlocks, r.ProducedBlocks}
	}
	return shown
}

// GetRewardByDay is contract_getSBPRewardByTimestamp.
func (r *registerAPI) GetRewardByDay(_ core.GID, seconds int64) (map[string]dayReward, error) {
	rewards, err := r.contract.GetSBPRewardByTimestamp(seconds)
	return dayRewards(rewards), err
}

type indexedRewards struct {
	RewardMap map[string]dayReward `json:"rewardMap"`
	StartTime int64                `json:"startTime"`
	EndTime   int64                `json:"endTime"`
}

// GetRewardByIndex is contract_getSBPRewardByCycle.
func (r *registerAPI) GetRewardByIndex(_ core.GID, cycle heightArg) (*indexedRewards, error) {
	rewards, err := r.contract.GetSBPRewardByCycle(cycle)
	if rewards == nil {
		return nil, err
	}
	return &indexedRewards{dayRewards(rewards), rewards.StartTime, rewards.EndTime}, nil
}

type candidate struct {
	Name     string       `json:"name"`
	NodeAddr core.Address `json:"nodeAddr"`
	VoteNum  string       `json:"voteNum"`
}

// GetCandidateList is contract_getSBPVoteList.
func (r *registerAPI) GetCandidateList() []candidate {
	list := []candidate{}
	for _, v := range r.contract.GetSBPVoteList() {
		list = append(list, candidate{v.SBPName, v.BlockProducingAddress, v.Votes})
	}
	return list
}

// GetVoteInfo is contract_getVotedSBP.
func (v *voteAPI) GetVoteInfo(_ core.GID, a addressArg) any { return v.contract.GetVotedSBP(a) }

// voteDetail has capital member names and amounts as numbers.
type voteDetail struct {
	Name         string
	Balance      *big.Int
	Type         any
	CurrentAddr  core.Address
	RegisterList []core.Address
	Addr         map[string]*big.Int
}

// GetVoteDetails is contract_getSBPVoteDetailsByCycle. Without a cycle it is the running one's.
func (v *voteAPI) GetVoteDetails(cycle *heightArg) ([]voteDetail, error) {
	at := heightArg(decimal(uint64(max(dex.PeriodOf(v.contract.headTime()), 0))))
	if cycle != nil {
		at = *cycle
	}
	details, err := v.contract.GetSBPVoteDetailsByCycle(at)
	list := []voteDetail{}
	for _, d := range details {
		list = append(list, voteDetail{d.BlockProducerName, new(big.Int), nil, d.BlockProducingAddress, d.HistoryProducingAddresses, map[string]*big.Int{}})
	}
	return list, err
}
