package network

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"

	"gatewayd/wallet/keystore"
)

// The branches of an account.
const (
	External uint32 = 0 // users' deposit addresses
	Internal uint32 = 1 // change
)

const hardened = uint32(1) << 31

// Account is an account of ours by BIP-84 (P2WPKH) or BIP-86 (P2TR). It derives its addresses
// without a secret.
type Account struct {
	Path     string // such as m/84'/0'/0', after the number of its seed if that is a successor
	Kind     Kind   // of its addresses
	levels   []uint32
	branches [2]keystore.ExtendedPublicKey
	network  *Network
}

// Own is one address of an account.
type Own struct {
	Address
	Path   string   // of its key
	Levels []uint32 // of its path, below the seed
	Public []byte   // compressed; of P2TR the internal key
}

var accountPath = regexp.MustCompile(`^(?:[1-9][0-9]*:)?m/(84|86)'/(0|[1-9][0-9]*)'/(0|[1-9][0-9]*)'$`)

// NewAccount is the account of a path, with its extended public key.
func (n *Network) NewAccount(path string, key keystore.ExtendedPublicKey) (a Account, err error) {
	parts := accountPath.FindStringSubmatch(path)
	if parts == nil {
		return Account{}, fmt.Errorf("account %q: must be m/84'/COIN'/NUMBER' or m/86'/COIN'/NUMBER'", path)
	}
	a = Account{Path: path, Kind: P2WPKH, network: n}
	if parts[1] == "86" {
		a.Kind = P2TR
	}
	for _, part := range parts[1:] {
		level, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return Account{}, fmt.Errorf("account %q: %w", path, err)
		}
		a.levels = append(a.levels, uint32(level)|hardened)
	}
	if a.levels[1] != n.CoinType|hardened {
		return Account{}, fmt.Errorf("account %q: the coin type of %s is %d", path, n.Name, n.CoinType)
	}
	for branch := range a.branches {
		if a.branches[branch], err = key.Child(uint32(branch)); err != nil {
			return Account{}, fmt.Errorf("account %q: branch %d: %w", path, branch, err)
		}
	}
	return a, nil
}

// Own derives the address at an index of a branch.
func (a Account) Own(branch, index uint32) (Own, error) {
	if branch > Internal {
		return Own{}, fmt.Errorf("account %s: branch %d: must be %d or %d", a.Path, branch, External, Internal)
	}
	key, err := a.branches[branch].Child(index)
	if err != nil {
		return Own{}, fmt.Errorf("account %s: branch %d, index %d: %w", a.Path, branch, index, err)
	}
	own := Own{Path: fmt.Sprintf("%s/%d/%d", a.Path, branch, index), Levels: append(a.levels[:len(a.levels):len(a.levels)], branch, index)}
	own.Public, _ = key.Bytes()
	program := address.Hash160(own.Public)
	if a.Kind == P2TR {
		if program, err = outputKey(own.Public); err != nil {
			return Own{}, err
		}
	}
	own.Address, err = a.network.Make(a.Kind, program)
	return own, err
}

// outputKey is BIP-341's key of an output without a script path.
func outputKey(internal []byte) ([]byte, error) {
	key, err := btcec.ParsePubKey(internal)
	if err != nil {
		return nil, err
	}
	return schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(key)), nil
}

// AccountOf returns the account that the path of a key is below.
func AccountOf(accounts []Account, path string) (Account, error) {
	for _, a := range accounts {
		if strings.HasPrefix(path, a.Path+"/") {
			return a, nil
		}
	}
	return Account{}, fmt.Errorf("key %s: it is of none of the accounts", path)
}

// OwnOf returns the address of a key's path below one of the accounts.
func OwnOf(accounts []Account, path string) (Own, error) {
	a, err := AccountOf(accounts, path)
	if err != nil {
		return Own{}, err
	}
	branch, index, _ := strings.Cut(path[len(a.Path)+1:], "/")
	var place [2]uint32
	for i, part := range []string{branch, index} {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return Own{}, fmt.Errorf("key %s: must be %s/BRANCH/INDEX", path, a.Path)
		}
		place[i] = uint32(n)
	}
	return a.Own(place[0], place[1])
}

var errNotOurs = errors.New("it is no script of our accounts")

// OwnAt returns the address of a path's levels that pays to a script, of the first of the accounts
// that has it.
func OwnAt(accounts []Account, levels []uint32, script []byte) (Own, error) {
	for _, a := range accounts {
		if len(levels) != len(a.levels)+2 || !sameLevels(levels, a.levels) {
			continue
		}
		own, err := a.Own(levels[len(a.levels)], levels[len(a.levels)+1])
		if err == nil && bytes.Equal(own.Script, script) {
			return own, nil
		}
	}
	return Own{}, errNotOurs
}

func sameLevels(levels, account []uint32) bool {
	for i, level := range account {
		if levels[i] != level {
			return false
		}
	}
	return true
}
