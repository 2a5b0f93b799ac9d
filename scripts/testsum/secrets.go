package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// secrets are texts that no test run may print: the mnemonics, seeds and private keys of the test vectors, and passwords that tests use.
type secrets []string

// minSecret keeps texts out that stand everywhere by chance.
const minSecret = 16

// readSecrets collects them from a file of vectors: every text under a key that names a secret.
func readSecrets(path string) (secrets, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the known secrets: %w", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("reading the known secrets of %s: %w", path, err)
	}
	var found secrets
	found.collect("", tree)
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return nil, fmt.Errorf("%s names no secrets", path)
	}
	return found, nil
}

func (s *secrets) collect(key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for k, x := range v {
			s.collect(k, x)
		}
	case []any:
		for _, x := range v {
			s.collect(key, x)
		}
	case string:
		s.add(key, v)
	}
}

// add keeps a secret. A private key's text goes on with the public one, which is none.
func (s *secrets) add(key, text string) {
	switch key {
	case "privateKeyHex":
		text = text[:min(len(text), 64)]
	case "mnemonic", "seedHex", "masterKeyHex":
	default:
		return
	}
	if len(text) >= minSecret && strings.Trim(text, "0") != "" {
		*s = append(*s, text)
	}
}

// in answers the first secret that a text shows.
func (s secrets) in(text string) (string, bool) {
	for _, secret := range s {
		if strings.Contains(text, secret) {
			return secret, true
		}
	}
	return "", false
}
