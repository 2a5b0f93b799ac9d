package apikey

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type signatureFile struct {
	Vectors []struct {
		Name, Secret, Signature, Verdict string
		Params                           map[string]string
		Send                             []string
	}
	Window struct {
		Key, Secret string
		Vectors     []struct {
			Server    int64  `json:"server_time_ms"`
			Timestamp string `json:"timestamp"`
			Text      string `json:"string_to_sign"`
			Signature string
			In        bool `json:"in_window"`
		}
	} `json:"replay_window"`
	Malformed []struct{ Value string } `json:"malformed_timestamps"`
}

// The descriptions for clients name the window of timestamps.
func TestDescriptionsNameTheWindow(t *testing.T) {
	for name, text := range map[string]string{"../openapi.yaml": "at most %d older and less than %d newer than the server's", "../ws/asyncapi.yaml": "older: %d, newer: %d"} {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(file), fmt.Sprintf(text, maxAge.Milliseconds(), maxAhead.Milliseconds()), name)
	}
}

func signs(r Request, secret, signature string) bool {
	_, ok := r.Verify(secret, signature)
	return ok
}

func signatures(t testing.TB) (f signatureFile) {
	text, err := os.ReadFile("testdata/signature_vectors.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &f))
	require.NotEmpty(t, f.Vectors)
	require.NotEmpty(t, f.Window.Vectors)
	return f
}

// Behaviours 1, 2, 3, 7 and every vector.
func TestSignatureVectors(t *testing.T) {
	for _, v := range signatures(t).Vectors {
		p := Request{Query: v.Params}
		if len(v.Send) == 2 && strings.HasPrefix(v.Send[0], "query: ") { // parameters in two places
			p.Query = pairsOf(t, strings.TrimPrefix(v.Send[0], "query: "))
			p.Body = pairsOf(t, strings.TrimPrefix(v.Send[1], "form body: "))
		}
		require.Equal(t, strings.HasPrefix(v.Verdict, "accept"), signs(p, v.Secret, v.Signature), v.Name)
		require.False(t, signs(p, strings.ToLower(v.Secret)+"x", v.Signature), v.Name)
	}
}

func pairsOf(t testing.TB, text string) map[string]string {
	values, err := url.ParseQuery(text)
	require.NoError(t, err)
	pairs := map[string]string{}
	for name := range values {
		pairs[name] = values.Get(name)
	}
	return pairs
}

func TestSignatureOfTheOtherTimestamp(t *testing.T) { // behaviour 2
	f := signatures(t)
	require.Equal(t, "public_doc_with_the_table_timestamp", f.Vectors[1].Name)
	require.False(t, signs(Request{Query: f.Vectors[1].Params}, f.Vectors[1].Secret, f.Vectors[0].Signature))
}

func TestSignatureSecretCase(t *testing.T) { // behaviour 3
	v := signatures(t).Vectors[0]
	p := Request{Query: v.Params}
	require.True(t, signs(p, v.Secret, strings.ToUpper(v.Signature)))
	require.False(t, signs(p, strings.ToLower(v.Secret), v.Signature))
	for _, bad := range []string{"", "zz", v.Signature[:62], v.Signature + "00"} {
		require.False(t, signs(p, v.Secret, bad), bad)
	}
}

func TestSignatureOfEncodedValues(t *testing.T) {
	p := Request{Query: map[string]string{"a": "x y&z", "b": "ü"}}
	require.True(t, signs(p, "s", hmacOf("s", "a=x y&z&b=ü")))
	require.True(t, signs(p, "s", hmacOf("s", "a=x%20y%26z&b=%C3%BC")))
	require.True(t, signs(p, "s", hmacOf("s", "a=x+y%26z&b=%C3%BC")), "as the libraries of forms write it, which two public wrappers sign with")
	require.False(t, signs(p, "s", hmacOf("s", "a=x+y%26z&b=%c3%bc")))
	require.Len(t, Request{Query: map[string]string{"a": "1", "b": "VX_VITE"}}.signable(), 1, "mostly nothing needs encoding")
}

func TestWindow(t *testing.T) { // behaviour 4 and 5
	f := signatures(t)
	for _, v := range f.Window.Vectors {
		p := Request{Query: pairsOf(t, v.Text)}
		require.True(t, signs(p, f.Window.Secret, v.Signature), v.Text)
		_, in := SignedAt(p.Query["timestamp"], time.UnixMilli(v.Server))
		require.Equal(t, v.In, in, v.Timestamp)
	}
	for _, v := range f.Malformed {
		_, in := SignedAt(v.Value, time.UnixMilli(1614571200000))
		require.False(t, in, v.Value)
	}
}
