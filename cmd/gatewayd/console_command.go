package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/operator/console"
	"gatewayd/records"
)

func consoleCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "console", Short: "Manage the users of the operators' console",
		Long: "Manage the users of the operators' console, the page /console of the operators' listener. A user has a name, a role, a password and\n" +
			"a second factor. Initially there are no users.",
	}
	config := configFlag(c)
	c.AddCommand(
		consoleListCommand(w, config), consoleAddCommand(w, config), consoleRemoveCommand(w, config), consolePasskeysCommand(w, config), consoleRemovePasskeyCommand(w, config),
	)
	return c
}

// consoleUser is a line of `console list --json`.
type consoleUser struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Created string `json:"created"`
}

func consoleListCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "list", Short: "List the console's users", Args: cobra.NoArgs,
		Example: "  gatewayd console list\n  gatewayd console list --json",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			var users []records.User
			err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
				users, err = records.Users(tx)
				return err
			})
			if err != nil {
				return err
			}
			rows, values := make([][]string, len(users)), make([]consoleUser, len(users))
			for i, u := range users {
				values[i] = consoleUser{u.Name, string(u.Role), u.Created.UTC().Format(time.RFC3339)}
				rows[i] = []string{values[i].Name, values[i].Role, values[i].Created}
			}
			return w.list(f, []column{{name: "name"}, {name: "role"}, {name: "since"}}, rows, values)
		}),
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func consoleAddCommand(w streams, config *string) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "add NAME", Short: "Add a user, or replace a user's role, password and second factor", Args: cobra.ExactArgs(1),
		Long: "Add a user. The password and the secret of the second factor are generated and printed once; hand them over on a secure channel.\n" +
			"For an existing name both are replaced, and all its sessions end.",
		Example: "  gatewayd console add anna --role operator\n  gatewayd console add ben",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			user, password, err := console.NewUser(args[0], records.UserRole(role))
			if err != nil {
				return err
			}
			err = d.Change(ctx, func(tx *records.Tx) error { return records.PutUser(tx, user) })
			switch {
			case errors.Is(err, records.ErrUserName):
				return operator.Usagef("NAME %q: %w", args[0], records.ErrUserName)
			case errors.Is(err, records.ErrRole):
				return operator.Usagef("--role %q: %w", role, records.ErrRole)
			case err != nil:
				return err
			}
			fmt.Fprintf(w.stdout, "%s may sign in as %s.\npassword       %s\nsecond factor  %s\nfor a QR code  %s\n", args[0], role, password, user.TOTP, console.SecretURI(args[0], user.TOTP))
			return nil
		}),
	}
	c.Flags().StringVar(&role, "role", string(records.Viewer), fmt.Sprintf("one of %v", records.UserRoles()))
	_ = c.RegisterFlagCompletionFunc("role", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag is there
		var names []string
		for _, r := range records.UserRoles() {
			names = append(names, string(r))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

func consoleRemoveCommand(w streams, config *string) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a user", Args: cobra.ExactArgs(1),
		Example: "  gatewayd console remove anna\n  gatewayd console remove anna -c /etc/gatewayd/config.yaml",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			err := d.Change(ctx, func(tx *records.Tx) error { return records.RemoveUser(tx, args[0]) })
			if errors.Is(err, records.ErrNotFound) {
				return fmt.Errorf("there is no user %q: `gatewayd console list` shows them", args[0])
			}
			if err == nil {
				fmt.Fprintf(w.stdout, "User %s is removed.\n", args[0])
			}
			return err
		}),
	}
}

// consolePasskey is a line of `console passkeys --json`.
type consolePasskey struct {
	User     string `json:"user"`
	Label    string `json:"label"`
	ID       string `json:"id"`
	Created  string `json:"created"`
	Used     string `json:"used,omitempty"`
	Approver string `json:"approver"`
}

func consolePasskeysCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "passkeys [NAME]", Short: "List the passkeys of the console's users, with their entries as approvers", Args: cobra.MaximumNArgs(1),
		Example: "  gatewayd console passkeys\n  gatewayd console passkeys anna",
		Long: "List the passkeys of the console's users. A passkey signs in. It also approves payments once its entry is in\n" +
			"signer.approvals.approvers of the signing process. Confirm with its owner before you add it.",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			list, err := passkeysOf(ctx, d, args)
			if errors.Is(err, records.ErrNotFound) {
				return fmt.Errorf("there is no user %q: `gatewayd console list` shows them", args[0])
			}
			if err != nil {
				return err
			}
			rows, values := make([][]string, len(list)), make([]consolePasskey, len(list))
			for i, p := range list {
				v := consolePasskey{User: p.User, Label: p.Label, ID: p.ID, Created: p.Created.UTC().Format(time.RFC3339), Approver: console.ApproverLine(p)}
				if !p.Used.IsZero() {
					v.Used = p.Used.UTC().Format(time.RFC3339)
				}
				values[i], rows[i] = v, []string{v.User, v.Label, v.ID, v.Created, cmp.Or(v.Used, "never"), v.Approver}
			}
			return w.list(f, []column{{name: "name"}, {name: "label"}, {name: "id"}, {name: "since"}, {name: "used"}, {name: "as an approver"}}, rows, values)
		}),
	}
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// passkeysOf are those of a user that is named, or of all.
func passkeysOf(ctx context.Context, d *operator.Session, names []string) (list []records.Passkey, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		for _, name := range names {
			if _, err := records.UserOf(tx, name); err != nil {
				return err
			}
		}
		if len(names) == 0 {
			users, err := records.Users(tx)
			if err != nil {
				return err
			}
			for _, u := range users {
				names = append(names, u.Name)
			}
		}
		for _, name := range names {
			some, err := records.Passkeys(tx, name)
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}

func consoleRemovePasskeyCommand(w streams, config *string) *cobra.Command {
	return &cobra.Command{
		Use: "remove-passkey NAME ID", Short: "Remove a user's passkey and end the user's sessions", Args: cobra.ExactArgs(2),
		Long:    "Remove a user's passkey and end the user's sessions. `gatewayd console passkeys` lists the ids. Write -- before an id that begins with -.",
		Example: "  gatewayd console remove-passkey anna BYRVhzWFQMW0lnrDGL28IQ\n  gatewayd console remove-passkey anna -- -YRVhzWFQMW0lnrDGL28IQ",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			err := d.Change(ctx, func(tx *records.Tx) error { return records.RemovePasskey(tx, args[0], args[1], "") })
			if errors.Is(err, records.ErrNotFound) {
				return fmt.Errorf("%s has no passkey %q: `gatewayd console passkeys` shows them", args[0], args[1])
			}
			if err == nil {
				fmt.Fprintln(w.stdout, "Passkey removed. If it is an approver's, remove its entry from signer.approvals.approvers too.")
			}
			return err
		}),
	}
}
