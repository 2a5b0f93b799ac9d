package rpc

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	gethlog "github.com/ethereum/go-ethereum/log"
	"github.com/sirupsen/logrus"

	"gatewayd/wallet/keystore"
)

// seen holds every log line and every error of the test run, and the secrets that none of them may
// show.
var seen = &sink{secrets: map[string]bool{}}

type sink struct {
	mu      sync.Mutex
	text    strings.Builder
	secrets map[string]bool
}

func (s *sink) Write(p []byte) (int, error) {
	s.note(string(p))
	return len(p), nil
}

func (s *sink) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text + "\n")
}

// secret registers a password with the secrets behind it: words, and their keys.
func (s *sink) secret(password, mnemonic string) {
	entropyBytes, err := keystore.ParseMnemonic(mnemonic)
	if err != nil {
		panic(err)
	}
	keys, err := keystore.KeysOf(entropyBytes)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[password] = true
	s.secrets[mnemonic] = true
	for i := range uint32(5) {
		key, err := keys.ByIndex(i)
		if err != nil {
			panic(err)
		}
		raw := key.Bytes()
		for _, form := range []string{
			hex.EncodeToString(raw[:32]), base64.StdEncoding.EncodeToString(raw)[:40], fmt.Sprintf("%d", raw[:32]),
		} {
			s.secrets[form] = true
		}
	}
}

func (s *sink) logger() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(s)
	log.SetLevel(logrus.TraceLevel)
	return log
}

// leaked are the secrets that were shown.
func (s *sink) leaked() (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text.String()
	for secret := range s.secrets {
		if strings.Contains(text, secret) {
			found = append(found, secret)
		}
	}
	return found
}

// TestMain searches what the run has logged and answered as errors. The envelope library's own log
// is in it, at its finest.
func TestMain(m *testing.M) {
	gethlog.SetDefault(gethlog.NewLogger(gethlog.NewTerminalHandlerWithLevel(seen, gethlog.LevelTrace, false)))
	code := m.Run()
	if found := seen.leaked(); len(found) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: logs or errors show secrets: %q\n", found)
		code = 1
	}
	os.Exit(code)
}

// TestSinkFindsSecrets: the search itself can find a secret.
func TestSinkFindsSecrets(t *testing.T) {
	own := &sink{secrets: map[string]bool{}}
	own.secret(password, testMnemonic)
	if len(own.leaked()) != 0 {
		t.Fatal("nothing was shown yet")
	}
	own.logger().WithField("key", "fbc90287c7c30fa66720d041b2e0d37843aad3f08ab93e271d2e9b50e475495b").Trace("oops")
	own.note("wrong: " + password)
	if len(own.leaked()) != 2 {
		t.Fatalf("two secrets were shown: %q", own.leaked())
	}
}

func (s *sink) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
