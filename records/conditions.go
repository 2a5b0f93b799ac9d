package records

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
)

// Condition is something that keeps money from moving, or may soon, as a part of the running daemon sees it. Empty fields stand for all: of
// every network of the chain, of every token of the network.
type Condition struct {
	Kind      string    `json:"kind"`
	Subject   string    `json:"subject,omitempty"` // what it is about, for operators: a node, an account
	Chain     chain.ID  `json:"chain,omitempty"`
	Network   string    `json:"network,omitempty"`
	Token     string    `json:"token,omitempty"`
	Direction Direction `json:"direction,omitempty"` // empty for both
	Stops     bool      `json:"stops"`               // money does not move because of it
	Detail    string    `json:"detail"`              // in words, for operators
	Since     time.Time `json:"since,omitzero"`
	Seen      time.Time `json:"-"`
}

// maxConditions bounds what one source may tell.
const maxConditions = 100

type conditionRow struct {
	Kind      string `db:"kind"`
	Subject   string `db:"subject"`
	Chain     string `db:"chain"`
	Network   string `db:"network"`
	Token     string `db:"token"`
	Direction string `db:"direction"`
	Stops     bool   `db:"stops"`
	Detail    string `db:"detail"`
	Since     int64  `db:"since"`
	Seen      int64  `db:"seen"`
}

// NoteConditions replaces what a source has told before. A condition that goes on keeps the time since when. Of more than a hundred the
// rest is left out.
func (tx *Tx) NoteConditions(source string, now []Condition) error {
	now = now[:min(len(now), maxConditions)]
	for _, c := range now {
		_, err := tx.exec(`INSERT INTO conditions (source, kind, subject, chain, network, token, direction, stops, detail, since, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (source, kind, subject) DO UPDATE SET chain = excluded.chain, network = excluded.network, token = excluded.token,
			direction = excluded.direction, stops = excluded.stops, detail = excluded.detail, seen = excluded.seen`,
			source, c.Kind, note(c.Subject), string(c.Chain), c.Network, c.Token, string(c.Direction), bit(c.Stops), note(c.Detail), tx.millis(), tx.millis())
		if err != nil {
			return fmt.Errorf("noting the condition %s of %s: %w", c.Kind, source, err)
		}
	}
	if err := tx.forgetConditions(source, now); err != nil {
		return fmt.Errorf("forgetting conditions of %s: %w", source, err)
	}
	return nil
}

// forgetConditions drops what a source does not tell any more.
func (tx *Tx) forgetConditions(source string, now []Condition) error {
	var before []conditionRow
	if err := tx.list(&before, `SELECT kind, subject FROM conditions WHERE source = ?`, source); err != nil {
		return err
	}
	for _, b := range before {
		if slices.ContainsFunc(now, func(c Condition) bool { return c.Kind == b.Kind && note(c.Subject) == b.Subject }) {
			continue
		}
		if _, err := tx.exec(`DELETE FROM conditions WHERE source = ? AND kind = ? AND subject = ?`, source, b.Kind, b.Subject); err != nil {
			return err
		}
	}
	return nil
}

// Conditions answers what all sources told last, the oldest first.
func (tx *Tx) Conditions() ([]Condition, error) {
	var rows []conditionRow
	err := tx.list(&rows, `SELECT kind, subject, chain, network, token, direction, stops, detail, since, seen FROM conditions ORDER BY since, source, kind, subject`)
	if err != nil {
		return nil, fmt.Errorf("reading the conditions: %w", err)
	}
	out := make([]Condition, len(rows))
	for i, r := range rows {
		out[i] = Condition{r.Kind, r.Subject, chain.ID(r.Chain), r.Network, r.Token, Direction(r.Direction), r.Stops, r.Detail, fromMillis(r.Since), fromMillis(r.Seen)}
	}
	return out, nil
}

// Beat records that a part of the daemon is at work, by the database's clock.
func (tx *Tx) Beat(role string) error {
	now, err := tx.clock()
	if err == nil {
		_, err = tx.exec(`INSERT INTO heartbeats (role, at) VALUES (?, ?) ON CONFLICT (role) DO UPDATE SET at = excluded.at`, role, now)
	}
	if err != nil {
		return fmt.Errorf("noting the heartbeat of %s: %w", role, err)
	}
	return nil
}

// SinceBeat answers how long ago a part of the daemon was last at work, by the database's clock; false when it never was.
func (tx *Tx) SinceBeat(role string) (age time.Duration, ever bool, err error) {
	var at int64
	ever, err = tx.get(&at, `SELECT at FROM heartbeats WHERE role = ?`, role)
	if err == nil && ever {
		var now int64
		now, err = tx.clock()
		age = time.Duration(now-at) * time.Millisecond
	}
	if err != nil {
		return 0, false, fmt.Errorf("reading the heartbeat of %s: %w", role, err)
	}
	return age, ever, nil
}

// StoppedOwn answers the accounts of a chain that sign nothing any more, but for deposit addresses: those that pay, and what they share.
func (tx *Tx) StoppedOwn(id chain.ID) ([]Account, error) {
	var rows []accountRow
	err := tx.list(&rows, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND kind <> 'deposit' AND state IN ('halted','recovering') ORDER BY seq`, string(id))
	if err != nil {
		return nil, fmt.Errorf("reading the stopped accounts on %s: %w", id, err)
	}
	out := make([]Account, len(rows))
	for i, r := range rows {
		out[i] = r.account()
	}
	return out, nil
}

// Waiting is what an account has not brought into a block for longest.
type Waiting struct {
	Payment uint64
	Network string
	Token   string
	Purpose chain.Purpose
	Since   time.Time
	For     time.Duration // by now
}

// OldestWaiting answers the oldest payment of an account that is queued and the oldest that is signed or bound and stands in no block; at most two.
func (tx *Tx) OldestWaiting(id chain.ID, account string) ([]Waiting, error) {
	type row struct {
		ID      uint64 `db:"id"`
		Network string `db:"network"`
		Token   string `db:"token"`
		Purpose string `db:"purpose"`
		At      int64  `db:"at"`
	}
	var queued, unmined []row
	err := tx.list(&queued, `SELECT id, network, token, purpose, changed_at AS at FROM payments
		WHERE chain = ? AND account = ? AND state IN ('queued','held','bound') AND state = 'queued' ORDER BY id LIMIT 1`, string(id), account)
	if err == nil {
		err = tx.list(&unmined, `SELECT p.id, p.network, p.token, p.purpose, s.created_at AS at FROM slots s JOIN payments p ON p.id = s.payment_id
			WHERE s.chain = ? AND s.account = ? AND s.state = 'open' AND s.mined_in = '' ORDER BY s.number LIMIT 1`, string(id), account)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for what waits at %s on %s: %w", account, id, err)
	}
	var out []Waiting
	for _, r := range append(queued, unmined...) {
		at := fromMillis(r.At)
		out = append(out, Waiting{r.ID, r.Network, r.Token, chain.Purpose(r.Purpose), at, tx.now.Sub(at)})
	}
	return out, nil
}

// ReloadState is how far an order to read the configuration again has come.
type ReloadState string

// The states of a reload. Refused: nothing of the file was taken.
const (
	ReloadOpen    ReloadState = "open"
	ReloadDone    ReloadState = "done"
	ReloadRefused ReloadState = "refused"
)

// Reload is one reading of the configuration file by the daemon.
type Reload struct {
	ID          uint64
	State       ReloadState
	Fingerprint string // of what the file said; empty while it is open or where the file could not be read
	Report      string // in JSON, for whoever ordered it
	Actor       string
	ChangedAt   time.Time
}

type reloadRow struct {
	ID          uint64 `db:"id"`
	State       string `db:"state"`
	Fingerprint string `db:"fingerprint"`
	Report      string `db:"report"`
	Actor       string `db:"actor"`
	ChangedAt   int64  `db:"changed_at"`
}

const reloadColumns = `id, state, fingerprint, report, actor, changed_at`

func (r reloadRow) reload() Reload {
	return Reload{r.ID, ReloadState(r.State), r.Fingerprint, r.Report, r.Actor, fromMillis(r.ChangedAt)}
}

// OrderReload asks the running daemon to read its configuration again, and answers the order's number.
func (tx *Tx) OrderReload() (id uint64, err error) {
	if id, err = tx.newReload(); err != nil {
		return 0, fmt.Errorf("ordering the configuration to be read again: %w", err)
	}
	return id, nil
}

func (tx *Tx) newReload() (id uint64, err error) {
	if id, err = tx.nextID("reloads"); err == nil {
		_, err = tx.exec(`INSERT INTO reloads (id, state, actor, created_at, changed_at) VALUES (?, 'open', ?, ?, ?)`, id, note(tx.actor), tx.millis(), tx.millis())
	}
	return id, err
}

// OpenReload answers the oldest order that waits; false when there is none.
func (tx *Tx) OpenReload() (Reload, bool, error) {
	var r reloadRow
	found, err := tx.get(&r, `SELECT `+reloadColumns+` FROM reloads WHERE state = 'open' ORDER BY id LIMIT 1`)
	if err != nil {
		return Reload{}, false, fmt.Errorf("looking for orders to read the configuration again: %w", err)
	}
	return r.reload(), found, nil
}

// EndReload says what became of an order. ErrConflict: it is not open.
func (tx *Tx) EndReload(r Reload) error {
	err := tx.change(`UPDATE reloads SET state = ?, fingerprint = ?, report = ?, changed_at = ? WHERE id = ? AND state = 'open'`,
		string(r.State), r.Fingerprint, r.Report, tx.millis(), r.ID)
	if err == nil {
		err = tx.log("configuration", r.Fingerprint, string(r.State), r.Report)
	}
	if err != nil {
		return fmt.Errorf("noting that the configuration was read again: %w", err)
	}
	return nil
}

// NoteReload is EndReload of a reading that nobody has ordered here.
func (tx *Tx) NoteReload(r Reload) (err error) {
	if r.ID, err = tx.newReload(); err != nil {
		return fmt.Errorf("noting that the configuration was read: %w", err)
	}
	return tx.EndReload(r)
}

// ReloadByID answers an order, or ErrNotFound.
func (tx *Tx) ReloadByID(id uint64) (Reload, error) {
	var r reloadRow
	if err := tx.one(&r, `SELECT `+reloadColumns+` FROM reloads WHERE id = ?`, id); err != nil {
		return Reload{}, fmt.Errorf("reading the order %d: %w", id, err)
	}
	return r.reload(), nil
}

// Configured answers the reading by whose configuration the daemon works, or worked last; false when none was noted.
func (tx *Tx) Configured() (Reload, bool, error) {
	var r reloadRow
	found, err := tx.get(&r, `SELECT `+reloadColumns+` FROM reloads WHERE state = 'done' ORDER BY id DESC LIMIT 1`)
	if err != nil {
		return Reload{}, false, fmt.Errorf("reading which configuration the daemon has: %w", err)
	}
	return r.reload(), found, nil
}

// Names of channel states, worst last.
const (
	ChannelOpen     = "OPEN"
	ChannelMaintain = "MAINTAIN"
	ChannelClosed   = "CLOSED"
)

// Channel is whether a token may go one way on a network. What operators say and what the daemon found are kept apart: neither overwrites
// the other (docs/gateway-api.md#channel-states).
type Channel struct {
	Network   string
	Token     string
	Direction Direction
	Operator  string
	Automatic string
	Why       string // of the automatic flag while that is not OPEN, else the operator's
	ChangedAt time.Time
}

// State is the worse of both.
func (c Channel) State() string {
	switch {
	case c.Operator == ChannelClosed:
		return ChannelClosed
	case c.Operator == ChannelMaintain || c.Automatic == ChannelMaintain:
		return ChannelMaintain
	}
	return ChannelOpen
}

type channelRow struct {
	Network   string `db:"network"`
	Token     string `db:"token"`
	Direction string `db:"direction"`
	Operator  string `db:"operator"`
	Automatic string `db:"automatic"`
	ByHand    string `db:"operator_why"`
	Found     string `db:"automatic_why"`
	ChangedAt int64  `db:"changed_at"`
}

const channelColumns = `network, token, direction, operator, automatic, operator_why, automatic_why, changed_at`

func (r channelRow) channel() Channel {
	c := Channel{r.Network, r.Token, Direction(r.Direction), r.Operator, r.Automatic, r.ByHand, timeOrZero(r.ChangedAt)}
	if r.Automatic != ChannelOpen {
		c.Why = r.Found
	}
	return c
}

// Channel answers a channel; one that was never set is open.
func (tx *Tx) Channel(network, token string, d Direction) (Channel, error) {
	r, err := tx.channelRow(network, token, d)
	if err != nil {
		return Channel{}, fmt.Errorf("reading the channel %s %s %s: %w", network, token, d, err)
	}
	return r.channel(), nil
}

func (tx *Tx) channelRow(network, token string, d Direction) (channelRow, error) {
	r := channelRow{Network: network, Token: token, Direction: string(d), Operator: ChannelOpen, Automatic: ChannelOpen}
	_, err := tx.get(&r, `SELECT `+channelColumns+` FROM channels WHERE network = ? AND token = ? AND direction = ?`, network, token, string(d))
	return r, err
}

// Channels answers all channels that were ever set.
func (tx *Tx) Channels() ([]Channel, error) {
	var rows []channelRow
	if err := tx.list(&rows, `SELECT `+channelColumns+` FROM channels ORDER BY network, token, direction`); err != nil {
		return nil, fmt.Errorf("reading the channels: %w", err)
	}
	out := make([]Channel, len(rows))
	for i, r := range rows {
		out[i] = r.channel()
	}
	return out, nil
}

// SetChannel stores what an operator says: OPEN, MAINTAIN or CLOSED. An empty actor is the transaction's.
func (tx *Tx) SetChannel(network, token string, d Direction, operator, why, actor string) error {
	if operator != ChannelOpen && operator != ChannelMaintain && operator != ChannelClosed {
		return fmt.Errorf("channel state %q: OPEN, MAINTAIN or CLOSED is wanted", operator)
	}
	return tx.setChannel(network, token, d, actor, func(r *channelRow) { r.Operator, r.ByHand = operator, note(why) })
}

// SetAutomatic stores what the daemon found: OPEN or MAINTAIN.
func (tx *Tx) SetAutomatic(network, token string, d Direction, state, why string) error {
	if state != ChannelOpen && state != ChannelMaintain {
		return fmt.Errorf("automatic channel state %q: OPEN or MAINTAIN is wanted", state)
	}
	return tx.setChannel(network, token, d, "", func(r *channelRow) {
		if r.Automatic != state { // the first cause is the one to tell
			r.Automatic, r.Found = state, note(why)
		}
	})
}

// StopChannel stops a channel for what only an operator can end. Its cause takes the place of one that would end by itself.
func (tx *Tx) StopChannel(network, token string, d Direction, why string) error {
	return tx.setChannel(network, token, d, "", func(r *channelRow) { r.Automatic, r.Found = ChannelMaintain, note(why) })
}

// setChannel writes a changed channel. Nothing is written when nothing changes, so that a loop may set the same again.
func (tx *Tx) setChannel(network, token string, d Direction, actor string, set func(*channelRow)) error {
	if d != Deposit && d != Withdrawal {
		return errors.New("channel direction: deposit or withdrawal is wanted")
	}
	r, err := tx.channelRow(network, token, d)
	if err != nil {
		return fmt.Errorf("reading the channel %s %s %s: %w", network, token, d, err)
	}
	before := r
	set(&r)
	if r == before {
		return nil
	}
	_, err = tx.exec(`INSERT INTO channels (`+channelColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (network, token, direction) DO UPDATE SET operator = excluded.operator, automatic = excluded.automatic,
		operator_why = excluded.operator_why, automatic_why = excluded.automatic_why, changed_at = excluded.changed_at`,
		network, token, string(d), r.Operator, r.Automatic, r.ByHand, r.Found, tx.millis())
	if err != nil {
		return fmt.Errorf("setting the channel %s %s %s: %w", network, token, d, err)
	}
	return tx.Log(Event{
		Actor: actor, Subject: "channel", SubjectID: fmt.Sprintf("%s/%s/%s", network, token, d), Event: r.channel().State(),
		Detail: fmt.Sprintf("operator %s (%s), automatic %s (%s)", r.Operator, r.ByHand, r.Automatic, r.Found),
	})
}
