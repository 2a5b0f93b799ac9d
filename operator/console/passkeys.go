package console

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/labstack/echo/v4"

	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/approval"
)

// site is the page that passkeys are for.
func (c *Console) site() (approval.Site, error) {
	s, err := c.Site()
	if err != nil {
		return s, refusal(http.StatusConflict, "passkeys require operators.url, the public address of the console: "+err.Error())
	}
	return s, nil
}

// passkeyRow is a passkey of the user who asks.
type passkeyRow struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Created  string `json:"created"`
	Used     string `json:"used,omitempty"`
	Approver string `json:"approver"` // its line in signer.approvals.approvers
}

func rowOf(p records.Passkey) passkeyRow {
	row := passkeyRow{ID: p.ID, Label: p.Label, Created: p.Created.UTC().Format(time.RFC3339), Approver: ApproverLine(p)}
	if !p.Used.IsZero() {
		row.Used = p.Used.UTC().Format(time.RFC3339)
	}
	return row
}

// ApproverLine is the line that lets a passkey approve, in the signer's configuration.
func ApproverLine(p records.Passkey) string {
	return "- {name: " + p.User + ", passkey: " + p.Key + "}"
}

func passkeysOf(r request) (list []records.Passkey, err error) {
	err = r.Session.Store.View(r.Request().Context(), func(tx *records.Tx) error {
		list, err = records.Passkeys(tx, r.user.Name)
		return err
	})
	return list, err
}

func (c *Console) passkeys(r request) error {
	list, err := passkeysOf(r)
	if err != nil {
		return err
	}
	rows := make([]passkeyRow, len(list))
	for i, p := range list {
		rows[i] = rowOf(p)
	}
	return r.JSON(http.StatusOK, rows)
}

// descriptors name passkeys to a browser.
func descriptors(list []records.Passkey) []protocol.CredentialDescriptor {
	out := make([]protocol.CredentialDescriptor, 0, len(list))
	for _, p := range list {
		if id, err := base64.RawURLEncoding.DecodeString(p.ID); err == nil {
			out = append(out, protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: id})
		}
	}
	return out
}

// createPasskey returns what navigator.credentials.create() is asked for, as
// PublicKeyCredential.parseCreationOptionsFromJSON() reads it.
func (c *Console) createPasskey(r request) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	list, err := passkeysOf(r)
	if err != nil {
		return err
	}
	raw, err := c.challenge(r.ctx(), r.Gateway, r.user.Name)
	if err != nil {
		return err
	}
	name := protocol.CredentialEntity{Name: r.user.Name}
	return r.JSON(http.StatusOK, protocol.PublicKeyCredentialCreationOptions{
		RelyingParty: protocol.RelyingPartyEntity{CredentialEntity: protocol.CredentialEntity{Name: "gatewayd"}, ID: site.RP},
		User:         protocol.UserEntity{CredentialEntity: name, DisplayName: r.user.Name, ID: protocol.URLEncodedBase64(r.user.Name)},
		Challenge:    raw, Parameters: approval.Parameters(), Timeout: int(challengeLasts.Milliseconds()), CredentialExcludeList: descriptors(list),
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
		Attestation:            protocol.PreferNoAttestation,
	})
}

// newPasskey is a browser's answer, and the owner's name for the passkey.
type newPasskey struct {
	Label      string          `json:"label"`
	Credential json.RawMessage `json:"credential"`
}

func (c *Console) addPasskey(r request) error {
	var given newPasskey
	if err := readBody(r, &given); err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	raw, err := challengeIn(given.Credential)
	if err != nil {
		return errChallenge
	}
	if err := c.redeem(r.ctx(), r.Gateway, raw, r.user.Name); err != nil {
		return err
	}
	made, err := site.Register(raw, given.Credential)
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	p := records.Passkey{ID: made.ID, User: r.user.Name, Label: given.Label, Key: made.Key.String(), Count: made.Count}
	err = r.Session.Store.Update(r.ctx(), func(tx *records.Tx) error {
		if err := records.AddPasskey(tx, p); err != nil {
			return err
		}
		p, err = records.PasskeyOf(tx, p.ID)
		return err
	})
	if errors.Is(err, records.ErrPasskeyLabel) || errors.Is(err, records.ErrMany) {
		return refusal(http.StatusBadRequest, err.Error())
	}
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, rowOf(p))
}

// challengeIn returns the challenge in a browser's answer. It is verified afterwards.
func challengeIn(credential json.RawMessage) ([]byte, error) {
	var c struct {
		Response struct {
			ClientData string `json:"clientDataJSON"`
		} `json:"response"`
	}
	if err := json.Unmarshal(credential, &c); err != nil {
		return nil, err
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Response.ClientData)
	if err != nil {
		return nil, err
	}
	var client struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(text, &client); err != nil {
		return nil, err
	}
	return base64.RawURLEncoding.DecodeString(client.Challenge)
}

var errChallenge = refusal(http.StatusUnauthorized, "the challenge is unknown, used or expired: start again")

func (c *Console) removePasskey(r request) error {
	err := r.Session.Store.Update(r.ctx(), func(tx *records.Tx) error { return records.RemovePasskey(tx, r.user.Name, r.Param("id"), r.token) })
	if errors.Is(err, records.ErrNotFound) {
		return refusal(http.StatusNotFound, "you have no such passkey")
	}
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, map[string]bool{"removed": true})
}

// askPasskey returns what navigator.credentials.get() is asked for, as
// PublicKeyCredential.parseRequestOptionsFromJSON() reads it. Anybody may ask.
func (c *Console) askPasskey(x echo.Context) error {
	g, err := c.gateway()
	if err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	if err := c.mayTry(x, g, "passkey "+c.Guard.Client(x.Request())); err != nil {
		return err
	}
	raw, err := c.challenge(x.Request().Context(), g, "")
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, protocol.PublicKeyCredentialRequestOptions{
		Challenge: raw, Timeout: int(challengeLasts.Milliseconds()), RelyingPartyID: site.RP, UserVerification: protocol.VerificationRequired,
	})
}

// passkeyAssertion is a browser's answer to a challenge.
type passkeyAssertion struct {
	Credential json.RawMessage `json:"credential"`
}

var errPasskey = refusal(http.StatusUnauthorized, "this passkey is not registered")

func (c *Console) signInByPasskey(x echo.Context) error {
	g, err := c.gateway()
	if err != nil {
		return err
	}
	var given passkeyAssertion
	if err := readBody(x, &given); err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	if err := c.mayTry(x, g, "passkey "+c.Guard.Client(x.Request())); err != nil {
		return err
	}
	raw, err := challengeIn(given.Credential)
	if err != nil {
		return errChallenge
	}
	if err := c.redeem(x.Request().Context(), g, raw, ""); err != nil {
		return err
	}
	var p records.Passkey
	err = g.Session.Store.View(x.Request().Context(), func(tx *records.Tx) error {
		p, err = ownerOf(tx, given.Credential)
		return err
	})
	if errors.Is(err, records.ErrNotFound) {
		return errPasskey
	}
	if err != nil {
		return err
	}
	count, err := c.verified(site, p, raw, given.Credential)
	if err != nil {
		return err
	}
	return c.begin(x, g, p.User, func(tx *records.Tx) error { return records.UsePasskey(tx, p.ID, count) })
}

// ownerOf returns the passkey named in a browser's answer, or ErrNotFound; also where the
// authenticator has it for another user.
func ownerOf(tx *records.Tx, credential json.RawMessage) (records.Passkey, error) {
	given, err := approval.ParseCredential(credential)
	if err != nil {
		return records.Passkey{}, refusal(http.StatusBadRequest, err.Error())
	}
	p, err := records.PasskeyOf(tx, given.ID)
	if err == nil && len(given.UserHandle) > 0 && string(given.UserHandle) != p.User {
		err = records.ErrNotFound
	}
	return p, err
}

// verified reports whether a passkey has signed a challenge, and how often it has signed.
func (c *Console) verified(site approval.Site, p records.Passkey, raw []byte, credential json.RawMessage) (uint32, error) {
	given, err := approval.ParseCredential(credential)
	if err != nil {
		return 0, refusal(http.StatusBadRequest, err.Error())
	}
	key, err := approval.ParsePasskeyKey(p.Key)
	if err != nil {
		return 0, err
	}
	count, err := site.Verify(key, raw, given.Assertion)
	if err != nil {
		return 0, refusal(http.StatusUnauthorized, operator.PlainError(err).Error())
	}
	return count, nil
}
