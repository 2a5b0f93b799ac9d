// Package notify sends events to people and other programs: conditions and changes of records, by
// signed webhooks and by e-mail. The history contains all events. Each receiver has its position
// there, so that every event reaches it at least once, in order, with the same ID.
package notify

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"gatewayd/internal/secretfile"
)

// Topic is a kind of events that a receiver can ask for.
type Topic string

// Conditions: what keeps money from moving, or may soon, when it begins and when it is over.
// Attention: records that wait for an operator. Records: every change of a record.
const (
	Conditions Topic = "conditions"
	Attention  Topic = "attention"
	Records    Topic = "records"
)

var topics = []Topic{Conditions, Attention, Records}

// Config names the receivers. Without any, alerts are only in the log.
type Config struct {
	Gateway  string    `yaml:"gateway"` // how events name this gateway; default gatewayd
	Webhooks []Webhook `yaml:"webhooks"`
	Email    *Email    `yaml:"email"`
}

// Webhook is a URL that events are posted to, signed as standardwebhooks.com has it.
type Webhook struct {
	Name       string  `yaml:"name"`
	URL        string  `yaml:"url"`         // https, or http on this machine
	SecretFile string  `yaml:"secret_file"` // holds whsec_ and the key in base64: `gatewayd alerts secret` makes one
	SecretEnv  string  `yaml:"secret_env"`  // or the environment variable that does
	Topics     []Topic `yaml:"topics"`      // default conditions and attention
}

// Email is an SMTP server and who gets the mail.
type Email struct {
	Server       string   `yaml:"server"` // host:port; TLS at once on port 465, else STARTTLS, which only a server on this machine may lack
	User         string   `yaml:"user"`
	PasswordFile string   `yaml:"password_file"`
	PasswordEnv  string   `yaml:"password_env"`
	From         string   `yaml:"from"`
	To           []string `yaml:"to"`
	Topics       []Topic  `yaml:"topics"` // default conditions and attention
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,30}$`)

// Check names what cannot be used.
func (c Config) Check() error {
	var faults []error
	if c.Gateway != "" && !nameForm.MatchString(c.Gateway) {
		faults = append(faults, fmt.Errorf("gateway: %q: must be at most 31 small letters, digits, - and _", c.Gateway))
	}
	names := map[string]bool{}
	for i, w := range c.Webhooks {
		if err := w.check(); err != nil {
			faults = append(faults, fmt.Errorf("webhooks[%d].%w", i, err))
		}
		if names[w.Name] {
			faults = append(faults, fmt.Errorf("webhooks[%d].name: %q is used twice", i, w.Name))
		}
		names[w.Name] = true
	}
	if c.Email != nil {
		if err := c.Email.check(); err != nil {
			faults = append(faults, fmt.Errorf("email.%w", err))
		}
	}
	return errors.Join(faults...)
}

func (c Config) gateway() string { return cmp.Or(c.Gateway, "gatewayd") }

func (w Webhook) check() error {
	if !nameForm.MatchString(w.Name) {
		return fmt.Errorf("name: %q: must be at most 31 small letters, digits, - and _", w.Name)
	}
	u, err := url.Parse(w.URL)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("url: must be https://host/path, without a password")
	}
	if u.Scheme == "http" && !local(u.Hostname()) {
		return fmt.Errorf("url: must be https, since %s is another machine", u.Hostname())
	}
	if (w.SecretFile == "") == (w.SecretEnv == "") {
		return errors.New("secret_file: exactly one of secret_file and secret_env must be set")
	}
	return checkTopics(w.Topics)
}

func (e Email) check() error {
	host, port, err := net.SplitHostPort(e.Server)
	switch {
	case err != nil || host == "" || port == "":
		return fmt.Errorf("server: %q must be host:port", e.Server)
	case e.User != "" && (e.PasswordFile == "") == (e.PasswordEnv == ""):
		return errors.New("password_file: exactly one of password_file and password_env must be set for user")
	case e.User == "" && e.PasswordFile+e.PasswordEnv != "":
		return errors.New("user: must be set for the password")
	case len(e.To) == 0:
		return errors.New("to: must name at least one address")
	}
	for _, a := range append([]string{e.From}, e.To...) {
		if _, err := mail.ParseAddress(a); err != nil {
			return fmt.Errorf("from, to: %q is not an e-mail address", a)
		}
	}
	return checkTopics(e.Topics)
}

func checkTopics(list []Topic) error {
	for _, t := range list {
		if !slices.Contains(topics, t) {
			return fmt.Errorf("topics: %q: must be conditions, attention or records", t)
		}
	}
	return nil
}

// wanted are the topics of a receiver.
func wanted(list []Topic) []Topic {
	if len(list) == 0 {
		return []Topic{Conditions, Attention}
	}
	return list
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// secretPrefix precedes a webhook's key.
const secretPrefix = "whsec_"

// secret reads a webhook's key.
func (w Webhook) secret() ([]byte, error) {
	text, err := readSecret(w.SecretFile, w.SecretEnv)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
	if err != nil || len(key) < 24 || len(key) > 64 || !strings.HasPrefix(text, secretPrefix) {
		return nil, fmt.Errorf("%s: must hold %s and 24 to 64 bytes in base64", cmp.Or(w.SecretFile, w.SecretEnv), secretPrefix)
	}
	return key, nil
}

func readSecret(file, env string) (string, error) {
	if env != "" {
		if text := os.Getenv(env); text != "" {
			return text, nil
		}
		return "", fmt.Errorf("environment variable %s is empty", env)
	}
	text, err := secretfile.Read(file)
	return strings.TrimSpace(string(text)), err
}
