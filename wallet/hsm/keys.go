//go:build pkcs11

package hsm

import (
	"context"
	"crypto/ecdsa"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/miekg/pkcs11"
)

// Keys sign with the keys of a module, and with others for all other paths. They are safe for
// concurrent use.
type Keys struct {
	Software
	config Config
	pin    string
	module *pkcs11.Ctx

	mu      sync.Mutex // one request at a time is put to the module
	session pkcs11.SessionHandle
	pairs   map[string]pair // by path
}

// pair is a key of the module.
type pair struct {
	label   string
	private pkcs11.ObjectHandle
	public  *ecdsa.PublicKey
}

// Open loads a checked configuration's module, logs in and finds its keys.
func Open(config Config, pin string, others Software) (*Keys, error) {
	module := pkcs11.New(config.Module)
	if module == nil {
		return nil, fmt.Errorf("%w: module: the library cannot be loaded", ErrModule)
	}
	k := &Keys{Software: others, config: config, pin: pin, module: module}
	if err := module.Initialize(); err != nil && !errors.Is(err, pkcs11.Error(pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED)) {
		module.Destroy()
		return nil, fmt.Errorf("%w: starting the module: %w", ErrModule, err)
	}
	if err := k.login(); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// Close logs out and gives the module back.
func (k *Keys) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.module.Finalize()
	k.module.Destroy()
	return err
}

// login opens a session and finds all keys in it. A new session has new handles.
func (k *Keys) login() error {
	slot, err := k.slot()
	if err != nil {
		return err
	}
	if k.session, err = k.module.OpenSession(slot, pkcs11.CKF_SERIAL_SESSION); err != nil {
		return fmt.Errorf("%w: opening a session: %w", ErrModule, err)
	}
	err = k.module.Login(k.session, pkcs11.CKU_USER, k.pin)
	if err != nil && !errors.Is(err, pkcs11.Error(pkcs11.CKR_USER_ALREADY_LOGGED_IN)) {
		return fmt.Errorf("%w: logging in to token %q: %w", ErrModule, k.config.Token, err)
	}
	k.pairs = map[string]pair{}
	for path, label := range k.config.Keys {
		if k.pairs[path], err = k.find(label); err != nil {
			return err
		}
	}
	return nil
}

// slot returns the slot of the configured token.
func (k *Keys) slot() (uint, error) {
	slots, err := k.module.GetSlotList(true)
	if err != nil {
		return 0, fmt.Errorf("%w: listing slots: %w", ErrModule, err)
	}
	for _, slot := range slots {
		if token, err := k.module.GetTokenInfo(slot); err == nil && token.Label == k.config.Token {
			return slot, nil
		}
	}
	return 0, fmt.Errorf("%w: token: none of %d slots has a token %q", ErrModule, len(slots), k.config.Token)
}

// find returns the only key pair of a label.
func (k *Keys) find(label string) (p pair, err error) {
	p.label = label
	if p.private, err = k.object(label, pkcs11.CKO_PRIVATE_KEY); err != nil {
		return p, err
	}
	public, err := k.object(label, pkcs11.CKO_PUBLIC_KEY)
	if err != nil {
		return p, err
	}
	found, err := k.module.GetAttributeValue(k.session, public, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_EC_POINT, nil)})
	if err != nil || len(found) != 1 {
		return p, fmt.Errorf("%w: reading the public key %q: %w", ErrModule, label, err)
	}
	if p.public, err = parsePoint(found[0].Value); err != nil {
		return p, fmt.Errorf("%w: public key %q: %w", ErrModule, label, err)
	}
	return p, nil
}

// object is the one object of a label and a class.
func (k *Keys) object(label string, class uint) (pkcs11.ObjectHandle, error) {
	wanted := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, class), pkcs11.NewAttribute(pkcs11.CKA_LABEL, label), pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, pkcs11.CKK_EC),
	}
	if err := k.module.FindObjectsInit(k.session, wanted); err != nil {
		return 0, fmt.Errorf("%w: finding key %q: %w", ErrModule, label, err)
	}
	found, _, err := k.module.FindObjects(k.session, 2)
	if ended := k.module.FindObjectsFinal(k.session); err == nil {
		err = ended
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: finding key %q: %w", ErrModule, label, err)
	case len(found) != 1:
		return 0, fmt.Errorf("%w: keys: token %q has %d key pairs of type EC with the label %q: must be exactly one", ErrModule, k.config.Token, len(found), label)
	}
	return found[0], nil
}

// parsePoint reads an uncompressed point of secp256k1, with or without the DER octet string that
// PKCS#11 puts around it.
func parsePoint(value []byte) (*ecdsa.PublicKey, error) {
	var point []byte
	if rest, err := asn1.Unmarshal(value, &point); err != nil || len(rest) > 0 {
		point = value
	}
	public, err := crypto.UnmarshalPubkey(point)
	if err != nil {
		return nil, errors.New("it is not a point of secp256k1")
	}
	return public, nil
}

// Address is the address of a path's key, in the module or not.
func (k *Keys) Address(path string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, ok := k.pairs[path]; ok {
		return crypto.PubkeyToAddress(*p.public).Hex(), nil
	}
	return k.Software.Address(path)
}

// Sign signs a 32-byte hash: 65 bytes R, S, V with V 0 or 1 for a key in the module.
func (k *Keys) Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error) {
	if _, ok := k.config.Keys[path]; !ok {
		return k.Software.Sign(ctx, path, digest)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	signature, err = k.sign(path, digest)
	if lost(err) { // the module was restarted or the token taken out and put in again
		if err := k.login(); err != nil {
			return nil, nil, err
		}
		signature, err = k.sign(path, digest)
	}
	return nil, signature, err
}

// lost reports whether a new session may help.
func lost(err error) bool {
	return slices.ContainsFunc([]pkcs11.Error{
		pkcs11.CKR_SESSION_HANDLE_INVALID, pkcs11.CKR_SESSION_CLOSED, pkcs11.CKR_KEY_HANDLE_INVALID, pkcs11.CKR_USER_NOT_LOGGED_IN, pkcs11.CKR_DEVICE_REMOVED,
	}, func(code pkcs11.Error) bool { return errors.Is(err, code) })
}

func (k *Keys) sign(path string, digest []byte) ([]byte, error) {
	p := k.pairs[path]
	if len(digest) != crypto.DigestLength {
		return nil, fmt.Errorf("%w: the digest must have %d bytes, not %d", ErrModule, crypto.DigestLength, len(digest))
	}
	if err := k.module.SignInit(k.session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_ECDSA, nil)}, p.private); err != nil {
		return nil, fmt.Errorf("%w: signing with key %q: %w", ErrModule, p.label, err)
	}
	raw, err := k.module.Sign(k.session, digest)
	if err != nil {
		return nil, fmt.Errorf("%w: signing with key %q: %w", ErrModule, p.label, err)
	}
	return ethereumSignature(raw, digest, p)
}

// ethereumSignature puts S into the lower half of the curve's order, as source chains want it, and
// finds the recovery bit.
func ethereumSignature(raw, digest []byte, p pair) ([]byte, error) {
	if len(raw) != 64 {
		return nil, fmt.Errorf("%w: key %q returned a signature of %d bytes instead of 64: it is not on secp256k1", ErrModule, p.label, len(raw))
	}
	order := crypto.S256().Params().N
	s := new(big.Int).SetBytes(raw[32:])
	if s.Cmp(new(big.Int).Rsh(order, 1)) > 0 {
		s.Sub(order, s)
	}
	signature := append(raw[:32:32], s.FillBytes(make([]byte, 32))...)
	for bit := range byte(2) {
		full := append(signature[:64:64], bit)
		if by, err := crypto.SigToPub(digest, full); err == nil && by.Equal(p.public) {
			return full, nil
		}
	}
	return nil, fmt.Errorf("%w: the signature of key %q is not its public key's", ErrModule, p.label)
}
