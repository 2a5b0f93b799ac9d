package frozen

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// Whom a token refuses follows from trials of other payees, two small amounts and the same to each.
func TestWhoIsRefused(t *testing.T) {
	const fine, no, answersFalse, short = 0, 1, 2, 3
	errs := []error{nil, chain.ErrRefused, chain.ErrFalse, chain.ErrNotNow}
	for name, c := range map[string]struct {
		own    int
		others []int
		want   error
	}{
		"the payee":                             {no, []int{fine, fine, fine, no, no, no}, chain.ErrRefused},
		"the account":                           {no, []int{no, no, no, no, no, no}, ErrFrozen},
		"the account, in words":                 {answersFalse, []int{answersFalse, answersFalse, answersFalse}, ErrFrozen},
		"the amount":                            {no, []int{fine, fine, no, no, no, no}, ErrTokenLimit},
		"the amount, and dust":                  {no, []int{no, fine, no}, ErrTokenLimit},
		"not any more":                          {fine, []int{no, no, no}, chain.ErrNotNow},
		"nobody knows: the account is empty":    {short, []int{short, short, short}, chain.ErrNotNow},
		"the payee of a token that says false":  {no, []int{answersFalse, answersFalse, answersFalse}, chain.ErrRefused},
		"the payee, by false":                   {answersFalse, []int{fine, fine, fine}, chain.ErrRefused},
		"the account, of which little is known": {no, []int{no, short, short}, ErrFrozen},
		"nobody else was tried":                 {no, nil, chain.ErrRefused},
	} {
		others := make([]error, len(c.others))
		for i, o := range c.others {
			others[i] = errs[o]
		}
		got := refused(errs[c.own], others)
		require.ErrorIs(t, got, c.want, name)
		require.Equal(t, c.own == answersFalse && c.want == ErrFrozen, errors.Is(got, chain.ErrFalse), name)
	}
}
