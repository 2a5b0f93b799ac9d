package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Sign is the signature of a request: HMAC-SHA256 over name=value pairs, sorted by name and
// joined by &, the values exactly as they are sent, before any URL encoding. signature itself is not among the values.
func Sign(secret string, values map[string]string) string {
	pairs := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, name+"="+values[name])
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join(pairs, "&")))
	return hex.EncodeToString(mac.Sum(nil))
}

// param is one parameter of a request; one without a value is not sent.
type param struct{ name, value string }

type params []param

// number is a parameter that is left out when it is zero.
func number[N int | int64](name string, n N) param {
	if n == 0 {
		return param{name: name}
	}
	return param{name, strconv.FormatInt(int64(n), 10)}
}

// code is a parameter that may be zero.
func code[N ~int](name string, n *N) param {
	if n == nil {
		return param{name: name}
	}
	return param{name, strconv.Itoa(int(*n))}
}

// flag is 1 when set.
func flag(name string, on bool) param {
	if !on {
		return param{name: name}
	}
	return param{name, "1"}
}

func (p params) values() map[string]string {
	m := make(map[string]string, len(p))
	for _, one := range p {
		if one.value != "" {
			m[one.name] = one.value
		}
	}
	return m
}

func (p params) encode() string {
	v := make(url.Values, len(p))
	for name, value := range p.values() {
		v.Set(name, value)
	}
	return v.Encode()
}
