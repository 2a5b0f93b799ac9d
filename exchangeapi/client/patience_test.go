package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// script answers requests one after the other, without a network.
type script struct {
	t       *testing.T
	answers []*http.Response
	asked   []url.Values // parameters of each request
}

func said(body string, retry int) *http.Response {
	h := http.Header{}
	if retry > 0 {
		h.Set("Retry-After", strconv.Itoa(retry))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	require.NoError(s.t, err)
	values, err := url.ParseQuery(r.URL.RawQuery + string(text))
	require.NoError(s.t, err)
	s.asked = append(s.asked, values)
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next, nil
}

func scripted(t *testing.T, patience time.Duration, answers ...*http.Response) (*Client, *script) {
	s := &script{t: t, answers: answers}
	return &Client{Base: "http://api", Key: "k", Secret: "s", HTTP: &http.Client{Transport: s}, Patience: patience}, s
}

const (
	tooOften  = `{"code":1001,"msg":"Too frequent request","data":null}`
	cancelled = `{"code":0,"msg":"ok","data":[]}`
)

func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, 90*time.Second, said(tooOften, 50), said(tooOften, 40), said(cancelled, 0))
		start := time.Now()
		done, err := c.CancelAll(t.Context(), "VX_VITE")
		require.NoError(t, err)
		require.Empty(t, done)
		require.Equal(t, 90*time.Second, time.Since(start))
		require.Len(t, s.asked, 3)
		for i, at := range []time.Duration{0, 50 * time.Second, 90 * time.Second} {
			want := map[string]string{"symbol": "VX_VITE", "key": "k", "timestamp": strconv.FormatInt(start.Add(at).UnixMilli(), 10)}
			require.Equal(t, Sign("s", want), s.asked[i].Get("signature"), "signed anew")
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	for _, tt := range []struct {
		name     string
		patience time.Duration
		answers  []*http.Response
		want     Code
	}{
		{"without any", 0, []*http.Response{said(tooOften, 1)}, CodeTooFrequent},
		{"too long", 59 * time.Second, []*http.Response{said(tooOften, 60)}, CodeTooFrequent},
		{"too long together", 59 * time.Second, []*http.Response{said(tooOften, 30), said(tooOften, 30)}, CodeTooFrequent},
		{"nobody says when", time.Hour, []*http.Response{said(tooOften, 0)}, CodeTooFrequent},
		{"no use", time.Hour, []*http.Response{said(`{"code":1007,"msg":"Insufficient exchange balance","data":null}`, 1)}, CodeBalance},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, s := scripted(t, tt.patience, tt.answers...)
			_, err := c.Cancel(t.Context(), "VX_VITE", "00")
			require.ErrorIs(t, err, tt.want, tt.name)
			require.Empty(t, s.answers, tt.name)
		})
	}
}

func TestPatienceEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := scripted(t, time.Hour, said(tooOften, 60))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Limit(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, errors.Is(err, CodeTooFrequent), "and why it waited")
	})
}

func TestServerClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirs := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		c, _ := scripted(t, 0, said(`{"code":0,"msg":"ok","data":`+strconv.FormatInt(theirs.UnixMilli(), 10)+`}`, 0), said(tooOften, 0))
		clock, err := c.ServerClock(t.Context())
		require.NoError(t, err)
		require.True(t, theirs.Equal(clock()))
		<-time.After(time.Minute)
		require.True(t, theirs.Add(time.Minute).Equal(clock()))
		_, err = c.ServerClock(t.Context())
		require.ErrorIs(t, err, CodeTooFrequent)
	})
}
