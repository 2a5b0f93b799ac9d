package config

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// addTokenDefaults gives each token the keys of its network's token_defaults that it does not have.
// A key is taken with its complete value.
func addTokenDefaults(f file) error {
	networks, _ := child(f.root, "networks").(*ast.SequenceNode)
	if networks == nil {
		return nil
	}
	for _, n := range networks.Values {
		network, _ := n.(*ast.MappingNode)
		defaults, _ := child(network, "token_defaults").(*ast.MappingNode)
		if defaults == nil {
			continue
		}
		tokens, _ := child(network, "tokens").(*ast.SequenceNode)
		if tokens == nil {
			continue
		}
		for _, t := range tokens.Values {
			if err := addMissing(t, defaults); err != nil {
				return fmt.Errorf("networks: %s: token_defaults: %w", valueOf(network, "name"), err)
			}
		}
	}
	return nil
}

// tokensOwn lists the keys that no two tokens share.
var tokensOwn = []string{"token", "symbol", "asset"}

func addMissing(to ast.Node, defaults *ast.MappingNode) error {
	token, plain := to.(*ast.MappingNode)
	if !plain {
		return fmt.Errorf("line %d: a token must be written with its own keys", to.GetToken().Position.Line)
	}
	for _, v := range slices.Concat(token.Values, defaults.Values) {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			return fmt.Errorf("line %d: << is not possible with it", v.Key.GetToken().Position.Line)
		}
	}
	for _, v := range defaults.Values {
		switch {
		case slices.Contains(tokensOwn, keyOf(v)):
			return fmt.Errorf("line %d: %s: each token has its own", v.Key.GetToken().Position.Line, keyOf(v))
		case child(token, keyOf(v)) == nil:
			token.Values = append(token.Values, v)
		}
	}
	return nil
}

// child returns the value of a key; nil if a mapping does not have it.
func child(n *ast.MappingNode, key string) ast.Node {
	if n == nil {
		return nil
	}
	for _, v := range n.Values {
		if keyOf(v) == key {
			return v.Value
		}
	}
	return nil
}
