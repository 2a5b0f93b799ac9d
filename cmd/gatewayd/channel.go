package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/gateway"
	"gatewayd/operator/status"
	"gatewayd/records"
)

func channelCommand(w world) *cobra.Command {
	c := &cobra.Command{Use: "channel", Short: "Show and set what is open: deposits and withdrawals of each token"}
	config := configFlag(c)
	c.AddCommand(channelListCommand(w, config), channelSetCommand(w, config))
	return c
}

// channelRow is one line of `channel list --json`.
type channelRow struct {
	Network   string `json:"network"`
	Token     string `json:"token"`
	Symbol    string `json:"symbol"`
	Direction string `json:"direction"`
	State     string `json:"state"`
	Operator  string `json:"operator"`
	Automatic string `json:"automatic"`
	Why       string `json:"why"`
	Changed   string `json:"changed,omitempty"`

	Allows *capacity `json:"allows,omitempty"` // left out where the nodes do not answer
}

// allows is the column.
func (r channelRow) allows() string {
	if r.Allows == nil {
		return "unknown"
	}
	return r.Allows.String()
}

func channelListCommand(w world, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "list", Short: "List every channel with the operator's and the automatic state, and the payments that it allows", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := openDesk(cmd.Context(), *config)
			if err != nil {
				return err
			}
			defer d.store.Close()
			var list []channelRow
			err = d.store.View(cmd.Context(), func(tx *records.Tx) error {
				list, err = channelRows(tx, d.cfg)
				return err
			})
			if err != nil {
				return err
			}
			allowed, err := d.capacities(cmd.Context())
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, r := range list {
				if c, ok := allowed[channelID{r.Network, r.Token, records.Direction(r.Direction)}]; ok {
					r.Allows, list[i].Allows = &c, &c
				}
				rows[i] = []string{r.Network, r.Symbol, r.Token, r.Direction, r.State, r.Operator, r.Automatic, r.allows(), d.cfg.inWholeUnits(r.Why)}
			}
			return f.table(w.stdout, []string{"network", "symbol", "token", "direction", "state", "operator", "automatic", "allows", "why"}, rows, list)
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

func channelRows(tx *records.Tx, cfg Config) (list []channelRow, err error) {
	full, err := bindingsFull(tx, cfg)
	if err != nil {
		return nil, err
	}
	report, err := status.Read(tx, cfg.networks())
	if err != nil {
		return nil, err
	}
	for _, c := range report.Channels {
		row := channelRow{
			Network: c.Network, Token: c.Token, Symbol: cfg.symbol(c.Network, c.Token), Direction: string(c.Direction),
			State: c.State(), Operator: c.Operator, Automatic: c.Automatic(), Why: c.Why(),
		}
		for _, x := range report.Conditions {
			if some := x.Kind == status.FeesHigh && x.Network == c.Network && x.Token == c.Token && x.Direction == c.Direction; some && row.Why == "" {
				row.Why = x.Detail
			}
		}
		if !c.ChangedAt.IsZero() {
			row.Changed = c.ChangedAt.UTC().Format(time.RFC3339)
		}
		if c.Direction == records.Deposit {
			row.Why = alsoBecause(row.Why, full)
		}
		list = append(list, row)
	}
	return list, nil
}

// bindingsFull says why nobody new may deposit at the moment; empty when everybody may. Known users are served, so the channel stays as it is.
func bindingsFull(tx *records.Tx, cfg Config) (string, error) {
	most := cfg.Gateway.BindingsPerDay()
	next, err := tx.NextBinding(most, gateway.BindingsSpan)
	if err != nil || !next.After(time.Now()) {
		return "", err
	}
	return fmt.Sprintf("no new users until %s: %d deposit addresses were made within a day, the bound gateway.new_bindings_per_day",
		next.UTC().Format(time.RFC3339), most), nil
}

// alsoBecause adds a reason to another.
func alsoBecause(why, also string) string {
	if why == "" || also == "" {
		return why + also
	}
	return why + "; " + also
}

func channelSetCommand(w world, config *string) *cobra.Command {
	var why string
	var clear bool
	c := &cobra.Command{
		Use:     "set NETWORK TOKEN deposit|withdrawal OPEN|MAINTAIN|CLOSED",
		Short:   "Set the operator's state of a channel",
		Long:    "Set the operator's state of a channel. TOKEN is a token id or a symbol. The automatic state stays unless --clear is given;\nclear it only when the cause is mended: `gatewayd channel list` names it.",
		Example: "  gatewayd channel set eth USDT-000 withdrawal MAINTAIN --why 'hot wallet is being refilled'",
		Args:    cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDesk(cmd.Context(), *config)
			if err != nil {
				return err
			}
			defer d.store.Close()
			token, err := d.cfg.token(args[0], args[1])
			if err != nil {
				return err
			}
			direction := records.Direction(args[2])
			if direction != records.Deposit && direction != records.Withdrawal {
				return usagef("direction %q: deposit or withdrawal is wanted", args[2])
			}
			if args[3] != "OPEN" && args[3] != "MAINTAIN" && args[3] != "CLOSED" {
				return usagef("state %q: OPEN, MAINTAIN or CLOSED is wanted", args[3])
			}
			var after records.Channel
			err = d.change(cmd.Context(), func(tx *records.Tx) error {
				if err := tx.SetChannel(args[0], token, direction, args[3], why, ""); err != nil {
					return err
				}
				if clear {
					if err := tx.SetAutomatic(args[0], token, direction, "OPEN", ""); err != nil {
						return err
					}
				}
				after, err = tx.Channel(args[0], token, direction)
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(w.stdout, "%s of %s on %s: %s\n", direction, args[1], args[0], after.State())
			if after.Automatic != "OPEN" {
				fmt.Fprintf(w.stdout, "The automatic state is %s: %s\n", after.Automatic, d.cfg.inWholeUnits(after.Why))
			}
			return nil
		},
	}
	c.Flags().StringVar(&why, "why", "", "reason, kept in the history")
	c.Flags().BoolVar(&clear, "clear", false, "also clear the automatic state")
	return c
}

// token finds a token of a network by id or symbol.
func (c Config) token(network, name string) (string, error) {
	for _, n := range c.Networks {
		if n.Name != network {
			continue
		}
		for _, t := range n.Tokens {
			if t.Token == name || t.Symbol == name {
				return t.Token, nil
			}
		}
		return "", usagef("network %s has no token %q: `gatewayd channel list` shows them", network, name)
	}
	return "", usagef("there is no network %q: one of %s is wanted", network, strings.Join(c.networkNames(), ", "))
}
