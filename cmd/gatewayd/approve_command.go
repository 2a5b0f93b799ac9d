package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/signer/approval"
	"gatewayd/transfers"
)

func approverCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "approver", Short: "Keys of the people who approve payments",
		Long: "Keys of the people who approve payments: a key file, which `approver new` makes and `gatewayd approve` signs with, or a passkey, which signs in the\n" +
			"console. A passkey is registered there, by whoever is signed in; `gatewayd console passkeys` shows its line for signer.approvals.approvers. What signs\n" +
			"wants signer.approvals.url besides: the console's address as people open it.",
	}
	c.AddCommand(&cobra.Command{
		Use: "new FILE", Short: "Make a key: write it to a file that you alone can read, and print its public key for signer.approvals.approvers", Args: cobra.ExactArgs(1),
		Long: "Make an approver's Ed25519 key. The file stays with the person, not on the machines of the daemon or of the signer. The public key goes into the\n" +
			"configuration of what signs.",
		Example: "  gatewayd approver new ~/.gatewayd-approver",
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := approval.NewKey(args[0])
			if err == nil {
				_, err = fmt.Fprintln(w.stdout, public)
			}
			return err
		},
	})
	return c
}

func approveCommand(w streams) *cobra.Command {
	c := &cobra.Command{}
	return withApproval(w, c, configFlag(c))
}

// withApproval makes a command approve a record's payment.
func withApproval(w streams, c *cobra.Command, path *string) *cobra.Command {
	var file string
	var lasts time.Duration
	var yes bool
	c.Use, c.Short, c.Args = "approve ID", "Approve a payment that the signer holds: shows it, asks, and signs exactly it with your key", cobra.ExactArgs(1)
	c.Long = "Approve a payment that the signer holds for want of approvals, or because nothing proves it. The signature counts for this payment only: its payee, amount,\n" +
		"account and the transfer that it answers, and until it ends. The signer verifies it."
	c.Example = "  gatewayd approve 17 --key ~/.gatewayd-approver"
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, args []string) error {
		id, err := recordID(args[0])
		if err != nil {
			return err
		}
		if file == "" {
			return operator.Usagef("--key is wanted: the file that `gatewayd approver new` has written")
		}
		key, err := approval.ReadKey(file)
		if err != nil {
			return err
		}
		return approve(ctx, w, d, id, key, lasts, yes)
	})
	f := c.Flags()
	f.StringVar(&file, "key", "", "file of your key")
	f.DurationVar(&lasts, "for", approval.Lasts, "how long the approval counts; at most 168h")
	f.BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func approve(ctx context.Context, w streams, d *operator.Session, id uint64, key ed25519.PrivateKey, lasts time.Duration, yes bool) error {
	_, _, err := d.Approver(approval.PublicText(key.Public().(ed25519.PublicKey)))
	if err != nil {
		return err
	}
	waiting, err := d.WaitingPayment(ctx, id)
	if err != nil {
		return err
	}
	showWaiting(w, d, waiting)
	if !yes {
		fmt.Fprint(w.stdout, "Approve exactly this payment? Type yes: ")
		answer, _ := w.readLine() // without an answer nothing is approved
		if strings.TrimSpace(answer) != "yes" {
			return fmt.Errorf("nothing was approved")
		}
	}
	signature, err := approval.Sign(key, waiting.Payment.Chain, waiting.Claim, time.Now().Add(lasts))
	if err == nil {
		err = d.Approve(ctx, waiting, signature)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "Approved until %s. The daemon hands it to the signer within a second; `gatewayd records show %d` tells how far it is.\n",
		time.Unix(signature.Expires, 0).UTC().Format("2006-01-02 15:04 UTC"), id)
	return nil
}

// showWaiting prints a payment in full: exactly the signed content.
func showWaiting(w streams, d *operator.Session, x operator.Waiting) {
	p, t := x.Payment, x.Transfer
	for _, line := range []string{
		fmt.Sprintf("Payment %d pays %s", p.ID, d.Config.AssetAmount(p.Chain, p.Asset, p.Amount)),
		fmt.Sprintf("  to      %s %s", p.Payee, p.PayeeLabel), fmt.Sprintf("  on      %s, from %s", p.Chain, p.Account),
		fmt.Sprintf("  as      %s of the %s %d of %s on %s", p.Purpose, t.Direction, t.ID, d.Config.AssetAmount(t.Chain, t.Asset, t.Amount), t.Chain),
		fmt.Sprintf("  sent by %s", t.From), fmt.Sprintf("  in      %s, block %d", t.Tx, t.Height), fmt.Sprintf("  user    %s", t.Owner),
		fmt.Sprintf("  state   %s %s, %d approvals", p.State, p.Reason, len(x.Known)),
	} {
		fmt.Fprintln(w.stdout, printable(line))
	}
}

// printable is a line without what moves a terminal's cursor: whoever owns the database could write
// another payment over this one.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, line)
}

func recordsApproveCommand(w streams, config *string) *cobra.Command {
	return withApproval(w, &cobra.Command{}, config)
}

func recordsRejectCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who rejects it and why", &cobra.Command{
		Use: "reject ID", Short: "Reject a payment that waits: the transfer goes back to its sender whole",
		Long:    "Reject a payment that waits, for approvals or for whatever else the signer holds it. The transfer goes back to its sender, or to --to, and nothing of it is kept.",
		Example: "  gatewayd records reject 17 --why 'ticket 4711: the user did not order it'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "to", "", "address to refund instead of the sender, on the chain that the transfer came by")
	f.StringVar(&o.Why, "why", "", "who rejects it and why, kept in the history")
	nothingMovedFlag(c, &o)
	return c
}
