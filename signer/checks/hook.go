package checks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"gatewayd/internal/secretfile"
)

// BlockHook is a screening service that is asked about addresses. It answers {"allow": true}, or
// {"allow": false, "list": "the list's name"}.
type BlockHook struct {
	URL       string        `yaml:"url"`
	Timeout   time.Duration `yaml:"timeout"`    // default 5s
	Keep      time.Duration `yaml:"keep"`       // how long an answer counts; default 1m
	TokenFile string        `yaml:"token_file"` // of a bearer token
}

// WithDefaults is the section with every empty field filled.
func (h BlockHook) WithDefaults() BlockHook {
	h.Timeout = cmp.Or(h.Timeout, 5*time.Second)
	h.Keep = cmp.Or(h.Keep, time.Minute)
	return h
}

// Check names the first field that cannot be used, and why.
func (h BlockHook) Check() error {
	if h.URL == "" {
		return nil
	}
	h = h.WithDefaults()
	u, err := url.Parse(h.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("url: must have the form https://screening.example/check")
	case h.Timeout < 0 || h.Timeout > time.Minute:
		return errors.New("timeout: must be from 0s to 1m")
	case h.Keep < 0 || h.Keep > time.Hour:
		return errors.New("keep: must be from 0s to 1h")
	}
	return nil
}

// BlockQuestion is a request to the service.
type BlockQuestion struct {
	Address   string `json:"address"`
	Chain     string `json:"chain"`
	Direction string `json:"direction"` // in: of a sender; out: of a payee
	Amount    string `json:"amount"`    // in the asset's smallest units
}

// answer is the service's answer.
type answer struct {
	Allow *bool  `json:"allow"`
	List  string `json:"list"`
}

const (
	maxAnswer = 4096
	maxCached = 10_000
	maxName   = 64
)

// screen asks the service, and caches its answers for a while.
type screen struct {
	BlockHook
	client *http.Client
	token  string
	now    func() time.Time
	mu     sync.Mutex
	cache  map[BlockQuestion]cachedAnswer
	fault  error // of the last question
}

type cachedAnswer struct {
	listed string // empty: it may pass
	until  time.Time
}

func newScreen(h BlockHook, now func() time.Time) (*screen, error) {
	h = h.WithDefaults()
	s := &screen{BlockHook: h, now: now, cache: map[BlockQuestion]cachedAnswer{}}
	s.client = &http.Client{Timeout: h.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if h.TokenFile != "" {
		token, err := secretfile.Read(h.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("screening: %w", err)
		}
		s.token = string(bytes.TrimSpace(token))
	}
	return s, nil
}

// listed returns the name of the list that contains an address, or nothing. An error means that the
// answer is unknown.
func (s *screen) listed(ctx context.Context, q BlockQuestion) (name string, err error) {
	if k, ok := s.cached(q); ok {
		return k.listed, nil
	}
	name, err = s.ask(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault = err; err != nil {
		return "", err
	}
	if len(s.cache) >= maxCached {
		clear(s.cache)
	}
	s.cache[q] = cachedAnswer{name, s.now().Add(s.Keep)}
	return name, nil
}

func (s *screen) cached(q BlockQuestion) (cachedAnswer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.cache[q]
	return k, ok && s.now().Before(k.until)
}

func (s *screen) ask(ctx context.Context, q BlockQuestion) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	body, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return "", errors.New("screening: the service cannot be asked")
	}
	request.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return "", errors.New("screening: the service does not answer")
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("screening: the service answers %d", response.StatusCode)
	}
	return decode(response.Body)
}

func decode(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxAnswer+1))
	var a answer
	if err != nil || len(text) > maxAnswer || json.Unmarshal(text, &a) != nil || a.Allow == nil {
		return "", errors.New("screening: the service gives no usable answer")
	}
	if *a.Allow {
		return "", nil
	}
	if a.List == "" || len(a.List) > maxName {
		return "the screening service's", nil
	}
	return a.List, nil
}
