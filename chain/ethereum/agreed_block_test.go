package ethereum

import (
	"io"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

func testNode() *node { return &node{Node: quorum.New("test", false, nil)} }

func TestCountingNodes(t *testing.T) {
	has := func(hash byte) answer[*headerRef] {
		number := hexutil.Uint64(5)
		return answer[*headerRef]{Node: testNode(), Value: &headerRef{Number: &number, Hash: &common.Hash{hash}}}
	}
	none, dead := answer[*headerRef]{Node: testNode()}, answer[*headerRef]{Node: testNode(), Err: io.EOF}
	type answers = []answer[*headerRef]
	cases := []struct {
		name    string
		nodes   int
		answers answers
		want    byte // the agreed hash; 0 for err
		err     error
	}{
		{"one", 1, answers{has(1)}, 1, nil},
		{"one without", 1, answers{none}, 0, chain.ErrNotFound},
		{"one dead", 1, answers{dead}, 0, chain.ErrUnavailable},
		{"two alike", 2, answers{has(1), has(1)}, 1, nil},
		{"two not alike", 2, answers{has(1), has(2)}, 0, chain.ErrUnavailable},
		{"two, one behind", 2, answers{has(1), none}, 0, chain.ErrNotFound},
		{"two, one dead", 2, answers{has(1), dead}, 0, chain.ErrUnavailable},
		{"two of three", 3, answers{has(2), has(1), has(1)}, 1, nil},
		{"two of three, one dead", 3, answers{dead, has(1), has(1)}, 1, nil},
		{"three behind each other", 3, answers{has(1), none, none}, 0, chain.ErrNotFound},
		{"one has it, one is behind, one dead", 3, answers{has(1), none, dead}, 0, chain.ErrUnavailable},
		{"one has it, one is behind, one too slow", 3, answers{has(1), none}, 0, chain.ErrUnavailable},
		{"two of four", 4, answers{has(1), has(1), has(2), has(2)}, 0, chain.ErrUnavailable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ref, having, err := (&Chain{nodes: make([]*node, c.nodes)}).count(5, c.answers)
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, common.Hash{c.want}, *ref.Hash)
			require.GreaterOrEqual(t, len(having), c.nodes/2+1)
		})
	}
}
