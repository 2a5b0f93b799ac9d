package config

import "strings"

// evmNames are the names of chains by their EIP-155 number, as wallets show them.
var evmNames = map[uint64]string{
	1: "Ethereum", 10: "Optimism", 56: "BNB Smart Chain", 97: "BNB Smart Chain (testnet)", 100: "Gnosis", 137: "Polygon", 250: "Fantom",
	324: "ZKsync Era", 1337: "Ethereum (development)", 8453: "Base", 17000: "Holesky", 31337: "Ethereum (development)", 42161: "Arbitrum One",
	42220: "Celo", 43114: "Avalanche", 59144: "Linea", 80002: "Polygon Amoy", 560048: "Hoodi", 11155111: "Sepolia",
}

// title is the chain's name for people; its id if no other name is known.
func (c Chain) title() string {
	switch name := evmNames[c.ChainID]; {
	case name != "":
		return name
	case c.Kind == "vite":
		return "Vite"
	case c.Network != "": // "bitcoin", "litecoin-testnet"
		coin, test, _ := strings.Cut(c.Network, "-")
		name = strings.ToUpper(coin[:1]) + coin[1:]
		if test != "" {
			name += " (" + test + ")"
		}
		return name
	}
	return string(c.ID)
}
