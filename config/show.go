package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"
)

// Show returns the effective configuration as YAML: with the keys of included files and the
// defaults of tokens, without secrets. Keys without a value are omitted.
func (c Config) Show() ([]byte, error) {
	text, err := yaml.MarshalWithOptions(c, yaml.OmitZero())
	var tree yaml.MapSlice
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, &tree, yaml.UseOrderedMap())
	}
	if err == nil {
		text, err = yaml.MarshalWithOptions(withoutSecrets("", tree), yaml.IndentSequence(true))
	}
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return text, nil
}

// withoutSecrets returns a part of a configuration without what may be secret in its URLs.
func withoutSecrets(path string, part any) any {
	switch p := part.(type) {
	case yaml.MapSlice:
		out := make(yaml.MapSlice, len(p))
		for i, item := range p {
			out[i] = yaml.MapItem{Key: item.Key, Value: withoutSecrets(below(path, fmt.Sprint(item.Key)), item.Value)}
		}
		return out
	case []any:
		out := make([]any, len(p))
		for i, element := range p {
			out[i] = withoutSecrets(path, element)
		}
		return out
	case string:
		if !isPublic(path) {
			return PlainURL(p)
		}
	}
	return part
}

// isPublic reports whether everybody sees the URLs of a key.
func isPublic(path string) bool {
	return strings.HasSuffix(path, "_explorer") || strings.HasPrefix(path, "exchange.tokens.") || strings.HasPrefix(path, "exchange.gateway.") ||
		strings.HasPrefix(path, "exchange.operators.")
}

// PlainURL returns a URL as it may be printed: a database's without its password, others without
// user, path and query, which may contain a key. Texts that are no URL stay.
func PlainURL(text string) string {
	scheme, _, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return scheme + "://hidden"
	case strings.HasPrefix(scheme, "postgres"):
		if u.RawQuery = ""; u.User != nil {
			u.User = url.User(u.User.Username())
		}
		return u.String()
	case u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "":
		return text
	}
	return scheme + "://" + u.Host + "/..."
}
